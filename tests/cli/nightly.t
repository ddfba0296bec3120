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

# What other programs get, of a night with a regression; a scenario with more than one night is
# beside one with a single night.
my $jittery = scenario_of('other.lua', title => '"Another"', faults =>
	'{ ab.delay { at = ab.iter(2), link = "0-1", delay = "8ms" } }', repeats => 5);
my %file = map { $_ => home() . "/out.$_" } qw(junit metrics csv html);
nights(3, '0us');
nights(2, '4ms');
my $both = run_bench('nightly', $scenario, $jittery, '--sim', "--store=$store", '--set=cost=4ms');
is($both->{code}, 2, 'an option that one of the scenarios has not is refused');
$both = run_bench('nightly', $scenario, '--sim', "--store=$store", '--set=cost=4ms',
                  map { "--$_=$file{$_}" } keys %file);
is($both->{code}, 1, 'a night with a regression writes files');

my $junit = text_of($file{junit});
like($junit, qr/<testsuite name="nightly\.night" tests="4" failures="2" errors="0" skipped="0"/,
     'the suite of a scenario counts its metrics');
like($junit, qr/<testcase classname="nightly\.night" name="zb-cpu p50_ms" time="0\.000">\s*<failure type="regression" message="zb-cpu, p50_ms: from /,
     'a regression is a failure');
like($junit, qr/<testcase classname="nightly\.night" name="1f1b p50_ms" time="0\.000"\/>/,
     'what is steady passes');
SKIP: {
	skip 'xmllint is not here; package libxml2-utils', 1
		if run_shell('command -v xmllint')->{code} != 0;
	is(run_shell("xmllint --noout $file{junit}")->{code}, 0, 'xmllint can read it');
}

my @lines = split /\n/, text_of($file{csv});
is($lines[0], 'time,commit,night_1f1b_p50_ms,night_1f1b_total_s,night_zb_cpu_p50_ms,' .
   'night_zb_cpu_total_s', 'the CSV has a column a metric');
is(@lines - 1, sql($store, 'SELECT count(DISTINCT comparison) FROM night_value ' .
     'WHERE NOT is_fresh AND environment = (SELECT environment FROM alarm LIMIT 1)'), 'and a row a night');
is(scalar(grep { !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,0\.1\.0(?:\+\w+(?:-dirty)?)?(,[\d.]+){4}$/ } @lines[1 .. $#lines]), 0,
   'with a time, a version and numbers');

my $told = text_of($file{html});
like($told, qr{<h1>2 metrics became slower, and a fresh run says the same\.</h1>\n<p class="warning">A night: zb-cpu p50_ms \+\d+\.\d % since [\d-]+ \(regression\); zb-cpu total_s },
     'the page of a night with a regression begins with it');
like($told, qr{<p>regression: zb-cpu, p50_ms: from .* a fresh run gives }, 'and says what a fresh run gave');
unlike($told, qr/e-\d\d/, 'no number is dust');
my $page = home() . '/nights.html';
my $paged = run_bench('nightly', $scenario, '--sim', "--store=$store", '--set=cost=4ms', "--html=$page");
ends_with_code($paged, 0, 'a night with a page');
like($paged->{err}, qr/^the page is \Q$page\E; any browser opens it$/m, 'which is named');
like(text_of($page), qr{<h1>Nothing became slower\.</h1>}, 'and begins with the answer');
like(text_of($page), qr{<td class="n bad">▲ \+\d+\.\d</td>.*?<td class="text">[^<]*option\.cost 0us and 4ms}s,
     'and says which option was another on the night of a step');
is(run_bench('nightly', $scenario, '--sim', "--store=$store", '--html=' . home() . '/no/such/folder')->{code}, 4,
   'a page that cannot be written is told');

my $metrics = text_of($file{metrics});
like($metrics, qr/^adaptra_iteration_seconds_count\{scenario="night",schedule="zb-cpu",plane="delegate",transport="virtual"\} 9$/m,
     'iterations after warm-up are counted');
like($metrics, qr/^adaptra_regressions\{scenario="night"\} 2$/m, 'and regressions');
unlike($metrics, qr/lower95/, 'a single run has no interval');
like($metrics, qr/\n# EOF\n\z/, 'the text ends as it should');

run_bench('nightly', $scenario, $jittery, '--sim', "--store=$store", "--csv=$file{csv}",
          "--metrics=$file{metrics}", "--junit=$file{junit}");
$metrics = text_of($file{metrics});
like($metrics, qr/^adaptra_speedup_ratio\{scenario="other",schedule="adaptra",baseline="1f1b",bound="lower95"\} \d/m,
     'repeats have an interval');
like($metrics, qr/^adaptra_faults_total\{scenario="other",kind="delay",link="0_1"\} 1$/m,
     'faults are counted');
is(() = $metrics =~ /^# TYPE adaptra_iteration_seconds /mg, 1, 'a family stands once');
like(text_of($file{csv}), qr/^[^,]+,0\.1\.0(?:\+\w+(?:-dirty)?)?,,,,(,[\d.]+){4}$/m, 'a night of another scenario leaves cells empty');
like(text_of($file{junit}), qr/name="nightly\.other" tests="4" failures="0" errors="0" skipped="4"/,
     'a history that is too short is skipped');
is(run_bench('nightly', $scenario, '--sim', "--store=$store", '--csv=' . home() . '/no/such/folder')->{code}, 4,
   'a file that cannot be written is told');

# A table that takes no ops fails every run.
my $broken = home() . '/broken.db';
run_bench('nightly', $jittery, '--sim', "--store=$broken");
sql($broken, 'ALTER TABLE op RENAME COLUMN late_ns TO later_ns');
my $failed = run_bench('nightly', $jittery, '--sim', "--store=$broken", "--junit=$file{junit}");
is($failed->{code}, 4, 'a night whose runs fail ends with 4');
like($failed->{out}, qr/^Nothing that came to its end became slower\.$/m, 'and does not say that all is well');

says(run_bench('nightly', '--sim'), 2, qr/nightly needs something to work on/, 'no scenario');
says(run_bench('nightly', $scenario, home() . '/none.lua', '--sim', "--store=$store.2"), 2,
     qr/none\.lua/, 'a scenario that is not there');
says(run_bench('nightly', $scenario, $scenario, '--sim', "--store=$store.2"), 2,
     qr/would both be called night;/, 'a scenario that is named twice');
ok(!-e "$store.2", 'and nothing ran');
like(run_bench('nightly', $scenario, '--sim', '--dry-run')->{out}, qr/Faults/, '--dry-run runs nothing');
done_testing();
