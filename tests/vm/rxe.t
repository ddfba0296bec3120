#!/usr/bin/perl
# rxe.t - RDMA devices in software, as rxe.sh makes them: messages cross the wire of their pair.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use vm;

my $n_pairs = 3;

# Every line says what was found; the other end of a conversation may not listen yet.
my $script = <<'END';
. tests/vm/rxe.sh

talk() {
	local pair=$1 gid=$2 code=1 try

	ibv_rc_pingpong -e -d "rxb$pair" -g "$gid" -n 50 >/dev/null &
	for try in 1 2 3 4 5 6 7 8 9 10; do
		ibv_rc_pingpong -e -d "rxa$pair" -g "$gid" -n 50 localhost >/dev/null 2>&1
		code=$?
		[ $code = 0 ] && break
		sleep 0.3
	done
	kill $! 2>/dev/null
	wait
	echo "talk $pair $gid $code"
}

count() {
	local end n

	for end in va vb; do
		read -r n </sys/class/net/$end$1/statistics/tx_packets
		echo "packets $end$1 $n"
	done
}

rxe_pairs "$1" 4200 || exit 1
for ((i = 0; i < $1; i++)); do
	for end in a b; do
		ibv_devinfo -d "rx$end$i" | sed -n "s/^.*\(state\|active_mtu\):[[:space:]]*\(.*\)/rx$end$i \1 \2/p"
	done
done
talk 0 0
talk 0 1
talk 2 1
for ((i = 0; i < $1; i++)); do
	count "$i"
done
ip link set va2 down
ip link set va2 up
rxe_routes 2 && rxe_await_address rxa2 && rxe_await_address rxb2 && talk 2 1
END

plan skip_all => 'ibv_devinfo is missing; apt-get install ibverbs-utils ibverbs-providers'
	if !grep { -x "$_/ibv_devinfo" } split /:/, $ENV{PATH};
chdir source_root() or die source_root() . ": $!\n";
my $call = needs_guest(run_guest('-t', 200, 'bash', '-c', $script, 'bash', $n_pairs));
is($call->{code}, 0, 'there are pairs of devices') or diag($call->{err});
my $out = $call->{out};
for my $device (map { ("rxa$_", "rxb$_") } 0 .. $n_pairs - 1) {
	like($out, qr/^$device state PORT_ACTIVE/m, "$device is active");
	like($out, qr/^$device active_mtu 4096/m, 'with the largest packets');
}
like($out, qr/^talk 0 0 0$/m, 'ends talk by link-local addresses');
like($out, qr/^talk 0 1 0$/m, 'and by their own');
my %packets = $out =~ /^packets (\w+) (\d+)$/mg;
cmp_ok($packets{$_} || 0, '>', 100, "their packets leave $_") for qw(va0 vb0 va2 vb2);
cmp_ok($packets{$_} || 1e9, '<', 100, "and not $_") for qw(va1 vb1);
is(scalar(() = $out =~ /^talk 2 1 0$/mg), 2, 'a link that was down comes back')
	or diag($out, $call->{err});
done_testing();
