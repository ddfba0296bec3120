#!/bin/sh
# replay_live.sh - live runs beside simulated ones.
#
# Total time per schedule within 5 % of sim, each fault event's within 10 %, with lateness and what
# others took of the machine beside it. A target that is missed is shown, not failed.
set -eu

program=${ADAPTRA_BENCH:?names the program}
source=${ADAPTRA_SOURCE:?names the source tree}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

row() {
	printf '%-58s %-18s %s\n' "$1" "$2" "$3"
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
