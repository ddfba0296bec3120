#!/bin/sh
# one_test.sh - run one test: within a time limit, with a folder of its own for temporary files. A
# test that leaves a file there or a process behind has failed, whatever it says itself; what is left
# goes with the folder, also when the test is interrupted.
set -u

limit_s=${ADAPTRA_TEST_LIMIT_S:-600}
folder=$(mktemp -d "${TMPDIR:-/tmp}/XXXXXX") || exit 1
# Tests that give up their rights still have to get to their files.
chmod 711 "$folder"

# Processes that were given this folder, but for those that are ending anyway.
processes() {
	for environment in $(grep -lzs "^TMPDIR=$folder" /proc/[0-9]*/environ); do
		environment=${environment%/environ}
		echo "${environment#/proc/}"
	done
}

tidy() {
	left=$(processes)
	# shellcheck disable=SC2086
	[ -z "$left" ] || kill -KILL $left 2>/dev/null
	rm -rf "$folder"
}
trap tidy EXIT
trap 'exit 130' INT TERM HUP

# What a test has told to end may take a moment.
await_no_processes() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(processes)" ] || return 0
		sleep 0.2
	done
	return 1
}

# In the foreground, so that the terminal's interrupts reach the test.
TMPDIR=$folder timeout --foreground -k 10 "$limit_s" "$@"
code=$?
if [ "$code" = 124 ] || [ "$code" = 137 ]; then
	echo "# $1 did not end within $limit_s s" >&2
fi
if ! await_no_processes; then
	echo "# $1 has left processes behind:" $(processes) >&2
	code=1
fi
if [ -n "$(ls -A "$folder")" ]; then
	echo "# $1 has left files behind:" $(ls -A "$folder") >&2
	code=1
fi
exit "$code"
