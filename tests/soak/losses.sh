#!/bin/sh
# losses.sh - the tests of running workers, SOAK_ROUNDS times: bit for bit equal losses, and outages and
# kills at every moment, do not depend on luck.
set -eu

source=${ADAPTRA_SOURCE:?names the source tree}
build=${ADAPTRA_BUILD:?names the build folder}
rounds=${SOAK_ROUNDS:-20}
output=$(mktemp)
trap 'rm -f "$output"' EXIT
trap 'exit 130' INT TERM

# What a test said that failed; one that has crashed need not have said anything of a check.
complain() {
	grep -A 4 '^not ok' "$output" || tail -n 20 "$output"
	echo "$1 failed in round $2 of $rounds" >&2
	exit 1
}

for test in replay_losses replay_outages replay_channels replay_ends replay_sizes; do
	for round in $(seq "$rounds"); do
		"$source/tests/one_test.sh" "$build/tests/unit/$test" >"$output" 2>&1 ||
			complain "$test" "$round"
	done
	echo "$test: $rounds rounds held, nothing was left"
done
