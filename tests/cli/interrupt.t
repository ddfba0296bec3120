#!/usr/bin/perl
# interrupt.t - who stops a long run keeps what it has recorded.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $database = home() . '/interrupted.db';

# Ten million iterations take far longer than this test waits.
sub interrupted {
	my ($signal, @options) = @_;
	my $pid = start_bench('sim', smoke(), '--iterations=10000000', "--store=$database",
		@options);

	ok(await_sql($pid, $database, 'SELECT count(*) > ' . 1000 / slowness() . ' FROM iteration'),
	   'iterations are stored meanwhile');
	kill $signal => $pid;
	return finish_bench($pid);
}

my $call = interrupted('INT', '--no-ops');
ends_with_code($call, 130, 'an interrupted run ends with 130');
is($call->{out}, '', 'prints no report');
like($call->{err},
     qr/interrupted; what was recorded is comparison 1 in .*adaptra-bench report --store \S+ shows it/,
     'and says how to see what there is');
is(sql($database, 'SELECT status FROM run'), 'interrupted', 'the run is stored as interrupted');
like(sql($database, 'SELECT reason FROM run'), qr/interrupted at iteration \d+ of 10000000/,
     'with where it stopped');
my $n = sql($database, 'SELECT count(*) FROM iteration');
ok($n > 1000 / slowness(), "its iterations are kept ($n)");
is(sql($database, 'PRAGMA integrity_check'), 'ok', 'the database is whole');
ok(!-e "$database-writer", 'no lock is left');

my $report = run_bench('report', "--store=$database");
ends_with_code($report, 0, 'its report can be read');
like($report->{out}, qr/did not finish \(interrupted after/, 'and says that it was interrupted');

unlink glob "$database*";
ends_with_code(interrupted('TERM'), 130, 'SIGTERM is the same, with operators');
is(sql($database, 'SELECT count(*) FROM op'), sql($database, 'SELECT sum(n_ops) FROM iteration'),
   'every iteration has its operators');
ends_with_code(run_bench('sim', smoke(), '--iterations=3', "--store=$database", '--quiet'), 0,
               'the database takes further runs');
done_testing();
