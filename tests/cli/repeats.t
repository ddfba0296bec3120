#!/usr/bin/perl
# repeats.t - repeats are interleaved, draw from seeds of their own, and say how far to trust them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $database = home() . '/adaptra-bench/results.db';
my $jittery = scenario_of('jittery.lua',
	iterations => 20, warmup => 2, repeats => 5, seed => 7, schedules => '{ "1f1b", "zb" }',
	faults => '{ ab.delay { at = ab.iter(0), link = "0-1", delay = "8ms", jitter = "6ms", ' .
	          'distribution = "normal" } }');

sub speedup_of {
	my ($document, $of, $over) = @_;
	return (grep { $_->{of} eq $of && $_->{over} eq $over } @{ $document->{speedups} })[0];
}

sub mean_log_ratio {
	my ($a, $b) = @_;
	my $sum = 0;
	$sum += log($b->[$_] / $a->[$_]) for 0 .. $#$a;
	return $sum / @$a;
}

my $five = json_of(run_bench('sim', $jittery, '--json'), "a scenario's repeats");
my ($one, $zb) = @{ $five->{schedules} };
my $speedup = speedup_of($five, 'zb', '1f1b');
is(scalar @{ $one->{repeat_p50_ms} }, 5, 'are made');
is(scalar keys %{ { map { $_ => 1 } @{ $one->{repeat_p50_ms} } } }, 5, 'and each draws other jitter');
is($speedup->{pairs}, 5, 'they are paired');
ok(!$speedup->{is_wide}, 'and are enough');
cmp_ok(abs(log($speedup->{steady_ratio}) -
	   mean_log_ratio($zb->{repeat_p50_ms}, $one->{repeat_p50_ms})), '<', 1e-12,
       'the steady speedup is exp of the mean log ratio of medians');
cmp_ok(abs($speedup->{ratio} - $one->{total_s} / $zb->{total_s}), '<', 1e-12,
       'the ratio of totals stands beside it as ever');
ok($speedup->{steady_least} < $speedup->{steady_ratio} &&
   $speedup->{steady_ratio} < $speedup->{steady_most}, 'it lies within its spread');
ok($speedup->{steady_low} < $speedup->{steady_ratio} &&
   $speedup->{steady_ratio} < $speedup->{steady_high}, 'and within its interval');
ok($speedup->{low} < $speedup->{ratio} && $speedup->{ratio} < $speedup->{high},
   'as the ratio of totals lies within its own');

my ($repeat, $seed) = split /\|/, sql($database,
	'SELECT repeat, repeat_seed FROM run WHERE repeat > 0 AND repeat_seed > 0 LIMIT 1');
my $again = json_of(run_bench('sim', $jittery, '--json', '--repeat=1', "--seed=$seed"),
	'the seed of a repeat');
is($again->{schedules}[0]{p50_ms}, $one->{repeat_p50_ms}[$repeat], 'draws the same once more');
is(speedup_of($again, 'zb', '1f1b')->{steady_low}, undef, 'one run has no interval');

my $few = run_bench('sim', $jittery, '--repeat=3');
ends_with_code($few, 0, '--repeat wins over the scenario');
like($few->{out}, qr/^Speedup of zb, 3 pairs of interleaved repeats$/m, 'K is printed');
like($few->{out}, qr/^1f1b( +\d\.\d{3}){8}$/m, 'with intervals and spread');
like($few->{out}, qr/^Wide: 3 pairs are few/m, 'too few are marked as wide');
my $enough = run_bench('sim', $jittery);
unlike($enough->{out}, qr/^Wide:/m, 'five are not');

like(run_bench('sim', smoke(), '--repeat=2', '--quiet', '--no-ops', '--iterations=8')->{out},
     qr/^Every repeat gave the same: nothing in it was random\.$/m,
     'without jitter virtual time has no spread');

my $control = json_of(run_bench('sim', $jittery, '--json', '--control'), 'a control');
is_deeply([map { $_->{name} } @{ $control->{schedules} }], ['1f1b', 'zb'], 'is no schedule');
is($control->{control}{schedule}, '1f1b', 'it is the first one again');
is($control->{control}{pairs}, 5, 'in every repeat');
is($control->{control}{width_ratio}, 0, 'and in virtual time the same to the last bit');
is_deeply($control->{speedups}, $five->{speedups}, 'it changes nothing of the others');
is(sql($database, 'SELECT group_concat(schedule || substr("*", 2 - is_control), " ") FROM ' .
     '(SELECT schedule, is_control FROM run ' .
     "WHERE comparison = $control->{comparison} AND repeat < 2 ORDER BY place)"),
   '1f1b zb 1f1b* 1f1b* zb 1f1b', 'it stands behind the last and is interleaved');
like(run_bench('report', '--quiet')->{out},
     qr/^Control: 1f1b beside itself is equal in all 5 pairs\.$/m, 'the report says so');
run_bench('report', '--quiet', '--html=' . home() . '/page.html');
like(text_of(home() . '/page.html'), qr/jittery\.lua[^\n]* --repeat 5[^\n]* --control/,
     'and the page how to make it again');
says(run_bench('sim', smoke(), '--control'), 2, qr/--control needs repeats.*--repeat 5/,
     'a control without repeats');

my $other = run_bench('sim', $jittery, '--seed=8', '--quiet');
says(run_bench('compare', 1, sql($database, 'SELECT max(run) FROM run')), 2,
     qr/workloads of runs 1 and \d+ differ in seed 7 and 8/, 'runs of other workloads');
done_testing();
