#!/bin/sh
# labs.sh - kill -9 fifty owners of a lab with faults in force, each at another moment; what must
# hold is what tests/net/kills.c checks.
set -eu

test="${ADAPTRA_BUILD:?names the build}/tests/net/kills"
[ -x "$test" ] || { echo "labs.sh: the build has no libnl, so there is no lab" >&2; exit 0; }
exec env ADAPTRA_KILLS="${ADAPTRA_KILLS:-50}" prove -e '' "$test"
