#!/usr/bin/perl
# fault_ops.t - faults that start and end at an op, from the script to what is printed and stored.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $b2 = 'ab.op { iteration = 7, stage = 0, op = "B", microbatch = 2 }';
my %faults = (
	delay => 'ab.delay { link = "0-1", delay = "30ms", lasts = ab.iter(2),
	   at = ab.op { iteration = 3, stage = 1, op = "F", microbatch = 1 } }',
	slow => "ab.slow { stage = 1, factor = 2, at = ab.iter(6), lasts = $b2 }",
	down => "ab.down { stage = 1, at = $b2, lasts = ab.time \"300ms\" }",
);
my $scenario = scenario_of('ops.lua', faults => "{ $faults{delay}, $faults{slow}, $faults{down} }",
	recovery => '{ checkpoint_every = 2, restart = "1s" }');
my $database = home() . '/ops.db';

my $dry = run_bench('sim', $scenario, '--dry-run');
ends_with_code($dry, 0, '--dry-run');
like($dry->{out}, qr/^  iteration 3, F1 of stage 1 to iteration 4  +link 0-1: \+30 ms a message/m,
     'says from which op on');
like($dry->{out}, qr/^  iteration 6 to iteration 7, B2 of stage 0  +stage 1: 2 times slower/m,
     'and to which');
like($dry->{out}, qr/^  iteration 7, B2 of stage 0 for 300 ms +stage 1: rail 0 down/m,
     'and for how long after one');
is(json_of(run_bench('sim', $scenario, '--dry-run', '--json'), 'as JSON')->{timeline}[0]{when},
   'iteration 3, F1 of stage 1 to iteration 4', 'the same');

my $sim = run_bench('sim', $scenario, '--store', $database);
ends_with_code($sim, 0, 'sim');
like($sim->{out}, qr/^3(?:–|-)4 +0-1: 30 ms, from F1 of stage 1 /m, 'the report says from which op on');
my $json = json_of(run_bench('report', '--json', '--store', $database), 'report --json');
is($json->{events}[1]{first_iteration} . ' ' . $json->{events}[1]{last_iteration}, '6 7',
   'an event lasts to the iteration of its last op');
is(sql($database, 'SELECT count(*), count(DISTINCT a.run), sum(asked_ns = o.start_ns)
   FROM fault_applied a JOIN fault f USING (run, fault) JOIN iteration i
     ON i.run = a.run AND i.attempt = a.attempt AND i.iteration = f.start_iteration
   JOIN op o ON o.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1
     AND o.stage = f.start_stage AND o.kind = f.start_op AND o.microbatch = f.start_microbatch
   WHERE f.kind = "delay"'), '4|2|4', 'the delay was asked for when the op started');
is(sql($database, 'SELECT DISTINCT start_iteration, start_at, end_iteration, end_at FROM fault_ms
   WHERE kind = "slow"'), '6||7|B2 of stage 0', 'the view shows the op');

my $trace = home() . '/ops.json';
ends_with_code(run_bench('trace', 'export', '1', $trace, '--store', $database), 0, 'trace export');
my $asked_us = sql($database, 'SELECT asked_ns / 1000 FROM fault_applied WHERE run = 1
   ORDER BY id LIMIT 1');
my ($slice) = grep { ($_->{name} // '') eq '0-1: 30 ms, from F1 of stage 1' && $_->{ph} eq 'X' }
	@{ json_of(run_shell("cat $trace"), 'is JSON')->{traceEvents} };
is(int($slice->{ts}), $asked_us, 'a slice begins at the op and says so');

my $backwards = run_bench('sim', scenario_of('backwards.lua', faults => '{ ab.delay { link = "0-1",
	delay = "30ms", at = ab.op { iteration = 3, stage = 1, op = "F", microbatch = 3 },
	lasts = ab.op { iteration = 3, stage = 1, op = "B", microbatch = 0 } } }'));
ends_with_code($backwards, 4, 'an end that a schedule puts before the start ends its run');
like($backwards->{err},
     qr/in iteration 3 B0 of stage 1, .* does not start after F3 of stage 1, at which it starts/,
     'with a sentence');
done_testing();
