#!/usr/bin/perl
# nccl_live.t - live runs whose stream plane is NCCL's, over the doubles of CUDA and NCCL, a GPU a stage:
# losses, a slow link, dead RNICs, workers that are killed; and what is said where there are too few GPUs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

plan skip_all => 'without the CUDA toolkit and NCCL there is nothing to try'
	if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_NCCL\b/;
$ENV{ADAPTRA_BENCH} = "$ENV{ADAPTRA_BUILD}/double/adaptra-bench";
$ENV{CUDA_DOUBLE_GPUS} = 4;

# Two rails: when the first dies inside an iteration, adaptra's delegates go on over the second, and the
# others start again.
sub pipeline {
	my ($name, $iterations, $faults) = @_;
	return file_of("$name.lua", <<"END");
local ab = require "adaptra"
return ab.scenario {
   title = "A GPU a stage",
   topology = ab.pipeline { stages = 4, hosts = 2, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "1f1b", "zb", "adaptra" },
   recovery = { checkpoint_every = 1, restart = "20ms", failover = "20ms" },
   iterations = $iterations, warmup = 0, seed = 1,
   faults = { $faults },
}
END
}

sub live {
	my ($name, $scenario, @more) = @_;
	return run_bench('run', $scenario, '--device', 'cuda', '--speed', speed(2), '--json', '--store',
	                 home() . "/$name.db", @more);
}

sub digests_of { my %seen = map { ($_->{loss_digest} => 1) } @{ $_[0]{schedules} }; return join ' ', sort keys %seen }

my $slow = 'ab.delay { at = ab.iter(1), lasts = ab.iter(2), link = "1-2", delay = "30ms", model = "occupancy" }';
my $dead = 'ab.down { at = ab.op { iteration = 2, stage = 1, op = "B", microbatch = 1 }, stage = 1, rail = 0, permanent = true }';

# Over tcp all the way, and over NCCL.
my %digest;
for my $transport ('tcp', 'nccl') {
	my $run = live($transport, pipeline('healthy', 4, ''), '--transport', $transport);
	ends_with_code($run, 0, "a run over $transport ends");
	my $results = json_of($run, 'and prints its results');
	ok($results->{loss}{equal}, 'its losses are equal under all schedules');
	$digest{ digests_of($results) }++;
	my $carrier = $transport eq 'nccl' ? qr/stream plane: NCCL \S+, delegates over tcp;/
	                                   : qr/stream plane: tcp in stream order \(--transport tcp is for both planes\)/;
	like($run->{err}, qr/transport $transport; $carrier/, 'its first line says what carries the stream plane');
}
is(scalar keys %digest, 1, 'and they are the same over both');
my ($healthy) = keys %digest;

my $run = live('slow', pipeline('slow', 4, $slow));
ends_with_code($run, 0, 'where every stage has a GPU, NCCL is what is used, with a slow link');
my $results = json_of($run, 'it prints its results');
is(digests_of($results), $healthy, 'with the same losses');
is(sql(home() . '/slow.db', q(SELECT DISTINCT transport || ' ' || injector FROM run WHERE mode = 'live')), 'nccl stream',
   'the record names NCCL, and who holds messages');
is(sql(home() . '/slow.db', q(SELECT json_extract(settings_json, '$."stream.carried_by"') LIKE 'NCCL %, delegates over tcp'
	FROM run WHERE mode = 'live' LIMIT 1)), 1, 'and what carries the stream plane');
is(sql(home() . '/slow.db', q(SELECT count(*) FROM message JOIN run USING (run) WHERE mode = 'live' AND schedule = 'zb'
	AND iteration IN (1, 2) AND min(from_stage, to_stage) = 1 AND arrive_ns - start_ns < 30000000)), 0,
   'no message of the slow link has taken less than the delay');
