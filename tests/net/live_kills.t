#!/usr/bin/perl
# live_kills.t - a run in a lab is killed or interrupted at any moment, with faults in force; after that
# nothing of it is there: no process, namespace, interface or journal, and the machine is as before.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use Time::HiRes qw(sleep);
use cli;

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;
my $n_kills = $ENV{ADAPTRA_KILLS} || 5;

# An outage and delays that come and go all the time.
my $scenario = file_of('killed.lua', <<'END');
local ab = require "adaptra"
local faults = {}
for i = 0, 99 do
   faults[#faults + 1] = ab.delay { at = ab.iter(4 * i), lasts = ab.iter(2), link = "0-1", delay = "10ms", model = "latency" }
   faults[#faults + 1] = ab.down { at = ab.iter(4 * i + 1), lasts = ab.iter(2), stage = 2, rail = 1 }
end
return ab.scenario {
   title = "To be killed in a lab",
   topology = ab.pipeline { stages = 3, hosts = 3, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 2 },
   schedules = { "zb-cpu" },
   iterations = 400, warmup = 0, seed = 1,
   faults = faults,
}
END

my $database = home() . '/killed.db';
sub run_of { return ('run', $scenario, '--lab=netns', '--speed=' . speed(2), "--store=$database", '--no-ops', '--quiet', @_) }

my $probe = run_bench(run_of('--dry-run'));
plan skip_all => "no lab here: $probe->{err}" if $probe->{code} == 3;

# Which interfaces the machine has, and how; counters and carriers are the world's.
sub machine {
	return join '', map { my $name = $_; s{.*/}{}; "$_ " . text_of("$name/flags") . text_of("$name/mtu") } sort glob '/sys/class/net/*';
}

# Processes of the run: they have this test's folder. Namespaces without a name live by them alone.
sub processes { return processes_with(XDG_RUNTIME_DIR => $runtime) }

sub await_gone {
	for (1 .. 100 * slowness()) {
		return '' if !processes();
		sleep 0.1;
	}
	return join ' ', processes();
}

my $machine = machine();
note('seed ', srand($ENV{ADAPTRA_SEED} // time));

sub start_run {
	unlink glob "$database*";
	my $pid = start_bench(run_of());
	ok(await_sql($pid, $database, "SELECT count(*) > 0 FROM iteration JOIN run USING (run) WHERE mode = 'live'"),
	   'a run in a lab is under way');
	sleep rand 0.5;
	return $pid;
}

sub check_left {
	my ($name) = @_;
	is(await_gone(), '', "$name: no process is left, and so no namespace");
	is(machine(), $machine, 'the machine is as it was');
}

for my $i (1 .. $n_kills) {
	my $pid = start_run();
	kill KILL => $pid;
	is(finish_bench($pid)->{code}, 128 + 9, "kill $i");
	check_left("kill $i");
	my @journals = glob "$runtime/adaptra-bench/*.journal";
	is(scalar @journals, 1, 'its journal is there');
	ends_with_code(run_bench('doctor', '--undo'), 0, 'doctor --undo puts right what it says');
	is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'and then it is gone');
}

for my $signal ('INT', 'TERM') {
	my $pid = start_run();
	kill $signal => $pid;
	ends_with_code(finish_bench($pid), 130, "SIG$signal ends a run in a lab with 130");
	check_left("SIG$signal");
	is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
}

# So many hosts that there is time to stop it while the lab is made that only shows what is possible.
my $large = file_of('large.lua', text_of($scenario) =~ s/stages = 3, hosts = 3, rails = 2/stages = 60, hosts = 60, rails = 4/r);
my $call;
for (1 .. 10) {
	my $pid = start_bench('run', $large, '--lab=netns', '--dry-run', "--store=$database");
	sleep 0.001 until has_ended($pid) || (() = glob "$runtime/adaptra-bench/*.journal");
	kill INT => $pid;
	$call = finish_bench($pid);
	last if $call->{code}; # else it was done before
}
says($call, 130, qr/^adaptra-bench: interrupted (before anything ran|while the lab was made)$/m, 'a lab that is just being tried out is undone, too');
is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
done_testing();
