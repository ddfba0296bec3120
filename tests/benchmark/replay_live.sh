#!/bin/sh
# replay_live.sh - live runs beside simulated ones, and what recording every op costs them.
#
# Total time per schedule within 5 % of sim, each fault event's within 10 %, with lateness and what
# others took of the machine beside it. Recording is compared in interleaved pairs of runs (on, off,
# off, on, …) of the same iterations; a target that is missed is shown, not failed.
set -eu

program=${ADAPTRA_BENCH:?names the program}
source=${ADAPTRA_SOURCE:?names the source tree}
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

row() {
	printf '%-58s %-18s %s\n' "$1" "$2" "$3"
}

query() {
	sqlite3 "$folder/$1.db" "$2"
}

# Mean iteration time of the live runs in a database, in ms of the profile.
live_ms() {
	query "$1" "SELECT avg(duration_ns) / 1e6 FROM iteration NATURAL JOIN run WHERE mode = 'live'"
}

# Every schedule's and every fault's live time over sim's, as the report has them.
compare() {
	"$program" run "$source/scenarios/$1.lua" --quiet --store "$folder/$1.db" $2 >"$folder/$1.txt"
	echo "-- $1 $2"
	sed -n '/^Measured beside simulated/,/^Database/p' "$folder/$1.txt" | sed '$d'
}

row '' target measured
compare smoke ''
compare one_slow_link '--iterations 40'
compare several_slow_links '--iterations 40'

# A B B A, so that what changes slowly meets both alike.
for pair in 1 2 3 4 5; do
	for side in on off off on; do
		options=
		[ "$side" = on ] || options=--no-ops
		"$program" run "$source/scenarios/one_slow_link.lua" --schedule zb --iterations 20 \
			--quiet --store "$folder/recording-$side.db" $options >"$folder/out.txt"
	done
done
on=$(live_ms recording-on)
off=$(live_ms recording-off)
row 'iterations with every op recorded' '' "$(printf '%.2f ms' "$on")"
row 'iterations without' '' "$(printf '%.2f ms' "$off")"
row 'cost of recording' '< 2 %' "$(echo "$on $off" | awk '{printf "%+.2f %%", ($1 / $2 - 1) * 100}')"
