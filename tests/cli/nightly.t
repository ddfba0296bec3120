#!/usr/bin/perl
# nightly.t - a history grows night by night; what became slower for good is announced once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $store = home() . '/nights.db';
my $scenario = scenario_of('night.lua', title => '"A night"', schedules => '{ "1f1b", "zb-cpu" }',
	delegate => '{ cost = ab.option("cost", "0us", "of a message") }');

# One night, on which a message costs so much; the workload is the same all the same.
sub night {
	my ($cost, @more) = @_;
	return run_bench('nightly', $scenario, '--sim', "--store=$store", "--set=cost=$cost", @more);
}

sub nights { my ($n, $cost) = @_; return map { night($cost) } 1 .. $n }

sub state_of {
	my ($call, $schedule, $metric) = @_;
	my ($row) = $call->{out} =~ /^($schedule +$metric .*)$/m;
	return defined $row ? (split ' ', $row)[-1] : 'missing';
}

my $first = night('0us');
ends_with_code($first, 0, 'the first night');
like($first->{out}, qr/^Nothing became slower\.$/m, 'has nothing to compare with');
like($first->{out}, qr/^A night: 1 night; changes of less than 2 % do not count$/m, 'and says so');
is(state_of($first, '1f1b', 'p50_ms'), 'short', 'its history is too short');
my @quiet = nights(6, '0us');
is(join(' ', map { $_->{code} } @quiet), '0 0 0 0 0 0', 'equal nights are none to be told of');
is(state_of($quiet[-1], 'zb-cpu', 'total_s'), 'steady', 'they are steady');

is(night('4ms')->{code}, 0, 'one bad night raises nothing');
is(join(' ', map { $_->{code} } nights(2, '0us')), '0 0', 'nor do the nights after it');
is(json_of(night('0us', '--json'), 'as JSON')->{scenarios}[0]{metrics}[2]{outliers}, 1,
   'it is an outlier');

my @slow = nights(3, '4ms');
is(join(' ', map { $_->{code} } @slow), '0 0 1', 'the third slow night in a row ends with 1');
my $alarm = $slow[2];
like($alarm->{err}, qr/^something became slower; once more/m, 'after a fresh run');
like($alarm->{out}, qr/^2 metrics became slower, and a fresh run says the same\.$/m, 'it says so');
is(state_of($alarm, 'zb-cpu', 'p50_ms'), 'regression', 'of the schedule that became slower');
is(state_of($alarm, '1f1b', 'p50_ms'), 'steady', 'not of the other one');
(my $line = $alarm->{out}) =~ s/\n/ /g;
like($line, qr/regression: zb-cpu, p50_ms: from [\d.]+ to [\d.]+ \(\+\d+ %\) with the night of \d{4}-\d\d-\d\d \(comparison 12,/,
     'with the night since when');
like($line, qr/a fresh run gives [\d.]+; more: computation \+[\d.]+ ms, waiting [+-][\d.]+ ms, blocking/,
     'and where the time went');
is(sql($store, 'SELECT group_concat(schedule || " " || metric || " " || since, ",") FROM alarm'),
   'zb-cpu p50_ms 12,zb-cpu total_s 12', 'alarms are kept');
is(sql($store, 'SELECT count(DISTINCT comparison), sum(is_fresh) FROM night_value ' .
     'WHERE metric = "p50_ms"'), '15|2', 'the fresh run is, too, and is no night');

my $next = night('4ms');
ends_with_code($next, 0, 'the next night announces nothing again');
is(state_of($next, 'zb-cpu', 'p50_ms'), 'known', 'it is known');
my @healed = nights(3, '0us');
is(join(' ', map { $_->{code} } @healed), '0 0 0', 'what becomes faster is no failure');
is(state_of($healed[2], 'zb-cpu', 'p50_ms'), 'better', 'but is seen');
my @again = nights(3, '4ms');
is(join(' ', map { $_->{code} } @again), '0 0 1', 'a second step is announced as the first was');

my $json = json_of(night('4ms', '--json'), '--json is one document');
is($json->{regressions}, 0, 'with the number of regressions');
is(scalar @{ $json->{scenarios}[0]{metrics}[2]{changes} }, 3, 'and every change');
is(night('0us', '--seed=5')->{out} =~ /A night: 1 night;/, 1, 'another workload is another history');

says(run_bench('nightly', '--sim'), 2, qr/nightly needs something to work on/, 'no scenario');
says(run_bench('nightly', $scenario, home() . '/none.lua', '--sim', "--store=$store.2"), 2,
     qr/none\.lua/, 'a scenario that is not there');
ok(!-e "$store.2", 'and nothing ran');
like(run_bench('nightly', $scenario, '--sim', '--dry-run')->{out}, qr/Faults/, '--dry-run runs nothing');
done_testing();
