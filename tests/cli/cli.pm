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

our @EXPORT = qw(home source_root file_of run_bench run_shell start_bench finish_bench
                 ends_with_code says json_of sql smoke scenario_of);

my $home = tempdir(CLEANUP => 1);

# A folder that is this test's alone, for results and whatever else it writes.
sub home { return $home }

sub source_root { return $ENV{ADAPTRA_SOURCE} || abs_path(dirname(__FILE__) . '/../..') }

sub program { return $ENV{ADAPTRA_BENCH} || source_root() . '/adaptra-bench' }

sub text_of {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$file>;
	return defined $text ? $text : '';
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

sub finish_bench {
	my ($pid) = @_;
	waitpid $pid, 0;
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

sub sql {
	my ($database, $query) = @_;
	open my $pipe, '-|', 'sqlite3', $database, $query or die "sqlite3: $!\n";
	local $/;
	my $text = <$pipe>;
	close $pipe;
	$text =~ s/\n\z// if defined $text;
	return $text;
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
