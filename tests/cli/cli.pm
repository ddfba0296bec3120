# cli.pm - what the transcripts share: a data folder of their own, calls of the program, databases.
package cli;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP ();
use POSIX ();
use Test::More;

our @EXPORT = qw(home source_root text_of file_of run_bench run_shell start_bench
                 finish_bench ends_with_code says json_of sql await_sql smoke scenario_of build
                 speed pace slowness processes_with has_ended);

my $home = tempdir(CLEANUP => 1);

# A folder that is this test's alone, for results and whatever else it writes.
sub home { return $home }

sub source_root { return $ENV{ADAPTRA_SOURCE} || abs_path(dirname(__FILE__) . '/../..') }

sub program { return $ENV{ADAPTRA_BENCH} || source_root() . '/adaptra-bench' }

# Which build is tested: release, debug, asan, tsan.
sub build { return $ENV{ADAPTRA_VARIANT} || 'release' }

# How much longer things take, in this build and on this machine.
sub slowness {
	my $machine = $ENV{ADAPTRA_TEST_SLOW} || 1;
	return (build() eq 'tsan' ? 20 : 1) * ($machine > 1 ? $machine : 1);
}

# A live speed that this build can hold where a release, or one under the address sanitizer, holds that
# one: the model must not take more than a tenth of an op.
sub speed { my ($speed) = @_; return $speed / slowness() }

# How a live run's lines say that speed.
sub pace {
	my ($speed) = @_;
	return 'as fast as the profile' if $speed == 1;
	return sprintf '%.4g times %s than the profile', $speed > 1 ? ($speed, 'faster') : (1 / $speed, 'slower');
}

sub text_of {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$file>;
	return defined $text ? $text : '';
}

# Processes, but for this one, that were started with this variable.
sub processes_with {
	my ($name, $value) = @_;
	my @found;
	for my $environment (glob '/proc/[0-9]*/environ') {
		my ($pid) = $environment =~ m{/(\d+)/};
		open my $file, '<', $environment or next;
		local $/;
		push @found, $pid if $pid != $$ && (<$file> // '') =~ /(?:^|\0)\Q$name=$value\E(?:\0|$)/;
	}
	return @found;
}

# A file in the home with this text; returns its path.
sub file_of {
	my ($name, $text) = @_;
	open my $file, '>', "$home/$name" or die "$home/$name: $!\n";
	print $file $text;
	close $file or die "$home/$name: $!\n";
	return "$home/$name";
}

# What every call sees, whatever the machine that tests is set to.
sub set_environment {
	delete @ENV{qw(COLUMNS NO_COLOR LANG LC_CTYPE ADAPTRA_SCRIPT_SECONDS)};
	$ENV{LC_ALL} = 'C';
	$ENV{TERM} = 'xterm';
	$ENV{XDG_DATA_HOME} = $home;
}

sub become {
	my (@words) = @_;
	open STDIN, '<', '/dev/null';
	open STDOUT, '>', "$home/stdout";
	open STDERR, '>', "$home/stderr";
	exec @words or POSIX::_exit(127);
}

# Start the program; finish_bench() waits for it.
sub start_bench {
	my (@arguments) = @_;
	my $pid = fork;
	die "fork: $!\n" if !defined $pid;
	become(program(), @arguments) if $pid == 0;
	return $pid;
}

# Wait for the process; one that takes longer than two minutes is killed and has failed.
sub finish_bench {
	my ($pid) = @_;
	my $limit_s = POSIX::ceil(120 * slowness());
	my $is_late = 0;
	local $SIG{ALRM} = sub { $is_late = 1; kill KILL => $pid };

	alarm $limit_s;
	1 while waitpid($pid, 0) == -1 && $!{EINTR};
	my $status = $?;
	alarm 0;
	ok(!$is_late, "a call ends within $limit_s s") if $is_late;
	$? = $status;
	return {
		code => $? & 127 ? 128 + ($? & 127) : $? >> 8,
		out => text_of("$home/stdout"),
		err => text_of("$home/stderr"),
	};
}

sub run_bench { return finish_bench(start_bench(@_)) }

# The same through a shell, where $BENCH is the program.
sub run_shell {
	my ($script) = @_;
	my $pid = fork;
	die "fork: $!\n" if !defined $pid;
	if ($pid == 0) {
		$ENV{BENCH} = program();
		become('bash', '-c', $script);
	}
	return finish_bench($pid);
}

sub ends_with_code {
	my ($call, $want, $name) = @_;
	return is($call->{code}, $want, $name) ||
		diag("stdout: $call->{out}\nstderr: $call->{err}");
}

# The call ended with this code, said this on stderr and nothing on stdout.
sub says {
	my ($call, $code, $want, $name) = @_;
	subtest $name => sub {
		plan tests => 3;
		ends_with_code($call, $code, "it ends with $code");
		like($call->{err}, $want, 'it says so on stderr');
		is($call->{out}, '', 'stdout stays empty');
	};
}

# The call's JSON document; its exit code is checked.
sub json_of {
	my ($call, $name) = @_;
	my $document = eval { JSON::PP->new->utf8->decode($call->{out}) };
	ok($call->{code} == 0 && $document, $name) or
		diag("code $call->{code}, $@\n$call->{out}\n$call->{err}");
	return $document || {};
}

# The answer, or undef where there is none.
sub answer_of {
	my ($database, $query) = @_;
	open my $pipe, '-|', 'sqlite3', '-cmd', '.timeout 5000', $database, $query
		or die "sqlite3: $!\n";
	local $/;
	my $text = <$pipe> // '';
	close $pipe or return undef;
	$text =~ s/\n\z//;
	return $text;
}

# A query without an answer ends the test: no answer would be equal to another one.
sub sql {
	my ($database, $query) = @_;
	return answer_of($database, $query) // die "sqlite3 cannot answer: $query\n";
}

# Ask again and again until the answer is 1, while there may be no database yet. False: it was not,
# within half a minute or before the process ended.
sub await_sql {
	my ($pid, $database, $query) = @_;
	for (1 .. 600 * slowness()) {
		return 0 if has_ended($pid);
		return 1 if -e $database && (quietly(sub { answer_of($database, $query) }) // '') eq '1';
		select undef, undef, undef, 0.05;
	}
	return 0;
}

# Whether a child has ended; finish_bench() still gets its status.
sub has_ended {
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/stat" or return 1;
	return (<$file> // '') =~ /\) Z /;
}

# What is said on stderr meanwhile is nobody's business.
sub quietly {
	my ($code) = @_;
	open my $kept, '>&', \*STDERR or die "stderr: $!\n";
	open STDERR, '>', '/dev/null' or die "/dev/null: $!\n";
	my $result = $code->();
	open STDERR, '>&', $kept or die "stderr: $!\n";
	return $result;
}

sub smoke { return source_root() . '/scenarios/smoke.lua' }

# A scenario of two stages, with these lines in place of, or besides, its own.
sub scenario_of {
	my ($name, %changes) = @_;
	my %lines = (
		title => '"Two stages"', topology => 'ab.pipeline { stages = 2 }',
		workload => 'ab.profile "uniform-10ms" { microbatches = 4 }',
		schedules => '{ "1f1b", "adaptra" }', iterations => 10, warmup => 1, %changes,
	);
	my $fields = join '', map { "   $_ = $lines{$_},\n" } sort keys %lines;
	return file_of($name, "local ab = require \"adaptra\"\nreturn ab.scenario {\n$fields}\n");
}

set_environment();
chdir source_root() or die source_root() . ": $!\n";

1;
