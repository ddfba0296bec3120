#!/usr/bin/perl
# live.t - live runs in a lab, with what is here to make its links slow: losses, transfer times, what
# the record says, and that nothing is left.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

my $N_TRIES = 5;

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;
my $journals = "$runtime/adaptra-bench";

# Messages are so large that what a rate lets through at once is a small part of one; slow enough for
# more workers than cores.
my $scenario = file_of('lab.lua', <<'END');
local ab = require "adaptra"
local model = ab.option("model", "latency", "what is slow")
local at = ab.option("at", "iteration", "when: iteration, time, or op")
local starts = {
   iteration = ab.iter(2), time = ab.time "700ms",
   op = ab.op { iteration = 2, stage = 1, op = "F", microbatch = 2 },
}
local ends = { iteration = ab.iter(2), time = ab.time "500ms", op = ab.time "100ms" }
return ab.scenario {
   title = "Four hosts",
   topology = ab.pipeline { stages = 4, hosts = 4, link = { delay = "5us" } },
   workload = ab.profile "uniform-10ms" { microbatches = 6 },
   schedules = { "1f1b", "zb-cpu" },
   live = { speed = 1, payload = "128KiB" },
   iterations = 5, warmup = 1, seed = 1,
   faults = { ab.delay { at = starts[at], lasts = ends[at], link = "1->2", delay = "30ms", model = model } },
}
END

sub run_lab {
	my ($database, @options) = @_;
	unlink glob "$database*";
	return run_bench('run', $scenario, '--lab=netns', '--speed=' . speed(1), "--store=$database", @options);
}

my $probe = run_lab(home() . '/probe.db', '--dry-run', '--injector=shaped');
plan skip_all => "no lab here: $probe->{err}" if $probe->{code} == 3;

# What messages of 1->2 took while the fault was in force, in ms: the shortest, and the median.
sub took_ms {
	my ($database, $schedule) = @_;
	return map { $_ / 1e6 } (split /\n/, sql($database, "SELECT arrive_ns - start_ns AS took FROM message " .
		"JOIN run USING (run) WHERE mode = 'live' AND schedule = '$schedule' AND from_stage = 1 AND to_stage = 2 " .
		"AND iteration IN (2, 3) ORDER BY took"))[0, 6];
}

my %digests;

