#!/usr/bin/perl
# older_store.t - results that older versions made: reports show them, runs are added to them, and a
# history of nights goes on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $folder = source_root() . '/tests/data/schema';
my @schemas = map { /(\w+)\.sql$/ } sort glob "$folder/*.sql";

# A copy of the database in the tables of an older schema, as far as these have columns for it.
sub older_copy {
	my ($schema, $database) = @_;
	my $copy = home() . "/schema$schema.db";
	my $attach = "ATTACH '$database' AS today;";
	my $fill = '';

	unlink glob "$copy*";
	sql($copy, ".read $folder/$schema.sql");
	for (split /\n/, sql($copy, "$attach SELECT t.name || '|' || group_concat(c.name) FROM main.sqlite_master t " .
			"JOIN pragma_table_info(t.name, 'main') c JOIN pragma_table_info(t.name, 'today') d ON d.name = c.name " .
			"WHERE t.type = 'table' GROUP BY t.name")) {
		my ($table, $columns) = split /\|/;
		$fill .= "INSERT INTO main.$table ($columns) SELECT $columns FROM today.$table;";
	}
	sql($copy, "$attach BEGIN; $fill COMMIT");
	return $copy;
}

my $today = home() . '/today.db';
ends_with_code(run_bench('sim', smoke(), '--quiet', "--store=$today"), 0, 'a run of today');
my $current = sql($today, 'PRAGMA user_version');
is(join(' ', sort { $a <=> $b } map { /^(\d+)$/ } @schemas), join(' ', 1 .. $current - 1),
   'there is a schema of each version of before');
my $report = run_bench('report', "--store=$today");
ends_with_code($report, 0, 'and its report');
like($report->{out}, qr/check|held/, 'which says what held');

# Checks that were not kept are not in it.
sub rows_of { my ($text) = @_; return join "\n", $text =~ /^((?:1f1b|zb|adaptra) .*)$/mg }

for my $schema (@schemas) {
	my ($version) = $schema =~ /^(\d+)/;
	my $copy = older_copy($schema, $today);
	my $n_ops = sql($copy, 'SELECT count(*) FROM op');

	for my $reading (['report'], ['report', '--json'], ['report', 1, 2], ['list', 'runs'], ['report', 1, '--csv', 'op'],
	                 ['report', '--html', home() . '/page.html'], ['trace', 'export', 1, home() . '/trace.json']) {
		ends_with_code(run_bench(@$reading, "--store=$copy"), 0, "schema $schema: @$reading");
	}
	is(rows_of(run_bench('report', "--store=$copy")->{out}), rows_of($report->{out}),
	   "schema $schema: the report is what it was");
	is(sql($copy, 'PRAGMA user_version'), $version, "schema $schema: reading changes nothing");

	my $added = run_bench('sim', smoke(), '--iterations=12', "--store=$copy");
	ends_with_code($added, 0, "schema $schema: a run is added");
	like($added->{err}, qr/^\Q$copy\E: schema $version -> $current$/m, "schema $schema: and it is said what that changed");
	is(sql($copy, 'PRAGMA user_version'), $current, "schema $schema: it is of today's version");
	is(sql($copy, 'SELECT count(*) FROM op WHERE run <= 3'), $n_ops, "schema $schema: no op is lost");
	is(rows_of(run_bench('report', 1, 2, 3, "--store=$copy")->{out}), rows_of($report->{out}),
	   "schema $schema: the report of before is still the same");
	my $again = run_bench('sim', smoke(), '--iterations=12', "--store=$copy");
	unlike($again->{err}, qr/schema \d+ ->/, "schema $schema: the next run has nothing to say of it");
}

# A history whose first nights an older version made.
my $scenario = scenario_of('night.lua', title => '"A night"', schedules => '{ "1f1b", "zb-cpu" }',
	delegate => '{ cost = ab.option("cost", "0us", "of a message") }');

sub night {
	my ($store, $cost) = @_;
	return run_bench('nightly', $scenario, '--sim', "--store=$store", "--set=cost=$cost");
}

my $nights = home() . '/nights.db';
is(join(' ', map { night($nights, '0us')->{code} } 1 .. 4), '0 0 0 0', 'four nights');
my $copy = older_copy(5, $nights);
my $fifth = night($copy, '0us');
ends_with_code($fifth, 0, 'a fifth, in a database of version 5');
like($fifth->{err}, qr/schema 5 -> $current$/m, 'which is migrated');
like($fifth->{out}, qr/^A night: 5 nights;/m, 'goes on with the history');
is(join(' ', map { night($copy, '4ms')->{code} } 1 .. 3), '0 0 1', 'three slow nights are told of');
is(sql($copy, 'SELECT group_concat(schedule || " " || metric || " " || since, ",") FROM alarm'),
   'zb-cpu p50_ms 6,zb-cpu total_s 6', 'since the first of them');
ends_with_code(run_bench('report', "--store=$copy", '--html', home() . '/nights.html'), 0, 'a page of all nights');

my $imported = older_copy(6, $today);
my $log = source_root() . '/tests/data/op_log/1f1b';
my $call = run_bench('import', glob("$log/GPU*"), '--as', 'record', "--store=$imported");
ends_with_code($call, 0, 'a run is imported into a database of before there were any');
like($call->{err}, qr/schema 6 -> $current$/m, 'which is migrated');
is(sql($imported, 'SELECT group_concat(DISTINCT mode) FROM run'), 'sim,imported', 'and has runs of both kinds');

done_testing();
