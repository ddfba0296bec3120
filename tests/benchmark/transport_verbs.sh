#!/usr/bin/env bash
# transport_verbs.sh - transport_verbs over two RDMA devices in software, in a virtual machine.
#
# On a machine with devices of its own run transport_verbs by itself, with ADAPTRA_TEST_RDMA. Whatever
# else runs here takes time from the emulated processor, of either side as much.
set -uo pipefail

source=$(dirname "$(dirname "$(dirname "$(realpath "$0")")")")
build=${ADAPTRA_BUILD:-$source/build/release}

if ! [ -x "$build/tests/benchmark/transport_verbs" ]; then
	echo "transport_verbs is not built; run 'make benchmark T=transport_verbs'" >&2
	exit 1
fi
cd "$source" || exit
ADAPTRA_TEST_RDMA='rx{side}0' tests/vm/run.sh -t 300 -- bash -c '
	. tests/vm/rxe.sh && rxe_pairs 1 4200 && exec "$0"' "$build/tests/benchmark/transport_verbs"
code=$?
# 122: there can be no virtual machine here, as run.sh has said.
[ $code = 122 ] || exit $code