# Run until the machine lets times be what they should, which is for $is_well to say.
sub check_run {
	my ($name, $injector, $is_well, @options) = @_;
	my $database = home() . "/run.db";
	my $document;
	for my $try (1 .. $N_TRIES) {
		my $call = run_lab($database, '--json', @options);
		ends_with_code($call, 0, "$name: a run in a lab") or return;
		$document = JSON::PP::decode_json($call->{out});
		my ($first) = $call->{err} =~ /^(.*)$/m;
		like($first, qr/; lab netns; injector $injector: /, "$name: the first line says who makes links slow");
		my $got = $is_well->($database, $document);
		note("$name: $got");
		last if $got !~ /^no: / && ok(1, "$name: times are as asked for");
		ok(0, "$name: times are as asked for") if $try == $N_TRIES;
	}
	$digests{ $_->{loss_digest} // 'none' }++ for @{ $document->{schedules} };
	is(sql($database, "SELECT DISTINCT injector FROM run WHERE mode = 'live'"), $injector, "$name: and so does the record");
	is(sql($database, "SELECT sum(facts_json ->> '\$.dropped') FROM run"), 0, "$name: no packet was dropped");
	is(join(' ', glob "$journals/*"), '', "$name: no journal is left");
	return $database;
}

# Never shorter than asked for, and not much longer where nobody takes the cores away.
sub latency_is_met {
	my ($database) = @_;
	my @took = map { [took_ms($database, $_)] } '1f1b', 'zb-cpu';
	my $text = join ', ', map { sprintf '%.2f ms at least, median %.2f', @$_ } @took;
	return (grep { $_->[0] < 30 || $_->[0] > 36 } @took) ? "no: $text" : $text;
}

# A rate makes messages wait for each other, as in sim: so iterations are as long, or longer where
# others keep the machine busy.
sub rate_is_met {
	my ($database, $document) = @_;
	my @errors = map { $_->{total_error_ratio} } @{ $document->{simulated}{schedules} };
	my $text = join ' and ', map { sprintf '%+.1f %%', 100 * $_ } @errors;
	return (grep { $_ < -0.05 || $_ > 1 } @errors) ? "no: $text" : $text;
}

my $has_netem = run_lab(home() . '/probe.db', '--dry-run', '--injector=netem')->{code} == 0;
my $delays = $has_netem ? 'netem' : 'relay';
check_run('latency', $delays, \&latency_is_met);
check_run('rate', 'rate', \&rate_is_met, '--set=model=rate');
check_run('occupancy', 'shaped', \&latency_is_met, '--set=model=occupancy');
check_run('shaped by name', 'shaped', \&latency_is_met, '--injector=shaped');
is(join(' ', values %digests), 8, 'losses are bit for bit the same under all of them') or diag(explain(\%digests));

# Inside an iteration the fault begins a little late, and the record says how late.
sub is_late {
	my ($database) = @_;
	my $text = 'late by ' . sql($database, "SELECT group_concat((applied_ns - asked_ns) / 1000 || ' us', ' and ') " .
		"FROM fault_applied JOIN run USING (run) WHERE mode = 'live'");
	return $text if sql($database, "SELECT min(applied_ns > asked_ns AND applied_ns < cleared_ns) FROM fault_applied " .
		"JOIN run USING (run) WHERE mode = 'live'") == 1 &&
		sql($database, "SELECT min(facts_json ->> '\$.applied') FROM run WHERE mode = 'live'") >= 1;
	return "no: $text";
}

check_run("from one $_ on", $delays, \&is_late, "--set=at=$_") for 'time', 'op';

# 64 MiB are thousands of packets: they are delayed beside each other, and none is dropped.
my $large = file_of('large.lua', <<'END');
local ab = require "adaptra"
return ab.scenario {
   title = "Large messages",
   topology = ab.pipeline { stages = 2, hosts = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 1 },
   schedules = { "zb-cpu" },
   live = { speed = 1, payload = "64MiB" },
   iterations = 3, warmup = 0, seed = 1,
   faults = { ab.delay { at = ab.iter(1), link = "0->1", delay = "30ms", model = "latency" } },
}
END
my $took_ms;
for my $try (1 .. $N_TRIES) {
	my $database = home() . '/large.db';
	unlink glob "$database*";
	ends_with_code(run_bench('run', $large, '--lab=netns', "--store=$database"), 0, '64 MiB through 30 ms') or last;
	$took_ms = sql($database, "SELECT min(arrive_ns - start_ns) / 1e6 FROM message JOIN run USING (run) WHERE mode = 'live' " .
		"AND from_stage = 0 AND iteration > 0");
	is(sql($database, "SELECT sum(facts_json ->> '\$.dropped') FROM run"), 0, 'no packet is dropped');
	note("64 MiB took $took_ms ms");
	last if $took_ms < 3000;
}
cmp_ok($took_ms, '>=', 30, 'they take one delay');
cmp_ok($took_ms, '<', 3000, 'and not one a packet, nor many windows');

# Packets that are lost as asked for are sent again, and are not what fails a run.
my $lossy = file_of('lossy.lua', text_of($large) =~ s/ab\.delay \{.*?model = "latency" \}/ab.loss { at = ab.iter(1), link = "0->1", loss = "2%" }/sr
	=~ s/64MiB/1MiB/r);
ends_with_code(run_bench('run', $lossy, '--lab=netns', "--store=$large.db"), 0, 'a link that loses packets');
is(sql("$large.db", "SELECT facts_json ->> '\$.lost' > 0 AND facts_json ->> '\$.dropped' = 0 FROM run WHERE mode = 'live'"), 1,
   'it loses some, as asked, and drops none');
says(run_bench('run', $lossy, '--lab=netns', '--injector=shaped', '--quiet', "--store=$large.db"), 3,
     qr/netem and relay do that/, 'which workers cannot do');

# On paper nothing is slow, and it is said once when it would have been, also where real changes are tried
# out before; the document has the same. A machine that stands still may miss what begins and ends inside
# an iteration.
my $lines = join '; ', map { "$_: 30 ms more (latency) on 1->2" } 'apply', 'clear';
for my $at ('iteration', 'time') {
	my ($said, $kept);
	for my $try (1 .. $N_TRIES) {
		my $call = run_lab(home() . '/paper.db', '--injector=dry_run', '--json', "--set=at=$at");
		ends_with_code($call, 0, 'a run without real faults') or last;
		$said = join '; ', $call->{err} =~ /^1f1b, on paper only: (.*)$/mg;
		$kept = join '; ', @{ JSON::PP::decode_json($call->{out})->{schedules}[0]{facts}{timeline} // [] };
		last if $said eq $lines;
	}
	is($said, $lines, "from one $at on: it says what would have been done");
	is($kept, $said, 'so does the document');
}

# What was named has to be possible.
says(run_lab(home() . '/no.db', '--quiet', '--injector=rate'), 3, qr/rate cannot do '30 ms more \(latency\) on 1->2'/,
     'an injector that cannot do the fault');
says(run_lab(home() . '/no.db', '--quiet', '--transport=loopback'), 2, qr/transport loopback stays inside one worker/,
     'a transport that sends no packets');
done_testing();
