#!/usr/bin/perl
# live.t - live runs on device cuda, over the double of CUDA: losses, fail-over, errors.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

plan skip_all => 'without the CUDA toolkit there is nothing to try'
	if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_CUDA\b/;
$ENV{ADAPTRA_BENCH} = "$ENV{ADAPTRA_BUILD}/double/adaptra-bench";

# Two rails: when the first dies, the delegates go over to the second, and 1F1B restarts.
my $scenario = file_of('gpu.lua', <<'END');
local ab = require "adaptra"
return ab.scenario {
   title = "On a GPU",
   topology = ab.pipeline { stages = 4, hosts = 2, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "1f1b", "zb", "adaptra" },
   recovery = { checkpoint_every = 1, restart = "20ms", failover = "20ms" },
   iterations = 4, warmup = 0, seed = 1,
   faults = {
      ab.delay { at = ab.iter(1), lasts = ab.iter(1), link = "1-2", delay = "15ms" },
      ab.down { at = ab.iter(2), stage = 1, rail = 0, permanent = true },
   },
}
END

sub live {
	my ($device, @more) = @_;
	return run_bench('run', $scenario, '--device', $device, '--json', '--store',
	                 home() . "/$device.db", @more);
}

sub losses { my ($results) = @_; return map { $_->{last} } @{ $results->{loss}{schedules} } }

my $gpu = live('cuda');
ends_with_code($gpu, 0, 'a run on device cuda ends');
like($gpu->{err}, qr/device cuda \(test double of a GPU, compute capability 9\.0, .*4 stages share 1 of them/,
     'its first line says which GPU, and how many stages share it');
like($gpu->{err}, qr/CUDA_DEVICE_MAX_CONNECTIONS=27\b/,
     'and with how many queues of the driver: a compute stream, 6 to copy out and 6 in for each of a worker\'s 2 stages');
my $results = json_of($gpu, 'it prints its results');
like($results->{backends}, qr/; GPU: test double of a GPU, .*; 4 stages share 1 of them/,
     'the report says it, too');
my %digests = map { ($_->{loss_digest} => 1) } @{ $results->{schedules} };
is(scalar keys %digests, 1, 'the losses of all schedules are the same, bit for bit');
ok($results->{loss}{equal}, 'which the run has seen itself');
is(sql(home() . '/cuda.db', q(SELECT group_concat(DISTINCT op.timer) FROM op JOIN run USING (run) WHERE mode = 'live')),
   'cuda_event', 'ops are timed by events of CUDA');
is(sql(home() . '/cuda.db', q(SELECT max(attempt) FROM iteration JOIN run USING (run) WHERE mode = 'live' AND schedule = '1f1b')),
   1, '1F1B has lost a rail, and restarted');
is(sql(home() . '/cuda.db', q(SELECT count(*) > 0 FROM decision JOIN run USING (run) WHERE mode = 'live' AND schedule = 'adaptra' AND kind = 'failover')),
   1, 'delegates have gone over to the other one');

my $cpu = live('cpu');
ends_with_code($cpu, 0, 'the same on device cpu ends');
my @gpu_losses = losses($results);
for my $loss (losses(json_of($cpu, 'and prints its results'))) {
	my $other = shift @gpu_losses;
	cmp_ok(abs($other / $loss - 1), '<', 1e-5, "a loss of $other is the CPU's $loss, but for rounding");
}

# What is foretold of a GPU's memory is what is taken: with as little as passes there is enough.
my $messages = file_of('messages.lua', <<'END');
local ab = require "adaptra"
return ab.scenario {
   title = "Large messages",
   topology = ab.pipeline { stages = 2, hosts = 1 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "zb" },
   live = { payload = "4MiB" },
   iterations = 1, warmup = 0, seed = 1,
}
END
my @run = ('run', $messages, '--device', 'cuda', '--store', home() . '/messages.db');
$ENV{CUDA_DOUBLE_MEMORY} = 10 << 20;
my $refused = run_bench(@run);
ends_with_code($refused, 4, 'messages that a GPU has no memory for are refused');
like($refused->{err}, qr/need [\d.]+ MiB of the memory of a GPU, and 8 MiB of it may be taken; .*, or more GPUs/,
     'and the sentence says so');
my ($need_mib) = $refused->{err} =~ /need ([\d.]+) MiB/;
cmp_ok($need_mib, '>', 32, 'it would have to hold the outputs of both stages');
$ENV{CUDA_DOUBLE_MEMORY} = int($need_mib / 0.8 * 1.001 * (1 << 20));
ends_with_code(run_bench(@run), 0, "with the $need_mib MiB that it names, and a quarter more, they run");
delete $ENV{CUDA_DOUBLE_MEMORY};

$ENV{CUDA_DOUBLE_GPUS} = 0;
says(live('cuda'), 3, qr/no GPU can be used: no CUDA-capable device is detected/, 'without a GPU nothing runs');
delete $ENV{CUDA_DOUBLE_GPUS};
$ENV{CUDA_DOUBLE_GPUS} = 4;
like(live('cuda', '--iterations', 1)->{err}, qr/; one for each of 4 stages\)/, 'four stages share four GPUs');
delete $ENV{CUDA_DOUBLE_GPUS};
for my $failure (['cudaMemcpyAsync', 3, 'copy'], ['cublasSgemm', 100, 'multiply matrices'],
                 ['cudaLaunchHostFunc', 3, 'call a function of the host'],
                 ['cuStreamWaitValue32', 3, 'wait for a flag']) {
	my ($function, $nth, $cannot) = @$failure;

	$ENV{CUDA_DOUBLE_FAIL} = "$function:$nth";
	my $run = live('cuda', '--schedule', 'zb');
	ends_with_code($run, 4, "when $function fails the run does");
	like($run->{err}, qr/stage \d: the GPU cannot $cannot: /, 'and says where and why');
}
done_testing();
