# rxe.sh - RDMA devices in software, in pairs that are joined by a virtual wire each.
# shellcheck shell=bash
#
# To be sourced as root in a guest. Pair I is one link: devices rxaI and rxbI on the ends vaI and vbI
# of its wire, with addresses 10.9.I.1 and 10.9.I.2. A pipeline of 4 stages has links 0 to 2; stage s
# has rxb(s-1) towards the one before and rxa(s) towards the next. All of them are in the guest's
# first network namespace, since kernels up to 6.12 take a device's packets from there only; so
# processes share it, while what one end sends does cross the wire, and queueing disciplines on vaI
# and vbI are felt:
#  - by GID index 0, which is link-local and so belongs to one device, as it is;
#  - by index 1, the address above, because of the rules made here; without them both ends would be
#    one machine's own addresses, and no queue pair get ready to receive.
# Needs ip and rdma (iproute2).

RXE_TABLE=109
RXE_WAIT_STEPS=100 # of 0.1 s

# rxe_pairs N [MTU] - pairs 0 to N - 1. An MTU of 4200 or more lets devices have one of 4096.
rxe_pairs() {
	local n=$1 mtu=${2:-1500} i

	modprobe -a veth rdma_rxe ib_uverbs rdma_ucm || return
	# Starting a program takes long in a guest, so a few of them do everything.
	for ((i = 0; i < n; i++)); do
		echo "link add va$i mtu $mtu type veth peer name vb$i mtu $mtu"
	done | ip -batch - || return
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	for ((i = 0; i < n; i++)); do
		rxe_end_settings "va$i" "vb$i" || return
	done
	{
		# What concerns a wire is looked up before what is this machine's own.
		echo 'rule add pref 10 lookup local'
		echo 'rule del pref 0'
		for ((i = 0; i < n; i++)); do
			rxe_pair_lines "$i"
		done
	} | ip -batch - || return
	for ((i = 0; i < n; i++)); do
		printf 'link add rx%s%d type rxe netdev v%s%d\n' a "$i" a "$i" b "$i" b "$i"
	done | rdma -b - || return
	for ((i = 0; i < n; i++)); do
		rxe_await_address "rxa$i" && rxe_await_address "rxb$i" || return
	done
}

# Packets from this machine's own addresses are welcome on these interfaces, and link-local addresses
# are there without a wait for whether somebody else has them.
rxe_end_settings() {
	local end

	for end in "$@"; do
		echo 0 >"/proc/sys/net/ipv4/conf/$end/rp_filter" &&
			echo 1 >"/proc/sys/net/ipv4/conf/$end/accept_local" &&
			echo 1 >"/proc/sys/net/ipv4/conf/$end/arp_ignore" &&
			echo 0 >"/proc/sys/net/ipv6/conf/$end/accept_dad" || return
	done
}

rxe_pair_lines() {
	cat <<-END
		rule add pref 1 iif va$1 lookup local
		rule add pref 1 iif vb$1 lookup local
		rule add pref 2 from 10.9.$1.1 to 10.9.$1.2 lookup $RXE_TABLE
		rule add pref 2 from 10.9.$1.2 to 10.9.$1.1 lookup $RXE_TABLE
		address add 10.9.$1.1/24 dev va$1
		address add 10.9.$1.2/24 dev vb$1
		link set va$1 up
		link set vb$1 up
	END
	rxe_route_lines "$1"
}

rxe_route_lines() {
	echo "route replace 10.9.$1.2 dev va$1 src 10.9.$1.1 table $RXE_TABLE"
	echo "route replace 10.9.$1.1 dev vb$1 src 10.9.$1.2 table $RXE_TABLE"
}

# rxe_routes I - again after an end of pair I was down, since routes go with their interface.
rxe_routes() {
	rxe_route_lines "$1" | ip -batch -
}

# A device learns its interface's addresses, and that there is a carrier, a moment later.
rxe_await_address() {
	local port=/sys/class/infiniband/$1/ports/1 state first second step

	for ((step = 0; step < RXE_WAIT_STEPS; step++)); do
		read -r state <"$port/state" && read -r first <"$port/gids/0" &&
			read -r second <"$port/gids/1" && [[ $state = *ACTIVE ]] &&
			[[ $first = *[1-9a-f]* ]] && [[ $second = *[1-9a-f]* ]] && return
		sleep 0.1
	done
	echo "device $1 has no address after $((RXE_WAIT_STEPS / 10)) s" >&2
	return 1
}