is(sql(home() . '/slow.db', q(SELECT count(*) FROM message JOIN run USING (run) WHERE mode = 'live' AND schedule = 'zb'
	AND (start_ns < request_ns OR end_ns < start_ns OR arrive_ns < start_ns))), 0, 'and moments follow one another');
(my $report = run_bench('report', '--store', home() . '/slow.db')->{out}) =~ s/\s+/ /g;
like($report, qr/transport nccl, injector stream; stream plane: NCCL \S+, delegates over tcp/, 'the report says so, too');

$run = live('dead', pipeline('dead', 4, "$slow, $dead"));
ends_with_code($run, 0, 'a run with a dead RNIC ends');
is(digests_of(json_of($run, 'and prints its results')), $healthy, 'with the same losses');
for my $schedule ('1f1b', 'zb', 'adaptra') {
	my $of = "FROM decision JOIN run USING (run) WHERE mode = 'live' AND schedule = '$schedule' AND kind";
	is(sql(home() . '/dead.db', "SELECT (SELECT count(*) $of = 'restart') || (SELECT count(*) $of = 'failover')"),
	   $schedule eq 'adaptra' ? '01' : '10', "$schedule has gone on as it should");
}

# Too few GPUs: said, and refused where NCCL was named. Streams can be occupied all the same.
$ENV{CUDA_DOUBLE_GPUS} = 1;
$run = live('shared', pipeline('slow', 4, $slow), '--injector', 'stream');
is(digests_of(json_of($run, 'stages that share a GPU run')), $healthy, 'with the same losses');
like($run->{err}, qr/transport tcp; stream plane: tcp in stream order \(NCCL takes a GPU for each stage: there are 4 stages, and 1 here\)/,
     'their stream plane is over tcp, and why');
is(sql(home() . '/shared.db', q(SELECT DISTINCT transport || ' ' || injector FROM run WHERE mode = 'live')), 'tcp stream',
   'as the record says');
says(live('refused', pipeline('healthy', 1, ''), '--transport', 'nccl'), 3,
     qr/NCCL takes a GPU for each stage: there are 4 stages, and 1 here/, 'NCCL by name is refused');
$ENV{CUDA_DOUBLE_GPUS} = 4;
like(run_bench('doctor')->{out}, qr/exchanges +NCCL \S+, for the stream plane of up to 4 stages with a GPU\s+each/,
     'doctor says what NCCL could do here');

# A worker is killed: the other one's exchanges stand for ever, and the run ends all the same.
for my $schedule ('1f1b', 'zb', 'adaptra') {
	my $database = home() . "/killed-$schedule.db";
	my $pid = start_bench('run', pipeline('long', 2000, ''), '--device', 'cuda', '--schedule', $schedule, '--quiet',
	                      '--store', $database, '--no-ops');
	ok(await_sql($pid, $database, "SELECT count(*) > 0 FROM iteration JOIN run USING (run) WHERE mode = 'live'"),
	   "$schedule is under way");
	my @workers = grep { (split ' ', text_of("/proc/$_/stat"))[5] != $_ } split ' ', text_of("/proc/$pid/task/$pid/children");
	kill KILL => $workers[-1];
	my $killed = finish_bench($pid);
	ends_with_code($killed, 4, 'with a worker killed it ends');
	like($killed->{err}, qr/the worker of stages \d to \d, replica 0, was killed by signal 9/, 'and says which');
}

# NCCL fails on its own account.
for my $failure ('ncclCommInitRankConfig:2', 'ncclSend:9', 'ncclGroupEnd:12') {
	my ($function) = split /:/, $failure;
	$ENV{CUDA_DOUBLE_FAIL} = $failure;
	my $failed = live('failed', pipeline('healthy', 4, ''), '--schedule', 'zb');
	ends_with_code($failed, 4, "when $function fails the run does");
	like($failed->{err}, qr/stage \d cannot [\w ]+ stage \d over NCCL: /, 'and says where and why');
}
done_testing();
