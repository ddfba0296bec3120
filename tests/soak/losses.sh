#!/bin/sh
# losses.sh - the tests of running workers, again and again: bit for bit equal losses and outages at
# every moment do not depend on luck.
set -eu

build=${ADAPTRA_BUILD:?names the build folder}
rounds=${ADAPTRA_ROUNDS:-20}
for test in replay_losses replay_outages replay_channels replay_ends replay_sizes; do
	for round in $(seq "$rounds"); do
		output=$("$build/tests/unit/$test" 2>&1) || {
			echo "$output" | grep -A 4 '^not ok'
			echo "$test failed in round $round of $rounds" >&2
			exit 1
		}
	done
	echo "$test: $rounds rounds"
done
