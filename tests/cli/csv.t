#!/usr/bin/perl
# csv.t - report --csv: every table, read by a strict reader of RFC 4180 and compared with the document
# and the database.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $database = home() . '/csv.db';
my $hostile = 'a "late", link';
my $scenario = scenario_of('csv.lua', title => '"Commas, \"quotes\" and more"', iterations => 12,
	topology => 'ab.pipeline { stages = 3 }', schedules => '{ "1f1b", "zb", "adaptra" }',
	faults => "{ ab.delay { at = ab.iter(3), lasts = ab.iter(4), link = \"0-1\", delay = \"25ms\", " .
		"model = \"occupancy\", label = '$hostile', published = { zb = \"12.5ms\" } } }");
my $document = json_of(run_bench('sim', $scenario, '--store', $database, '--json', '--quiet', '--messages',
                                 '--repeat', 2, '--control'), 'a run');

# RFC 4180 to the letter: rows of cells, each row ended by CR LF; dies at the first byte that is not
# as it has to be.
sub rows_of {
	my ($text) = @_;
	my (@rows, @row);
	while (length $text) {
		my $cell;
		if ($text =~ s/\A"((?:[^"]|"")*)"//) { $cell = $1 =~ s/""/"/gr }
		else { $text =~ s/\A([^",\r\n]*)//; $cell = $1 }
		push @row, $cell;
		next if $text =~ s/\A,// && (length $text or die "the text ends in a row\n");
		$text =~ s/\A\r\n// or die "a cell ends with " . substr($text, 0, 10) . "\n";
		push @rows, [@row];
		@row = ();
	}
	return @rows;
}

# Rows as hashes by column; a table that is not one fails.
sub table {
	my ($name, @words) = @_;
	my $call = run_bench('report', '--csv', $name, '--store', $database, '--quiet', @words);
	my ($head, @rows) = eval { rows_of($call->{out}) };
	my %seen;
	ok($call->{code} == 0 && $head && !grep({ $seen{$_}++ || !/^[a-z]\w*$/ } @$head) &&
	   !grep({ @$_ != @$head } @rows), "$name is a table") or diag("$@$call->{err}");
	return map { my %row; @row{@$head} = @$_; \%row } @rows;
}

# --- The report's.

my %shown = map { $_->{name} => $_ } @{ $document->{schedules} };
my @schedules = table('schedules');
is(join(' ', map { "$_->{schedule} $_->{plane}" } @schedules),
   join(' ', map { "$_->{name} $_->{plane}" } @{ $document->{schedules} }), 'schedules are those of the document');
for my $column (qw(total_s p50_ms p95_ms samples_per_s bubble_ratio blocked_ratio mean_ms compute_ms wait_ms
                   blocked_ms repeated_s)) {
	is(scalar(grep { $_->{$column} != $shown{ $_->{schedule} }{$column} } @schedules), 0, "with their $column");
}
my ($speedup) = grep { $_->{schedule} eq 'adaptra' && $_->{over} eq 'zb' } table('speedups');
my ($wanted) = grep { $_->{of} eq 'adaptra' && $_->{over} eq 'zb' } @{ $document->{speedups} };
is_deeply([map { 0 + $_ } @$speedup{qw(ratio low_ratio high_ratio steady_ratio steady_low_ratio steady_most_ratio pairs)}],
          [@$wanted{qw(ratio low high steady_ratio steady_low steady_most pairs)}], 'a speedup is the document\'s');
my ($control) = table('control');
is("$control->{schedule} $control->{over} $control->{pairs}", '1f1b 1f1b 2', 'the control is a schedule over itself');
my @events = table('events');
is($events[0]{label}, $hostile, 'a label with quotes and commas comes through');
is_deeply([map { "$_->{schedule} $_->{p50_ms} $_->{published_ms}" } @events],
          [map { my $name = $_->{name}; "$name $document->{events}[0]{p50_ms}{$name} " .
                 ($document->{events}[0]{published_ms}{$name} // '') } @{ $document->{schedules} }],
          'events have a row a schedule, and nothing where nothing was published');
is(scalar(my @repeats = table('repeats')), 6, 'repeats have a row each');
is(scalar(my @iterations = table('iterations')), 36, 'iterations have a row a schedule');
is(scalar(table($_)), 0, "$_ is empty for a run in virtual time") for qw(facts losses simulated);

# --- The database's: every cell is what SQLite says, of all runs of the comparison.

sub stored {
	my ($name, $sql) = @_;
	my ($call) = run_bench('report', '--csv', $name, '--store', $database, '--quiet');
	my $text = eval { join '', map { join("\x1f", @$_) . "\n" } rows_of($call->{out}) };
	open my $pipe, '-|', 'sqlite3', '-header', '-separator', "\x1f", $database, $sql or die;
	local $/;
	# SQLite writes whole real numbers with a ".0".
	is($text, <$pipe> =~ s/(?<=\x1f)(-?\d+)\.0(?=[\x1f\n])/$1/gr, "$name is what the database has");
}

stored(run => 'SELECT * FROM run ORDER BY run');
stored(iteration => 'SELECT * FROM iteration ORDER BY run, attempt, iteration');
stored(op => 'SELECT * FROM op ORDER BY run, attempt, iteration, id');
stored(message => 'SELECT * FROM message ORDER BY run, attempt, iteration, id');
stored(event => 'SELECT * FROM event ORDER BY run, event');
stored(event_published => 'SELECT * FROM event_published ORDER BY run, event, schedule');
stored(fault => 'SELECT * FROM fault ORDER BY run, fault');
stored(fault_applied => 'SELECT * FROM fault_applied ORDER BY run, id');
stored(decision => 'SELECT * FROM decision ORDER BY run, id');
cmp_ok(sql($database, 'SELECT count(*) FROM message'), '>', 0, 'there were messages to compare');
my %runs = map { $_->{run} => 1 } table('op', 2, 4);
is(join(' ', sort keys %runs), '2 4', 'named runs are those that are printed');

# --- What is asked wrongly.

says(run_bench('report', '--csv', 'ops', '--store', $database), 2, qr/no table 'ops'; did you mean 'op'\?.*decision/,
     'a table that is none');
says(run_bench('report', '--csv', 'op', '--json', '--store', $database), 2, qr/--csv and --json exclude each other/,
     'two forms at once');
says(run_bench('report', '--csv', 'op', 99, '--store', $database), 2, qr/there is no run 99/, 'a run that is not there');
ends_with_code(run_shell("\$BENCH report --csv op --store '$database' --quiet >/dev/full"), 4, 'a full disk');
my $head = run_shell("\$BENCH report --csv op --store '$database' | head -n 1");
is($head->{err} =~ s/^next: .*\n//r, '', 'a reader that has seen enough is no news');
done_testing();
