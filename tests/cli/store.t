#!/usr/bin/perl
# store.t - databases that are missing, foreign, newer, read-only or full; and the same bytes twice.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my @few = ('--iterations=12', '--quiet');
my $report = qr/there are no results in .*; adaptra-bench sim SCENARIO makes some/;

says(run_bench('report'), 2, $report, 'a report without results');
says(run_bench('list', 'runs'), 2, $report, 'a list of runs without results');
says(run_bench('compare', 1, 2), 2, $report, 'a comparison of runs without results');
ok(!-e home() . '/adaptra-bench', 'asking makes no database');

ends_with_code(run_bench('sim', smoke(), @few), 0, 'a run into the data folder');
my $default = home() . '/adaptra-bench/results.db';
is(sql($default, 'SELECT count(*) FROM run'), 3, 'stores one run a schedule');
is(sql($default, 'SELECT count(*) FROM op WHERE run = 1'), 12 * 4 * 3 * 8, 'and every operator');
my $again = run_bench('report');
ends_with_code($again, 0, 'the report of the last comparison');
like($again->{out}, qr/^1f1b .*^zb .*^adaptra /ms, 'shows its schedules');
ends_with_code(run_bench('report', 1, 3), 0, 'the report of two runs');
says(run_bench('report', 99), 2, qr/^adaptra-bench: there is no run 99 in '.*results\.db';/, 'a run that is not there');
says(run_bench('report', 1, 1), 2, qr/run 1 is named twice/, 'a run twice');
says(run_bench('report', 0), 2, qr/0 is out of range; wanted 1 or more/, 'runs start at 1');
like(run_bench('list', 'runs')->{out}, qr/adaptra .*done/, 'list runs shows them');
like(run_bench('doctor')->{out}, qr/^ok +results +3 runs in\s/m, 'doctor counts them');

my $bare = home() . '/bare.db';
ends_with_code(run_bench('sim', smoke(), @few, '--no-ops', "--store=$bare"), 0, '--no-ops');
is(sql($bare, 'SELECT count(*) FROM op'), 0, 'keeps no operators');
is(sql($bare, 'SELECT count(*) FROM iteration'), 36, 'and every iteration');

my $ways = home() . '/messages.db';
is(sql($bare, 'SELECT count(*) FROM message'), 0, 'a run in virtual time has no messages');
says(run_bench('sim', smoke(), '--messages', '--no-ops'), 2, qr/leave out --no-ops/, 'which need ops');
ends_with_code(run_bench('sim', smoke(), @few, '--messages', "--store=$ways"), 0, '--messages');
is(sql($ways, 'SELECT count(*) FROM message WHERE run = 1'), 12 * 2 * 3 * 8, 'keeps them');
is(sql($ways, 'SELECT count(*) FROM message m JOIN op ON op.run = m.run AND op.iteration = m.iteration ' .
	'AND op.stage = m.from_stage AND op.microbatch = m.microbatch AND message_request_ns = request_ns ' .
	'AND message_start_ns = m.start_ns AND message_end_ns = m.end_ns AND message_arrive_ns = arrive_ns ' .
	"AND rail = 0 AND n_resends = 0 AND (op.kind = 'F') = (m.kind = 'F') WHERE m.run = 1"), 12 * 2 * 3 * 8,
	'each as its op has it');
is(sql($ways, 'SELECT count(*) FROM message_ms WHERE queue IS NULL AND run = 1'), 12 * 2 * 3 * 8,
	'through a channel under 1f1b');

ends_with_code(run_bench('sim', smoke(), '--iterations=13', '--no-ops', '--quiet'), 0,
     'another workload');
like(run_bench('list')->{out}, qr/^Runs in .*, the\s+newest\s+5;\s+list\s+runs\s+--json\s+has\s+all$/ms,
     'list shows the newest runs, and says where the others are');
my $differ = run_bench('compare', 1, 4);
says($differ, 2, qr/workloads of runs 1 and 4 differ in iterations 12 and 13; compare runs of .*--force/,
     'is not compared with the first');
