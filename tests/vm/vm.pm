# vm.pm - what the tests in virtual machines share: calls of the runner, and programs' checks.
package vm;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

our @EXPORT = qw(home source_root run_guest start_guest text_of needs_guest
                 checks_in_guest missing_for_verbs);

# The runner's own exit status, as the head of run.sh lists them.
our %code = (usage => 121, not_here => 122, lost => 123, late => 124);

my $home = tempdir(CLEANUP => 1);

# A folder that is this test's alone.
sub home { return $home }

sub source_root { return $ENV{ADAPTRA_SOURCE} || abs_path(dirname(__FILE__) . '/../..') }

sub runner { return source_root() . '/tests/vm/run.sh' }

sub text_of {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$file>;
	return defined $text ? $text : '';
}

# Start the runner with these arguments, stdout and stderr to $home/out and $home/err; its process.
# What it leaves behind when it is killed would be in $home.
sub start_guest {
	my (@arguments) = @_;
	my $pid = fork();

	die "fork: $!\n" if !defined $pid;
	return $pid if $pid;
	$ENV{TMPDIR} = $home;
	open STDOUT, '>', "$home/out" or die "$home/out: $!\n";
	open STDERR, '>', "$home/err" or die "$home/err: $!\n";
	exec runner(), @arguments or die runner() . ": $!\n";
}

# Run it to its end: code (minus the signal that ended it), out, err.
sub run_guest {
	my $pid = start_guest(@_);

	waitpid $pid, 0;
	return { code => $? & 127 ? -($? & 127) : $? >> 8,
	         out => text_of("$home/out"), err => text_of("$home/err") };
}

# The outcome of a call; ends the test, skipped with the runner's reason, where no guest can be had.
sub needs_guest {
	my ($call) = @_;

	plan skip_all => "no virtual machine: $1"
		if $call->{code} == $code{not_here} && $call->{err} =~ /run\.sh: (.*)/s;
	return $call;
}

# What transport verbs lacks in this build or on this machine, in a sentence; '': nothing.
sub missing_for_verbs {
	return 'without libibverbs (apt-get install libibverbs-dev) there is no transport verbs'
		if ($ENV{ADAPTRA_CFLAGS} || '-DHAVE_VERBS') !~ /-DHAVE_VERBS\b/;
	return 'ibverbs-providers (apt-get install ibverbs-providers) is missing: no device can be used'
		if !grep { glob "$_/libibverbs/librxe-rdmav*.so" } '/usr/lib', glob '/usr/lib/*-linux-gnu*';
	return '';
}

# Runs programs that speak TAP one after another; what they print stands between lines of its own.
my $driver = <<'END';
for program; do
	echo "= begin ${program##*/}"
	timeout -k 5 400 "$program"
	echo "= end $?"
done
END

# One line of a program's output. $state: program, n_checks, plan.
sub take_line {
	my ($line, $state) = @_;
	my $builder = Test::More->builder;

	if ($line =~ /^= begin (.*)/) {
		%$state = (program => $1, n_checks => 0, plan => -1);
		note("in the guest: $1");
	} elsif ($line =~ /^= end (\d+)/) {
		is($1, 0, "$state->{program} ends with 0");
		is($state->{n_checks}, $state->{plan}, 'after as many checks as it planned');
	} elsif ($line =~ /^1\.\.(\d+)(?: # SKIP (.*))?/) {
		$state->{plan} = $1;
		$builder->skip("$state->{program}: $2") if defined $2;
	} elsif ($line =~ /^(not )?ok \d+(?: - (.*?))?(?: # SKIP (.*))?$/) {
		$state->{n_checks}++;
		defined $3 ? $builder->skip($3) : ok(!$1, "$state->{program}: $2");
	} elsif ($line =~ s/^# ?//) {
		note($line);
	}
}

# Run test programs in one guest, with these options of the runner; each of their checks counts as one
# of this test.
sub checks_in_guest {
	my ($options, @programs) = @_;
	my %state;
	my $n_ended = 0;

	local $ENV{ADAPTRA_TEST_SLOW} = $ENV{ADAPTRA_TEST_SLOW} || 4;
	my $call = needs_guest(run_guest(@$options, 'bash', '-c', $driver, 'bash', @programs));
	for my $line (split /\n/, $call->{out}) {
		take_line($line, \%state);
		$n_ended += $line =~ /^= end/;
	}
	is($n_ended, scalar @programs, 'every program came to its end');
	is($call->{code}, 0, 'and so did the guest');
	diag($call->{err}) if $call->{err} ne '';
}

1;
