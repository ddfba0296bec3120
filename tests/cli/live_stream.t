#!/usr/bin/perl
# live_stream.t - streams occupied in front of sends, beside messages that the transport holds: both in
# one report; what that injector cannot do, and where no exchange can be used, is said.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

sub stream_scenario {
	my ($name, $fault) = @_;
	return file_of("$name.lua", <<"END");
local ab = require "adaptra"
return ab.scenario {
   title = "Streams",
   topology = ab.pipeline { stages = 3, hosts = 3 },
   workload = ab.profile "uniform-10ms" { microbatches = 3 },
   schedules = { "1f1b", "zb", "adaptra" },
   recovery = { checkpoint_every = 1, restart = "20ms", failover = "1s" },
   iterations = 3, warmup = 0, seed = 1,
   faults = { $fault },
}
END
}

my $occupied = stream_scenario('occupied', 'ab.delay { at = ab.iter(1), link = "0-1", delay = "30ms", model = "occupancy" }');
my $database = home() . '/stream.db';

sub live {
	my ($scenario, @more) = @_;
	return run_bench('run', $scenario, '--device', 'cpu', '--speed', speed(2), '--store', $database, @more);
}

my %digests;
for my $injector ('shaped', 'stream') {
	my $call = live($occupied, '--injector', $injector, '--json');
	ends_with_code($call, 0, "a run whose messages are held by injector $injector");
	my $results = json_of($call, 'prints its results');
	ok($results->{loss}{equal}, 'its losses are equal');
	$digests{$_->{loss_digest}}++ for @{ $results->{schedules} };
	like($call->{err}, qr/injector $injector\b/, 'its first line names the injector');
}
is(scalar keys %digests, 1, 'and the same whoever holds messages');
is(sql($database, q(SELECT group_concat(DISTINCT injector) FROM run WHERE mode = 'live' ORDER BY run)), 'shaped,stream',
   'the record names both');

# A message of the slow link is in its channel for as long as was asked for, on either way.
is(sql($database, q(SELECT count(*) FROM message JOIN run USING (run) WHERE mode = 'live' AND schedule = 'zb'
	AND iteration > 0 AND min(from_stage, to_stage) = 0 AND arrive_ns - start_ns < 30000000)), 0,
   'no message of the slow link has taken less than the delay');

my ($shaped, $stream) = split /,/, sql($database,
	q(SELECT group_concat(run) FROM (SELECT run FROM run WHERE mode = 'live' AND schedule = 'zb' ORDER BY run)));
my $both = run_bench('compare', $shaped, $stream, '--store', $database);
ends_with_code($both, 0, 'both in one report');
(my $text = $both->{out}) =~ s/\s+/ /g;
like($text, qr/injector shaped \(#$shaped\) and stream \(#$stream\)/, 'which says who was which');

says(live(stream_scenario('path', 'ab.delay { at = ab.iter(1), link = "0-1", delay = "30ms", model = "latency" }'),
          '--injector', 'stream'), 3,
     qr/injector stream occupies what sends \(occupancy\), and on line \d+ the link itself is to be worse; use injector shaped/,
     'what cannot be done in front of a send is refused');
says(live(stream_scenario('rate', 'ab.delay { at = ab.iter(1), link = "0-1", delay = "30ms", model = "rate" }'), '--injector', 'stream'), 3,
     qr/injector stream occupies what sends/, 'so is a rate');

# Exchanges: where they cannot be, and are named.
if (($ENV{ADAPTRA_CFLAGS} || '') =~ /-DHAVE_NCCL\b/) {
	says(live($occupied, '--transport', 'nccl'), 3, qr/NCCL is for GPUs, which device cpu is not/,
	     'nccl without GPUs is refused');
	says(live($occupied, '--transport', 'nccl', '--injector', 'shaped'), 3, qr/for exchanges there is injector stream/,
	     'and an injector that holds what others carry');
	says(live(stream_scenario('flap', 'ab.down { at = ab.iter(1), lasts = ab.time "500ms", stage = 1, rail = 0 }'),
	          '--transport', 'nccl'), 3, qr/the RNIC on line \d+ is back before anybody gives up on it/,
	     'and an RNIC that is back before anybody gives up on it');
	says(live(stream_scenario('path', 'ab.delay { at = ab.iter(1), link = "0-1", delay = "30ms", model = "latency" }'),
	          '--transport', 'nccl'), 3, qr/an exchange can only occupy what sends \(occupancy\), and on line/,
	     'and a path that is slow');
} else {
	says(live($occupied, '--transport', 'nccl'), 3, qr/nccl is not in this build/, 'nccl is not in this build');
}
unlike(live($occupied, '--transport', 'auto', '--iterations', 1, '--schedule', 'zb')->{err}, qr/stream plane/,
       'a CPU needs no word about the stream plane');
done_testing();