ends_with_code(run_bench('compare', 1, 4, '--force'), 0, 'unless forced');

sub dump_of {
	my ($database) = @_;
	return join "\n", map { sql($database, "SELECT * FROM $_") }
		qw(iteration op fault fault_applied decision event event_published);
}
my @twice = map { home() . "/twice$_.db" } 1, 2;
ends_with_code(run_bench('sim', smoke(), '--quiet', "--store=$_"), 0, "run into $_") for @twice;
is(length(dump_of($twice[0])) > 100_000, 1, 'there is something to compare');
ok(dump_of($twice[0]) eq dump_of($twice[1]), 'a scenario gives the same bytes twice');

sub refused_store {
	my ($name, $code, $want, $database) = @_;
	says(run_bench($_, $_ eq 'sim' ? (smoke(), '--iterations=3', '--quiet') : (),
		"--store=$database"), $code,
	     $want, "$_ and $name") for qw(sim report);
}

my $text = file_of('text.db', "not a database\n" x 100);
refused_store('a text file', 2, qr/text\.db/, $text);
my $foreign = home() . '/foreign.db';
sql($foreign, 'CREATE TABLE mine (x); INSERT INTO mine VALUES (1)');
refused_store('a foreign database', 2, qr/foreign\.db/, $foreign);
is(sql($foreign, 'SELECT count(*) FROM sqlite_master'), 1, 'which is left as it is');
my $newer = home() . '/newer.db';
run_bench('sim', smoke(), @few, '--no-ops', "--store=$newer");
sql($newer, 'PRAGMA user_version = 999');
refused_store('a newer database', 3, qr/newer\.db.*999/, $newer);
says(run_bench('sim', smoke(), '--quiet', '--store=' . home()), 2, qr/\Q${\home()}\E/,
     'a folder as database');
says(run_bench('sim', smoke(), '--quiet', "--store=$text/x.db"), 2, qr/text\.db/,
     'a database in a file');

# Nothing is read-only for root, so somebody else tries.
my $nobody = $> == 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';
SKIP: {
	skip 'the program is in a folder that others cannot enter',
		4 if run_shell("$nobody test -x \$BENCH")->{code} != 0;
	chmod 0755, home();
	chmod 0444, $bare;
	my $call = run_shell("exec $nobody \$BENCH sim scenarios/smoke.lua --quiet '--store=$bare'");
	says($call, 3, qr/bare\.db/, 'a read-only database');
	ends_with_code(run_shell("exec $nobody \$BENCH report '--store=$bare'"), 0, 'can be read');
	says(run_shell("exec $nobody \$BENCH sim scenarios/smoke.lua --quiet --store=/proc/x.db"),
		2, qr/x\.db/,
	     'a folder that takes no files');
	like(run_shell("XDG_DATA_HOME=/proc exec $nobody \$BENCH doctor")->{out},
		qr/^bad +data folder/m,
	     'doctor says so');
}

# A limit on the size of files stands in for a full disk; the program sees an error of write() for both.
my $full = home() . '/full.db';
my $call = run_shell("ulimit -f 2000; exec \$BENCH sim scenarios/trace1200.lua --store '$full'");
ends_with_code($call, 4, 'a disk that fills up fails the run');
like($call->{err}, qr/1f1b failed: .*no space is left/, 'with a sentence');
is(sql($full, 'SELECT status FROM run'), 'failed', 'the run says that it failed');
ok(sql($full, 'SELECT count(*) FROM iteration') > 0, 'and what was recorded before is kept');
like(run_bench('report', "--store=$full")->{out}, qr/did not finish/,
     'a report says that it did not finish');
$call = run_shell("ulimit -f 100; exec \$BENCH sim scenarios/smoke.lua --store '$full.none'");
ends_with_code($call, 3, 'no room for the tables');
ok(!-e "$full.none", 'leaves no half-made database');
done_testing();
