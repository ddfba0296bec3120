#!/usr/bin/perl
# doctor.t - what doctor says of a machine, and what it does about journals.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;

my $doctor = run_bench('doctor');
ends_with_code($doctor, 0, 'doctor');
my @names = map { /^.{4}(\S.{10}) \S/ ? $1 =~ s/ +$//r : () } split /\n/, $doctor->{out};
is($names[0], 'results', 'what matters most comes first');
my %place = map { $names[$_] => $_ } 0 .. $#names;
ok(defined $place{$_}, "there is a line on: $_")
	for 'data folder', 'CPU cores', 'timers', 'rights', 'namespaces', 'injectors', 'RDMA', 'GPU', 'exchanges', 'libraries';
ok($place{'CPU cores'} < $place{injectors} && $place{injectors} < $place{compiler},
   'what runs depend on, then faults, then versions');
is(join('|', grep { length > 80 } split /\n/, $doctor->{out}), '', 'it fits 80 columns');
cmp_ok(scalar(split /\n/, $doctor->{out}), '<=', 32, 'and nearly a screen, whatever is missing');
like($doctor->{out}, qr/^ok   ?CPU cores +\d+ for this process|^no  CPU cores/m, 'cores are counted');
like($doctor->{out}, qr/^(?:ok|no)  timers +resolution \d.*, slack \d.*; a sleeper wakes \S+ [num]?s\s+late/ms,
     'timers are tried');
for my $line (grep { /^no  / } split /\n(?! )/, $doctor->{out}) {
	like($line, qr/;|:/, 'what is missing comes with what it costs: ' . substr($line, 4, 11));
}
SKIP: {
	skip 'without libnl nothing of the kernel is tried', 4
		if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_NETLINK\b/;
	like($doctor->{out}, qr/^(?:ok  $_ +the kernel|no  $_ +(?:not in this kernel:|cannot be tried))/m,
	     "queueing discipline $_ is tried") for qw(netem tbf htb);
	like($doctor->{out}, qr/^    injectors +in a lab .*link.*shaped; elsewhere shaped/m,
	     'and injectors are named that can act');
}

# Neither root nor mapped to anybody, so without namespaces, and without a place for journals.
SKIP: {
	skip 'no user namespace can be made here', 7 if system('unshare --user true 2>/dev/null');
	my $call = run_shell('unset XDG_RUNTIME_DIR; unshare --user "$BENCH" doctor');
	ends_with_code($call, 0, 'doctor for a user without rights');
	like($call->{out}, qr/^no  rights .*a lab takes a\s+user namespace/ms, 'says what labs take then');
	like($call->{out}, qr/^no  namespaces .*run as root, or allow user namespaces .*is refused/ms, 'and how to allow it');
	cmp_ok(scalar(split /\n/, $call->{out}), '<=', 32, 'on nearly a screen');
	skip 'without libnl nothing of the kernel is tried', 3
		if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_NETLINK\b/;
	like($call->{out}, qr/^no  journals +XDG_RUNTIME_DIR is not set.*netns is refused$/ms, 'that a lab takes a place for its journal');
	like($call->{out}, qr/^no  netem +cannot be tried: that takes a namespace$/m, 'what cannot be tried');
	like($call->{out}, qr/^    injectors +shaped, which needs no right; the others act in a lab$/m, 'and what is left');
}

# Root in a user namespace, where the limit can be set without anybody else being hurt.
SKIP: {
	my $call = run_shell('unshare --user --map-root-user sh -c \'' .
		'echo 0 2>/dev/null >/proc/sys/user/max_net_namespaces || exit 77; exec "$BENCH" doctor\'');
	skip 'no limit of namespaces can be set here', 1 if $call->{code};
	like($call->{out}, qr/^no  namespaces +no more namespaces are allowed here; sysctl\s.*max_net_namespaces\s+say how\s+many/ms,
	     'a limit of namespaces is named');
}

my $undo = run_bench('doctor', '--undo');
ends_with_code($undo, 0, 'doctor --undo');
is($undo->{out}, "There is nothing to undo.\n", 'says that there is nothing');
like($undo->{err}, qr/^next: adaptra-bench doctor$/m, 'and what comes next');
mkdir "$runtime/adaptra-bench" or die "$runtime: $!\n";
file_of('runtime/adaptra-bench/1-0.journal', "no journal at all\nand more of it\n");
says(run_bench('doctor', '--undo', '--quiet'), 3, qr/1-0\.journal' is damaged; .*remove the file/,
     'a damaged journal is named, and left to its user');
like(run_bench('doctor')->{out}, qr/^no  left over +line 1 of the\s+journal\s.*damaged/ms, 'doctor alone names it, too');
says(run_bench('sim', smoke(), '--undo'), 2, qr/sim does not take --undo/, 'only doctor undoes');
done_testing();
