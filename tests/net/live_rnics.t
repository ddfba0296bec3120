#!/usr/bin/perl
# live_rnics.t - an RNIC of a lab really goes down while a run goes on: jobs on the stream plane start
# again, delegates go over to the second rail, and losses stay what they are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;

my $scenario = file_of('down.lua', <<'END');
local ab = require "adaptra"
local length = ab.option("length", "1s", "of the outage")
return ab.scenario {
   title = "An RNIC down",
   topology = ab.pipeline { stages = 3, hosts = 3, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "1f1b", "zb-cpu", "adaptra" },
   live = { speed = 1 },
   iterations = 8, warmup = 1, seed = 1,
   recovery = { checkpoint_every = 2, restart = "500ms", failover = "400ms" },
   faults = { ab.down { at = ab.op { iteration = 3, stage = 1, op = "F", microbatch = 1 },
                        lasts = ab.time(length), stage = 1 } },
}
END

sub run_lab {
	my ($database, @options) = @_;
	unlink glob "$database*";
	return run_bench('run', $scenario, '--lab=netns', '--speed=' . speed(1), '--json', "--store=$database", @options);
}

my $probe = run_lab(home() . '/probe.db', '--dry-run');
plan skip_all => "no lab here: $probe->{err}" if $probe->{code} == 3;
like($probe->{err}, qr/; lab netns; injector link: RNICs by link$/m, 'RNICs go down by their link');

my $database = home() . '/down.db';
my %digests;
for my $length ('100ms', '1s', '5s') {
	my $document = json_of(run_lab($database, "--set=length=$length"), "a run with an RNIC down for $length");
	$digests{ $_->{loss_digest} // 'none' }++ for @{ $document->{schedules} };
	is(join(' ', map { "$_->{name} $_->{restarts}" } @{ $document->{schedules} }), '1f1b 1 zb-cpu 0 adaptra 0',
	   'the stream plane starts again, delegates do not');
	is(sql($database, "SELECT group_concat(kind || ' ' || n, ', ') FROM (SELECT kind, count(*) AS n FROM decision JOIN run USING (run) " .
		"WHERE mode = 'live' AND kind IN ('restart', 'failover') GROUP BY kind ORDER BY kind)"),
	   $length eq '100ms' ? 'restart 1' : 'failover 2, restart 1', 'which is what the record says');
	for my $schedule ('1f1b', 'zb-cpu', 'adaptra') {
		my $row = sql($database, "SELECT printf('%.1f %.1f', (detected_ns - applied_ns) / 1e6, (recovered_ns - applied_ns) / 1e6) " .
			"FROM fault_applied JOIN run USING (run) WHERE mode = 'live' AND schedule = '$schedule'");
		my ($detected, $recovered) = split ' ', $row;
		note("$schedule, $length: noticed after $detected ms, overcome after $recovered ms");
		cmp_ok($recovered, '>=', $detected, "$schedule: it was overcome after it was noticed");
		my $least = $schedule eq '1f1b' ? 500 : $length eq '100ms' ? 100 : 400;
		cmp_ok($recovered, '>=', $least, "$schedule: not before a restart, the rail's return, or the fail-over");
	}
	# What stood on the rail when that came back is there when the outage is said to be overcome.
	is(sql($database, "SELECT count(*) FROM message m JOIN run USING (run) JOIN fault_applied f USING (run) WHERE mode = 'live' " .
		"AND schedule <> '1f1b' AND 1 IN (from_stage, to_stage) AND iteration = 3 AND arrive_ns > recovered_ns " .
		"AND (n_resends > 0 OR ('$length' = '100ms' AND rail = 0 AND start_ns < cleared_ns))"), 0,
	   'every message that it held up has arrived when it is overcome');
	is(sql($database, "SELECT min(facts_json ->> '\$.outages') FROM run WHERE mode = 'live'"), 1, 'the facts count it');
	is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
}
is(join(' ', values %digests), 9, 'losses are bit for bit the same') or diag(explain(\%digests));

# On paper it stays up, so nobody notices.
my $paper = run_lab($database, '--injector=dry_run', '--schedule=zb-cpu', '--set=length=1s');
ends_with_code($paper, 0, 'a run whose RNIC dies on paper');
like($paper->{err}, qr/; injector dry_run: RNICs by dry_run$/m, 'the first line says so');
is(sql($database, "SELECT facts_json ->> '\$.outages' FROM run WHERE mode = 'live'"), 0, 'there is none to be overcome');

# Stages that share a host share its interface: the workers close their sockets, as without a lab.
my $shared = file_of('shared.lua', text_of($scenario) =~ s/stages = 3, hosts = 3/stages = 4, hosts = 2/r);
my $call = run_bench('run', $shared, '--lab=netns', '--dry-run', "--store=$database");
like($call->{err}, qr/RNICs by the workers \(the RNIC of stage 1 is that of 2 stages of host 0/, 'a shared one does not go down');
says(run_bench('run', $shared, '--lab=netns', '--injector=link', '--quiet', "--store=$database"), 3,
     qr/give each stage a host of its own/, 'nor when link is named');

# The scenario that comes with the program, as its first comment says.
my $ours = run_bench('run', source_root() . '/scenarios/one_dead_rnic.lua', '--lab=netns', '--set=hosts=8', '--dry-run', "--store=$database");
ends_with_code($ours, 0, 'one_dead_rnic.lua takes as many hosts as stages');
like($ours->{err}, qr/; lab netns; injector link: RNICs by link$/m, 'and then its RNIC goes down by its link');
done_testing();
