#!/usr/bin/perl
# trace.t - traces of slow links become scenarios and the other way round.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

sub import_of {
	my ($trace, @options) = @_;
	my $call = run_bench('trace', 'import', $trace, @options);
	ends_with_code($call, 0, 'a trace is imported');
	return file_of('imported.lua', $call->{out});
}

my $text = "10;1_2;0.030\n40;1_2;0.00\n60;0_1,2_3;0.045\n75;0_1,2_3;0.045,0.020\n90;;inf\n";
my $scenario = import_of(file_of('by_iteration.trace', $text), '--stage', 2);
my $dry = json_of(run_bench('sim', $scenario, '--dry-run', '--json'),
     'what was imported can be loaded');
is_deeply([sort map { "$_->{when}: $_->{what}" } @{ $dry->{timeline} }], [
	'iteration 10 to 39: link 1-2: +30 ms a message (occupancy)',
	'iteration 60 to 74: link 2-3: +45 ms a message (occupancy)',
	'iteration 60 to 89: link 0-1: +45 ms a message (occupancy)',
	'iteration 75 to 89: link 2-3: +20 ms a message (occupancy)',
	'iteration 90 on: stage 2: rail 0 down',
], 'and has the faults of the trace') or diag(explain($dry->{timeline}));
ends_with_code(run_bench('sim', $scenario, '--no-ops', '--quiet'), 0, 'it runs');

my $export = run_bench('trace', 'export', $scenario);
ends_with_code($export, 0, 'a scenario is exported');
my $back = import_of(file_of('back.trace', $export->{out}), '--stage', 2);
is(run_bench('trace', 'export', $back)->{out}, $export->{out},
     'import and export are each other\'s inverse');
like($export->{out}, qr/^10;1_2;0\.03\d*\n/, 'the first line is the first fault');

my $by_time = import_of(file_of('by_time.trace',
     "0.125;0_1,1_2;0.020,0.035\n0.310;0_1,1_2;0.020,0.000\n"));
my $timed = json_of(run_bench('sim', $by_time, '--dry-run', '--json'),
     'a trace by time can be loaded');
is(scalar @{ $timed->{timeline} }, 2, 'and has its faults');
says(run_bench('trace', 'export', $by_time), 2, qr/by time/,
     'faults by time are not written as a trace by iteration');
says(run_bench('trace', 'export', smoke()), 2, qr/slow.*cannot say/, 'nor is a slow stage');

says(run_bench('trace', 'import', home() . '/missing.trace'), 2, qr/missing\.trace/,
     'a trace that is not there');
my %wrong = (
	'numbers that do not increase' => "10;0_1;0.01\n10;0_1;0.02\n",
	'a link between strangers' => "10;0_3;0.01\n",
	'a negative delay' => "10;0_1;-0.01\n",
	'two kinds of first field' => "10;0_1;0.01\n11.5;0_1;0.02\n",
	'a stage beyond every pipeline' => "10;99998_99999;0.01\n",
	'noise' => join('', map { chr } 1 .. 255),
);
says(run_bench('trace', 'import', file_of('wrong.trace', $wrong{$_})), 2, qr/wrong\.trace/,
     "a trace with $_")
	for sort keys %wrong;
done_testing();
