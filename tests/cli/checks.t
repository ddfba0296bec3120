#!/usr/bin/perl
# checks.t - what a scenario claims decides the exit code, after the report and the store.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

sub checked { return run_bench('sim', scenario_of('checks.lua', checks => $_[0]), '--no-ops',
     @_[1 .. $#_]) }

my $held = checked('{ ["adaptra is there"] = function(r) return r.adaptra.total_s > 0 end }');
ends_with_code($held, 0, 'a check that holds');
like($held->{out}, qr/^ok +adaptra is there$/m, 'it is printed below the report');

my $failed = checked('{ ["time stands still"] = function(r) return r.adaptra.total_s == 0 end,
                        ["all is well"] = function(r) return true end }');
ends_with_code($failed, 1, 'a check that does not hold');
like($failed->{out}, qr/^failed +time stands still$/m, 'the one that failed is named');
like($failed->{out}, qr/^ok +all is well$/m, 'and the one that held');

my $again = run_bench('report');
ends_with_code($again, 0, 'a report of what is stored says what was');
like($again->{out}, qr/^Checks\nok +all is well\nfailed +time stands still$/m, 'which checks held');
is_deeply([map { [@$_{qw(name held)}] } @{ json_of(run_bench('report', '--json'), 'as JSON')->{checks} }],
          [['all is well', JSON::PP::true()], ['time stands still', JSON::PP::false()]], 'also as JSON');
like(run_bench('report', '--html', '-')->{out}, qr/<td class="bad">✗ failed<\/td>\n<th[^>]*>time stands still</,
     'and on the page');

my $broken = checked('{ ["wrong field"] = function(r) return r.adaptra.p50_mss > 0 end }');
ends_with_code($broken, 1, 'a check with a mistake in it does not hold');
like($broken->{out}, qr/failed +wrong field: .*checks\.lua:\d+: .*did\s+you\s+mean\s+p50_ms/s,
     'and the mistake is told');
like(checked('{ x = function(r) return r.zb.p50_ms > 0 end }')->{out},
     qr/schedule "zb" was not compared/,
     'a schedule that was not compared is told');

{
	local $ENV{ADAPTRA_SCRIPT_SECONDS} = '0.3';
	my $endless = checked('{ x = function(r) while true do end end }');

	ends_with_code($endless, 1, 'a check that never ends is ended');
	like($endless->{err}, qr/checks did not end within the script's time limit/,
		'with a sentence');
	like($endless->{out}, qr/1f1b/, 'the report is printed all the same');
	is(sql(home() . '/adaptra-bench/results.db',
		'SELECT group_concat(DISTINCT status) FROM run'), 'done',
	   'and every run is stored');
}

my $options = scenario_of('variants.lua',
	variants => q({ ab.variant { label = "twice the cost", set = { cost = "2ms" } } }),
	delegate => '{ cost = ab.option("cost", "1ms", "of a message") }', schedules => '{ "zb", "zb-cpu" }');
my $varied = run_bench('sim', $options, '--no-ops');
ends_with_code($varied, 0, 'a scenario with a variant');
my ($line) = $varied->{out} =~ /^( *twice the cost .*)$/m;
ok(defined $line, 'whose totals are printed');
like(run_bench('report')->{out}, qr/^\Q$line\E$/m, 'a report of what is stored has the same');
like(run_bench('report', '--html', '-')->{out}, qr/<th[^>]*>twice the cost</, 'and so has the page');

my $json = checked('{ ["time stands still"] = function(r) return false end }', '--json');
is($json->{code}, 1, 'a failed check decides the exit code with --json, too');
like($json->{out} . $json->{err}, qr/time stands still/, 'and is named');
done_testing();
