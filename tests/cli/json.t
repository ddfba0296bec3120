#!/usr/bin/perl
# json.t - --json prints one document with the keys that others script against.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my %keys = (
	document => [qw(schema scenario mode schedules speedups events settings)],
	schedules => [qw(name plane iterations total_s p50_ms p95_ms samples_per_s bubble_ratio compute_ms
	                 wait_ms blocked_ms restarts loss_digest)],
	speedups => [qw(of over ratio low high pairs)],
	events => [qw(links first_iteration last_iteration p50_ms published_ms)],
);

my $one = json_of(run_bench('sim', smoke(), '--json'), 'sim --json is one document');
ok(exists $one->{$_}, "it has $_") for @{ $keys{document} };
is($one->{schema}, 1, 'its schema is 1');
is($one->{mode}, 'sim', 'its mode is sim');
for my $list (qw(schedules speedups events)) {
	for my $item (@{ $one->{$list} }) {
		my @missing = grep { !exists $item->{$_} } @{ $keys{$list} };
		is("@missing", '', "an item of $list has every key");
	}
}
is_deeply([map { $_->{name} } @{ $one->{schedules} }], [qw(1f1b zb adaptra)],
     'schedules are in the scenario\'s order');
is_deeply([map { $_->{replans} } @{ $one->{schedules} }[0, 1]], [undef, undef], 'two of them do not adapt');
cmp_ok($one->{schedules}[2]{replans}, '>', 0, 'the third was planned anew');
is(scalar @{ $one->{speedups} }, 6, 'a speedup for every pair');

my %total = map { $_->{name} => $_->{total_s} } @{ $one->{schedules} };
for my $speedup (@{ $one->{speedups} }) {
	my $want = $total{ $speedup->{over} } / $total{ $speedup->{of} };
	ok(abs($speedup->{ratio} - $want) < 1e-9,
		"the speedup of $speedup->{of} over $speedup->{over} is a ratio of totals");
	is($speedup->{low}, undef, 'and has no interval from one run');
}

my $database = home() . '/adaptra-bench/results.db';
for my $schedule (@{ $one->{schedules} }) {
	my $run = sql($database, "SELECT run FROM run WHERE schedule = '$schedule->{name}'");
	my $mean = sql($database,
		"SELECT avg(duration_ns) / 1e6 FROM iteration AS i WHERE run = $run AND is_complete = 1 " .
		"AND iteration >= 5 AND attempt = (SELECT max(attempt) FROM iteration " .
		"WHERE run = $run AND iteration = i.iteration)");
	my $sum = $schedule->{compute_ms} + $schedule->{wait_ms} + $schedule->{blocked_ms};

	ok(abs($sum - $mean) < 1e-6,
		"$schedule->{name}: compute, wait and blocked add up to the mean iteration")
		or diag("$sum, wanted $mean");
	is($schedule->{loss_digest}, undef, "$schedule->{name}: there is no loss in virtual time");
}

my ($slow) = grep { "@{ $_->{links} }" eq '1-2' } @{ $one->{events} };
is_deeply([@{$slow}{qw(first_iteration last_iteration)}], [10, 24],
     'the first event is iterations 10 to 24');
is($one->{settings}{'topology.stages'}, 4, 'settings are flat');
is_deeply([grep { ref $one->{settings}{$_} eq 'HASH' } keys %{ $one->{settings} }], [],
     'none holds an object');

my $stored = json_of(run_bench('report', '--json'), 'report --json is one document');
cmp_ok(scalar @{ $stored->{checks} }, '>', 0, 'a stored comparison has its checks');
is_deeply($stored, $one, 'and is the same as what sim printed');
like(run_bench('report')->{out}, qr/^Re-planned: adaptra $one->{schedules}[2]{replans} times?, first before iteration \d+\.$/m,
     'how often that was stands in the report');

my $repeats = json_of(run_bench('sim', smoke(), '--json', '--repeat=3', '--iterations=15',
     '--no-ops'), 'three repeats');
is($repeats->{schedules}[0]{repeats}, 3, 'are counted');
is($repeats->{speedups}[0]{pairs}, 3, 'and paired');
is(sql($database,
     'SELECT group_concat(schedule, " ") FROM ' .
     '(SELECT schedule FROM run WHERE comparison = 2 ORDER BY run)'),
   '1f1b zb adaptra adaptra zb 1f1b 1f1b zb adaptra', 'they are interleaved');
is(sql($database, 'SELECT group_concat(repeat || ":" || place, " ") FROM ' .
     '(SELECT repeat, place FROM run WHERE comparison = 2 ORDER BY run)'),
   '0:0 0:1 0:2 1:3 1:4 1:5 2:6 2:7 2:8', 'each knows its repeat and its place');
is(sql($database, 'SELECT count(DISTINCT repeat_seed), count(DISTINCT repeat_seed || repeat), ' .
     'min(seed), max(seed), sum(repeat_seed = seed) FROM run WHERE comparison = 2'),
   '3|3|1|1|3', 'and what its repeat drew from, the first of them from the seed itself');

my $dry = json_of(run_bench('sim', smoke(), '--json', '--dry-run'),
     '--dry-run --json is one document');
is(scalar @{ $dry->{timeline} }, 3, 'with every fault');
is($dry->{settings}{iterations}, 60, 'and the effective settings');
is(sql($database, 'SELECT count(*) FROM comparison'), 2, 'nothing was run');
my $text = run_bench('sim', smoke(), '--dry-run');
ends_with_code($text, 0, '--dry-run as text');
like($text->{out}, qr/iteration 10 to 24 +link 1-2: \+25 ms a message \(occupancy\)/,
     'says when and where what goes wrong');
like($text->{out}, qr/^Faults \(3\)$/m, 'and how many lines that are');

like(run_bench('sim', smoke(), '--iterations=3', '--no-ops')->{err},
     qr/^virtual time; device virtual, transport virtual, /m,
     'sim says first that it answers in virtual time');
my $live = run_bench('compare', smoke(), '--iterations=3', '--schedule=1f1b',
     '--speed=' . speed(3));
like($live->{err}, qr/^real time, ${\ pace(speed(3))}; device paced, transport tcp/m,
     'compare says first that it runs for real');
like($live->{out}, qr/1f1b/i, 'and reports');
done_testing();
