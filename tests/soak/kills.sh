#!/bin/sh
# kills.sh - kill -9 a hundred times: workers and who removes the folder fifty times, the coordinator
# fifty times, each at another moment; what must hold is what tests/cli/live.t checks.
set -eu

exec env ADAPTRA_KILLS="${ADAPTRA_KILLS:-50}" prove -e '' "${ADAPTRA_SOURCE:?names the source tree}/tests/cli/live.t"
