#!/usr/bin/perl
# run.t - the runner of virtual machines: what a command sees there, and that nothing of it stays.
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use vm;

# Printed by the command in the guest.
my $script = <<'END';
printf 'argument <%s>\n' "$@"
echo "in $(pwd) as $(id -u) with $ADAPTRA_WORD on $(uname -r)"
echo 'to stderr' >&2
echo interfaces $(ls /sys/class/net)
read -r line && echo "read $line"
echo more >>Makefile && touch /usr/left && echo 'wrote everywhere'
head -c 3000000 /dev/zero | tr '\0' x
exit 7
END

# How many virtual machines of this test there are: their runner's folder is in the command line.
sub n_guests {
	my $folder = home();
	my $n = 0;

	for my $path (glob '/proc/[0-9]*/cmdline') {
		open my $file, '<', $path or next;
		local $/;
		my $line = <$file>;
		$n++ if defined $line && $line =~ /^qemu.*\Q$folder\E/s;
	}
	return $n;
}

# Until there are so many; false: it took too long.
sub await_guests {
	my ($n) = @_;

	for (1 .. 600) {
		return 1 if n_guests() == $n;
		select undef, undef, undef, 0.1;
	}
	return 0;
}

sub mistakes {
	for my $arguments (['-x'], ['-t'], [], ['-t', 'soon', 'true'], ['-m', 0, 'true']) {
		my $call = run_guest(@$arguments);
		is($call->{code}, $vm::code{usage}, "'@$arguments' cannot be understood");
		like($call->{err}, qr/^run\.sh: .{15}/, 'and that is said');
	}
}

# A machine on which there is nothing but what the first lines need.
sub bare_machine {
	my $folder = tempdir(CLEANUP => 1);

	for my $name (qw(bash dirname realpath)) {
		my ($path) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};
		symlink $path, "$folder/$name" or die "$folder/$name: $!\n";
	}
	local $ENV{PATH} = $folder;
	my $call = run_guest('true');
	is($call->{code}, $vm::code{not_here}, 'without qemu there is no virtual machine');
	like($call->{err}, qr/apt-get install qemu-system-x86/, 'and what to install is said');
}

sub command {
	my $makefile = text_of(source_root() . '/Makefile');
	my ($release) = text_of('/proc/sys/kernel/osrelease') =~ /(\S+)/;
	my $folder = getcwd();

	local $ENV{ADAPTRA_WORD} = q(it's "so" $HOME);
	my $call = needs_guest(run_guest('-M', 'sch_netem,dummy', 'bash', '-c', $script, 'bash',
	                                 'two words', q(it's)));
	is($call->{code}, 7, 'a command ends as it does');
	like($call->{out}, qr/^argument <two words>\nargument <it's>\n/, 'its arguments are kept');
	is($call->{out} =~ s/x{9,}//g && length $&, 3000000, 'all of its output arrives');
	is($call->{err}, "to stderr\n", 'and stderr apart from it, nothing else');
	like($call->{out}, qr/^in \Q$folder\E as 0 with it's "so" \$HOME on (?!\Q$release\E)/m,
	     'it runs as root in this folder, with the environment, on another kernel');
	like($call->{out}, qr/^interfaces.* dummy0\b/m, 'modules were loaded');
	unlike($call->{out}, qr/^read/m, 'there is nothing to read');
	like($call->{out}, qr/^wrote everywhere$/m, 'it may write everywhere');
	ok(!-e '/usr/left', 'which this machine does not see');
	is(text_of(source_root() . '/Makefile'), $makefile, 'nor is a file changed');
}

sub unhappy_ends {
	my $call = run_guest('-M', 'no_such_module', 'true');
	is($call->{code}, $vm::code{lost}, 'a module that is missing is no command that failed');
	is($call->{err}, "run.sh: the guest's kernel has no module no_such_module\n", 'and is named');
	$call = run_guest('-t', 2, 'sleep', 1000);
	is($call->{code}, $vm::code{late}, 'a limit ends it');
	is($call->{err}, "run.sh: the command did not end within 2 s\n", 'and that is said');
}

sub killed {
	my ($signal) = @_;
	my $pid = start_guest('sleep', 1000);

	ok(await_guests(1), 'a guest runs');
	kill $signal => $pid;
	waitpid $pid, 0;
	ok(await_guests(0), "and is gone with its runner, by SIG$signal");
}

mistakes();
bare_machine();
command();
unhappy_ends();
killed('KILL');
killed('TERM');
done_testing();
