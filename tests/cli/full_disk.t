#!/usr/bin/perl
# full_disk.t - a live run whose checkpoints or whose database find no more room.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $temporary = home() . '/temporary';
mkdir $temporary or die "$temporary: $!\n";
$ENV{TMPDIR} = $temporary;
my $database = home() . '/full.db';

my $scenario = file_of('full.lua', <<'END');
local ab = require "adaptra"
return ab.scenario {
   title = "Fills a disk",
   topology = ab.pipeline { stages = 2, hosts = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 2 },
   schedules = { "zb" },
   live = { speed = 2 },
   recovery = { checkpoint_every = 5 },
   iterations = 200, warmup = 0, seed = 1,
}
END

sub check_ended {
	my ($call, $want) = @_;
	ends_with_code($call, 4, 'fails the run');
	like($call->{err}, $want, 'with a sentence');
	is(scalar(() = $call->{err} =~ /\n/g), 1, 'and one alone');
	is(sql($database, 'PRAGMA integrity_check'), 'ok', 'the database is whole');
	is(sql($database, "SELECT count(*) > 0 AND count(DISTINCT iteration) = max(iteration) + 1 AND count(loss) = count(*) " .
		"FROM iteration JOIN run USING (run) WHERE mode = 'live'"), 1, 'with the iterations that ended');
	like(run_bench('report', "--store=$database")->{out}, qr/did not finish/, 'which can be reported');
	is(join(' ', glob "$temporary/*"), '', 'no temporary file is left');
}

# Two stages need 0.4 MB for a checkpoint each, and the next ones while those are there.
SKIP: {
	skip 'no right to mount a small disk', 8 if run_shell('unshare -m true')->{code} != 0;
	note('checkpoints on a disk that fills up');
	my $call = run_shell("unshare -m sh -c 'mount -t tmpfs -o size=700k none $temporary && " .
		"\$BENCH run $scenario --quiet --store=$database; code=\$?; ls $temporary >$database.left; exit \$code'");
	check_ended($call, qr/^\S+: zb failed: TMPDIR has to name a larger disk: no space is left for the checkpoint '\Q$temporary\E\S+', which takes \d/);
	is(sql($database, "SELECT status FROM run WHERE mode = 'live'"), 'failed', 'the run says that it failed');
	ok(-z "$database.left", 'nothing is left on that disk');
}

note('a database on a disk that fills up');
unlink glob "$database*";
check_ended(run_shell("ulimit -f 640; exec \$BENCH run $scenario --quiet --store=$database"),
	qr/^\S+: zb failed: cannot store .*'\Q$database\E': no space is left; what was stored before is kept$/);
done_testing();
