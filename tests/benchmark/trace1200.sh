#!/bin/sh
# trace1200.sh - how long the main scenario takes through the program itself: 1,200 iterations under
# three schedules, with and without its operators in the database.
#
# Medians of three runs by the wall clock. A target that is missed is shown, not failed. The database
# is in a folder of its own, on the file system that TMPDIR names.
set -eu

program=${ADAPTRA_BENCH:?names the program}
source=${ADAPTRA_SOURCE:?names the source tree}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# Milliseconds of one run with these options; a fresh database each time.
run_ms() {
	rm -f "$folder"/results.db*
	start=$(now_ms)
	"$program" sim "$source/scenarios/trace1200.lua" --quiet --json \
		--store "$folder/results.db" "$@" >"$folder/result.json"
	echo $(($(now_ms) - start))
}

median_ms() {
	for _ in 1 2 3; do
		run_ms "$@"
	done | sort -n | sed -n 2p
}

row() {
	printf '%-58s %-18s %s\n' "$1" "$2" "$3"
}

seconds() {
	printf '%d.%03d s' $(($1 / 1000)) $(($1 % 1000))
}

row '' target measured
row 'trace1200 x 3 schedules, iterations only' '1 s' "$(seconds "$(median_ms --no-ops)")"
row 'trace1200 x 3 schedules, all operators stored' '3 s' "$(seconds "$(median_ms)")"
row 'size of the database' '' "$(($(stat -c %s "$folder/results.db") / 1000000)) MB"
start=$(now_ms)
"$program" report --store "$folder/results.db" --html "$folder/page.html" --quiet
row 'its report as a page' '3 s' "$(seconds $(($(now_ms) - start)))"
row 'size of the page' '5,000 kB' "$(($(stat -c %s "$folder/page.html") / 1000)) kB"
if command -v sqlite3 >/dev/null; then
	row 'operators in it' '' "$(sqlite3 "$folder/results.db" 'SELECT count(*) FROM op')"
fi
