#!/bin/sh
# labs.sh - kill -9 fifty owners of a lab with faults in force, and as many runs of the program in one,
# each at another moment; what must hold is what tests/net/kills.c and tests/net/live_kills.t check.
set -eu

test="${ADAPTRA_BUILD:?names the build}/tests/net/kills"
[ -x "$test" ] || { echo "labs.sh: the build has no libnl, so there is no lab" >&2; exit 0; }
exec env ADAPTRA_KILLS="${ADAPTRA_KILLS:-50}" prove -e '' "$test" \
	"${ADAPTRA_SOURCE:?names the source tree}/tests/net/live_kills.t"
