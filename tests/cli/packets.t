#!/usr/bin/perl
# packets.t - faults that only packets can have: where they are refused, and what is used instead.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $loss = 'ab.loss { link = "0-1", loss = "0.1%", correlation = "25%", at = ab.iter(2) }';
my $overtaking = 'ab.delay { link = "0-1", delay = "30ms", jitter = "5ms", distribution = "normal",
	reordering = true, lasts = ab.iter(4) }';
my $rate = 'ab.rate { link = "0-1", rate = "1Gbit" }';
my $workload = 'ab.profile "uniform-10ms" { microbatches = 4, message = "4MiB" }';
my $both = scenario_of('both.lua', faults => "{ $overtaking, $loss, $rate }", workload => $workload);
my %only = (
	lost => scenario_of('lost.lua', faults => "{ $loss }"),
	'overtake each other' => scenario_of('order.lua', faults => "{ $overtaking }"),
);

my $dry = run_bench('sim', $both, '--dry-run');
ends_with_code($dry, 0, '--dry-run');
like($dry->{out}, qr/^  iteration 0 to 3  +link 0-1: \+30 ms (?:±|\+-) 5 ms normal a packet, any order \(latency\)$/m,
     'says that packets may overtake');
like($dry->{out}, qr/^  iteration 2 on +link 0-1: 0\.1 % of packets lost, correlation 25 %$/m,
     'and how many are lost');
like($dry->{out}, qr/loss 0->1 start iteration 2 end never loss 0\.001 correlation 0\.25/,
     'exactly, in the settings');

for my $what (sort keys %only) {
	says(run_bench('sim', $only{$what}, '--quiet'), 3,
	     qr/^adaptra-bench: virtual time has .*$what.*link 0->1 \(line \d+\).*--lab netns.*netem and relay/m,
	     "virtual time has no packets that could be: $what");
	says(run_bench('run', $only{$what}, '--quiet'), 3,
	     qr/injector shaped holds whole messages.*line \d+.*--lab netns.*netem and relay/,
	     "nor has the shaped injector: $what");
}
says(run_bench('nightly', $only{lost}, '--sim', '--quiet'), 3, qr/virtual time has/,
     'nor is there a night of it');
ok(!-e home() . '/adaptra-bench/results.db', 'and no database was made');

ends_with_code(run_bench('plan', $only{lost}, '--schedule', '1f1b'), 0, 'the plan at the start is the same');
says(run_bench('plan', $only{lost}, '--schedule', '1f1b', '--at', '3'), 2, qr/virtual time has/,
     'what it is later nobody knows');
says(run_bench('trace', 'export', $only{lost}), 2, qr/loses packets, which a trace cannot say/,
     'a trace cannot say it');
done_testing();
