#!/bin/sh
# kills.sh - kill -9 SOAK_KILLS times: half of them workers and who removes the folder, half of them
# the coordinator, each at another moment; what must hold after each is what tests/cli/live.t checks.
set -eu

source=${ADAPTRA_SOURCE:?names the source tree}
half=$(((${SOAK_KILLS:-100} + 1) / 2))
ADAPTRA_KILLS=$half ADAPTRA_TEST_LIMIT_S=$((600 + 120 * half)) \
	prove -e "$source/tests/one_test.sh" "$source/tests/cli/live.t"
echo "$half children and $half coordinators killed: every run ended, no process, file, shared memory"
echo "or socket was left, every database was whole and held what had been stored"
