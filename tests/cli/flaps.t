#!/usr/bin/perl
# flaps.t - an RNIC that goes down every period, on both data planes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $database = home() . '/flaps.db';
my %common = (
	topology => 'ab.pipeline { stages = 4, hosts = 2 }',
	workload => 'ab.profile "uniform-10ms" { microbatches = 4 }',
	schedules => '{ "1f1b", "adaptra" }',
	iterations => 30,
	recovery => '{ checkpoint_every = 5, restart = "300ms", failover = "200ms" }',
);

sub flaps {
	my ($name, $fields) = @_;
	return scenario_of("$name.lua", %common, faults => "{ ab.down { stage = 1, $fields } }");
}

my $short = flaps('short', 'at = ab.time "50ms", lasts = ab.time "2s", period = ab.time "400ms", duty = "25%"');
my $dry = run_bench('sim', $short, '--dry-run');
ends_with_code($dry, 0, '--dry-run');
my @rows = $dry->{out} =~ /^  from (\S+ \S+ to \S+ \S+) +stage 1: rail 0 down$/mg;
is(join(', ', @rows), '50 ms to 150 ms, 450 ms to 550 ms, 850 ms to 950 ms, 1.25 s to 1.35 s, 1.65 s to 1.75 s',
   'it shows every time');

my $still = json_of(run_bench('sim', scenario_of('still.lua', %common), '--json'), 'without a flap');
my $sim = json_of(run_bench('sim', $short, '--json', '--store', $database), 'with short flaps');
my ($stream, $delegate) = @{ $sim->{schedules} };
is($stream->{restarts}, 5, 'the stream plane restarts every time');
is($delegate->{restarts}, 0, 'delegates wait until the RNIC is back');
my $more_s = $delegate->{total_s} - $still->{schedules}[1]{total_s};
ok($more_s > 0 && $more_s <= 0.5, 'which costs no more than the RNIC was down');
is(sql($database, 'SELECT group_concat((asked_ns / 1000000) || "-" || (cleared_ns / 1000000), " ") FROM
   (SELECT * FROM fault_applied WHERE run = 2 ORDER BY id)'),
   '50-150 450-550 850-950 1250-1350 1650-1750', 'the record says when it was down');
like(run_bench('report', '--store', $database)->{out},
     qr/RNIC of stage 1 down for 100 ms of every 400\s+ms/, 'and the report how often');

my $long = json_of(run_bench('sim', flaps('long', 'at = ab.iter(4), lasts = ab.iter(20), period = ab.iter(5),
	duty = "40%"'), '--json'), 'with flaps of iterations');
is($long->{schedules}[0]{restarts}, 4, 'the stream plane restarts at each of four');
is($long->{schedules}[1]{restarts}, 0, 'and delegates go over another rail');
done_testing();
