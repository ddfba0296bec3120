#!/usr/bin/perl
# live.t - a live run ends whatever is killed, keeps what it has recorded and leaves nothing behind.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Time::HiRes qw(sleep time);
use cli;

my $database = home() . '/killed.db';
my $temporary = home() . '/temporary';
mkdir $temporary or die "$temporary: $!\n";
$ENV{TMPDIR} = $temporary;

# Long enough to be killed in; slow enough for builds with sanitizers.
my $scenario = file_of('long.lua', <<'END');
local ab = require "adaptra"
return ab.scenario {
   title = "To be killed",
   topology = ab.pipeline { stages = 4, hosts = 2, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "zb" },
   recovery = { checkpoint_every = 1 },
   iterations = 400, warmup = 0, seed = 1,
}
END

sub children_of {
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/task/$pid/children" or return ();
	my $line = <$file>;
	return defined $line ? split(' ', $line) : ();
}

sub is_there { return -d "/proc/$_[0]" && (stat_of($_[0]) // 'Z') ne 'Z' }

sub stat_of {
	open my $file, '<', "/proc/$_[0]/stat" or return undef;
	my $line = <$file> // '';
	return $line =~ /\) (\S)/ ? $1 : undef;
}

# Every process that was started with this test's folder, but for the test itself: the program's, its
# children, theirs. Sockets and shared memory have no names, and go with the last of them.
sub processes { return grep { is_there($_) } processes_with(TMPDIR => $temporary) }

sub await_gone {
	for (1 .. 100 * slowness()) {
		return () if !processes();
		sleep 0.1;
	}
	return processes();
}

# What has a name and would stay: shared memory of the program's, or made by one of these processes;
# sockets with a path in this test's folder. Others' come and go.
sub names {
	my %is_maker = map { $_ => 1 } @_;
	my @segments = grep { $is_maker{ (split)[4] } } lines_of('/proc/sysvipc/shm');
	my @sockets = grep { m{\Q$temporary\E} } lines_of('/proc/net/unix');
	return glob('/dev/shm/*adaptra*'), @segments, @sockets;
}

sub lines_of {
	my ($path) = @_;
	open my $file, '<', $path or return ();
	my (undef, @lines) = <$file>;
	return @lines;
}

# Arguments of a live run.
sub run_of { return ('run', $scenario, '--speed=' . speed(2), "--store=$database", '--no-ops', '--quiet', @_) }

# Nothing after this could be checked.
sub give_up {
	my ($pid) = @_;
	kill KILL => $pid;
	die "the run that was to be killed said: " . finish_bench($pid)->{err};
}

my $finished = "FROM iteration JOIN run USING (run) WHERE mode = 'live' AND is_complete = 1";

# Start a live run and wait until some of its iterations are stored. Returns its process and its
# children's.
sub start_run {
	unlink glob "$database*";
	my $pid = start_bench(run_of());
	ok(await_sql($pid, $database, "SELECT count(*) > 0 FROM iteration JOIN run USING (run) WHERE mode = 'live'"),
	   'live iterations are stored meanwhile') or give_up($pid);
	my @children = children_of($pid);
	cmp_ok(scalar @children, '>=', 3, 'two workers and who removes the folder are running');
	return ($pid, @children);
}

# How many iterations are stored.
sub n_stored { return sql($database, "SELECT count(*) $finished") }

# n_before: iterations that were stored before it. The pids are the run's.
sub check_left {
	my ($name, $n_before, @pids) = @_;
	is(join(' ', await_gone()), '', "$name: no process is left");
	is(join(' ', glob "$temporary/*"), '', 'no file');
	is(join(' ', names(@pids)), '', 'no shared memory and no socket that has a name');
	is(sql($database, 'PRAGMA integrity_check'), 'ok', 'the database is whole');
	cmp_ok(n_stored(), '>=', $n_before > 0 ? $n_before : 1, 'and holds the iterations that ended before');
	is(sql($database, "SELECT count(*) $finished AND loss IS NULL"), 0, 'with their losses');
	is(sql($database, "SELECT count(DISTINCT iteration) = max(iteration) + 1 $finished"), 1, 'without a gap');
}

for my $signal ('INT', 'TERM') {
	my ($pid, @children) = start_run();
	my $n_before = n_stored();
	kill $signal => $pid;
	ends_with_code(finish_bench($pid), 130, "SIG$signal ends a live run with 130");
	is(sql($database, "SELECT status FROM run WHERE mode = 'live'"), 'interrupted', 'it is stored as interrupted');
	check_left("SIG$signal", $n_before, $pid, @children);
}

# Children killed, and as many coordinators.
my $n = $ENV{ADAPTRA_KILLS} || 3;
note('seed ', srand($ENV{ADAPTRA_SEED} // time));
# Who removes the folder leads a session of its own.
sub is_remover {
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/stat" or return 0;
	my @fields = split ' ', <$file> // '';
	return ($fields[5] // 0) == $pid;
}

# Nobody misses who removes the folder until the run ends, so that one is then interrupted.
for my $i (1 .. $n) {
	my ($pid, @children) = start_run();
	my $victim = $children[rand @children];
	my $is_missed = !is_remover($victim);
	sleep rand 0.3;
	my $n_before = n_stored();
	my $killed = time;
	kill KILL => $victim;
	kill INT => $pid if !$is_missed;
	my $call = finish_bench($pid);
	cmp_ok(time - $killed, '<', 20 * slowness(), "kill $i of a child: the run ends soon");
	is($call->{code}, $is_missed ? 4 : 130, 'with an exit code');
	like($call->{err}, $is_missed ? qr/the worker of stages \d to \d, replica 0, was killed by signal 9/
	                              : qr/interrupted/, 'and a reason');
	check_left("kill $i of a child", $n_before, $pid, @children);
}

for my $i (1 .. $n) {
	my ($pid, @children) = start_run();
	sleep rand 0.3;
	my $n_before = n_stored();
	kill KILL => $pid;
	finish_bench($pid);
	check_left("kill $i of the coordinator", $n_before, $pid, @children);
	my $report = run_bench('report', "--store=$database");
	ends_with_code($report, 0, 'what there is can be reported');
}

# There is no place for checkpoints on a disk that is full; /dev/full has none for anything.
$ENV{TMPDIR} = '/dev/full';
my $call = run_bench(run_of('--iterations=3'));
cmp_ok($call->{code}, '!=', 0, 'without a place for checkpoints there is no live run');
like($call->{err}, qr/cannot make a folder for checkpoints in '\/dev\/full'/, 'and the reason names it');
done_testing();
