#!/usr/bin/perl
# live.t - one scenario file on all that can carry it: workers that hold messages, and namespaces, here;
# namespaces with netem, and RDMA, in a virtual machine. Reports name their backends, and training is
# the same. Nothing is left in the guest.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../cli";
use Test::More;
use cli qw(run_bench json_of ends_with_code);
use vm;

# The same device everywhere, one that computes as fast as it can: an emulated processor takes 10 ms for
# what others do in 20 us.
my @run = ('run', 'tests/vm/slow_and_down.lua', '--device=cpu', '--json');

# A run of the guest: its words, the injector that its report names, how its first line goes on.
my %guest_runs = (
	shaped => ['', qr/transport tcp, injector shaped/, qr/transport tcp; .*; lab none; injector shaped /],
	netem => ['--lab=netns --injector=auto', qr/transport tcp, injector netem/,
	          qr/transport tcp; .*; lab netns; injector netem: delays by netem, RNICs by link$/],
	verbs => ['--transport=verbs --rdma-device=rx{side}{link},rx{side}{link}', qr/transport verbs, injector shaped/,
	          qr/transport verbs.*; lab none; injector shaped /],
);
my @order = (qw(shaped netem), missing_for_verbs() ? () : 'verbs');

# Prints, for each run, its exit status, stdout, and the first line of stderr; the times of the messages
# that were slow; and what is left.
my $script = <<'END_OF_SCRIPT';
export XDG_RUNTIME_DIR=/run/bench XDG_DATA_HOME=/run/bench OPENBLAS_CORETYPE=Nehalem
mkdir /run/bench
run() {
	local name=$1
	shift
	"$ADAPTRA_BENCH" "$@" --store="/run/bench/$name.db" >/run/bench/out 2>/run/bench/err
	echo "= run $name $?"
	cat /run/bench/out
	echo "= err"
	cat /run/bench/err
	echo "= took"
	sqlite3 "/run/bench/$name.db" "SELECT schedule || ' ' || printf('%.3f', min(arrive_ns - start_ns) / 1e6) FROM message
		JOIN run USING (run) WHERE mode = 'live' AND from_stage = 1 AND to_stage = 2 AND iteration IN (1, 2) GROUP BY run"
}
left() {
	echo "= left $1"
	echo /sys/class/net/*
	readlink /proc/[0-9]*/ns/net | sort -u | wc -l
	echo /run/bench/adaptra-bench/*
}
left before
END_OF_SCRIPT

sub guest_script {
	my $text = $script;
	for my $name (@order) {
		$text .= "left after\n. tests/vm/rxe.sh && rxe_pairs 3 4200 || exit 1\n" if $name eq 'verbs';
		$text .= "run $name @run $guest_runs{$name}[0]\n";
	}
	return $text;
}

# What stands between lines that begin with "= ", by those.
sub parts_of {
	my ($out) = @_;
	my (%parts, $run, $key);
	for my $line (split /^/, $out) {
		if ($line =~ /^= (run) (\w+) (\d+)$/) {
			$run = $2;
			$parts{"$run code"} = $3;
			$key = "$run out";
		} elsif ($line =~ /^= left (\w+)$/) {
			$key = "left $1";
		} elsif ($line =~ /^= (\w+)$/) {
			$key = "$run $1";
		} elsif (defined $key) {
			$parts{$key} .= $line;
		}
	}
	return %parts;
}

my %digests;

# A report's backends and outcome, whatever it was that ran.
sub check_report {
	my ($name, $document, $backends) = @_;
	like($document->{backends}, qr/^device cpu, $backends$/, "$name: the report names its backends");
	is(join(' ', map { "$_->{name} $_->{status} $_->{restarts}" } @{ $document->{schedules} }), '1f1b done 1 zb-cpu done 0',
	   "$name: the stream plane starts again, delegates do not");
	push @{ $digests{ $_->{loss_digest} } }, "$name $_->{name}" for @{ $document->{schedules} };
}

sub check_here {
	my ($name, $backends, @options) = @_;
	my $call = run_bench(@run, @options, '--store=' . cli::home() . "/$name.db");
	if (@options && $call->{code} == 3) {
		note("$name is not here: $call->{err}");
		return;
	}
	check_report($name, json_of($call, "$name: a run here"), $backends);
}

sub check_guest {
	my ($name, %parts) = @_;
	my (undef, $backends, $first) = @{ $guest_runs{$name} };
	is($parts{"$name code"}, 0, "$name: a run in the guest") or return diag($parts{"$name out"}, $parts{"$name err"});
	my $document = JSON::PP::decode_json($parts{"$name out"});
	check_report($name, $document, $backends);
	like((split /\n/, $parts{"$name err"})[0], $first, "$name: and so does the first line");
	my %took = split ' ', $parts{"$name took"};
	ok($took{$_} >= 30, "$name, $_: a message takes the delay: $took{$_} ms at least") for '1f1b', 'zb-cpu';
	return $document;
}

# Two pairs of devices for each link, whose upper and lower stages have an end each.
sub check_rnics {
	my ($document, $first) = @_;
	my $one = qr/rx[ab]\d port 1, GID \d+ 10\.9\.\d\.[12], MTU 4096/;
	like($first, qr/transport verbs \(rail 0: $one and $one; \d+ more\); /, 'verbs: the first line names RNICs');
	like($document->{rnics}, qr/^rail 0: $one(?: and $one){5}; rail 1: $one(?: and $one){5}$/, 'and the report all of them');
}

chdir source_root() or die source_root() . ": $!\n";
plan skip_all => 'without libnl (apt-get install libnl-3-dev) there is no lab'
	if ($ENV{ADAPTRA_CFLAGS} || '-DHAVE_NETLINK') !~ /-DHAVE_NETLINK\b/;
# The library of matrix products adds in an order that it chooses for the processor; here one for all.
$ENV{OPENBLAS_CORETYPE} = 'Nehalem';
local $ENV{ADAPTRA_BENCH} = cli::program();
my $call = needs_guest(run_guest('-t', 500, '-m', 2048, 'bash', '-c', guest_script()));
is($call->{code}, 0, 'the guest comes to its end') or diag($call->{err});
my %parts = parts_of($call->{out});
my %documents = map { $_ => check_guest($_, %parts) } @order;
check_rnics($documents{verbs}, (split /\n/, $parts{'verbs err'})[0]) if $documents{verbs};
for my $schedule (@{ $documents{netem}{schedules} }) {
	my $facts = $schedule->{facts};
	cmp_ok($facts->{packets}, '>', 0, "netem, $schedule->{name}: packets were delayed");
	is($facts->{dropped}, 0, 'and none was dropped');
	is($facts->{outages}, 1, 'the RNIC went down');
	cmp_ok($facts->{recover_max_ms}, '>=', 400, 'which was not overcome before a restart or a fail-over');
}
is($parts{'left after'}, $parts{'left before'}, 'nothing is left of a lab');
check_here('shaped here', qr/transport tcp, injector shaped/);
check_here('a lab here', qr/transport tcp, injector (?:relay|netem)/, '--lab=netns');
# The guest's processor multiplies and adds at once; one that cannot sums up other bits.
is(scalar keys %digests, 1, 'losses are bit for bit the same everywhere') || diag(explain(\%digests))
	if text_of('/proc/cpuinfo') =~ /^flags.* fma /m;
done_testing();
