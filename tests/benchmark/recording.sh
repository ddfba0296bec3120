#!/bin/sh
# recording.sh - what recording every op costs a live run: pairs of runs of the same iterations at the
# same speed, with and without --no-ops, in the order A B B A, so that what changes slowly meets both
# alike. Of each run the mean iteration after warm-up counts, of each pair the ratio.
#
# RECORDING_PAIRS (10) pairs, at RECORDING_SPEED instead of the scenario's. Exit 1: the mean ratio is above 1.02, or what is measured is worse than a
# percent and cannot tell.
set -eu

program=${ADAPTRA_BENCH:?names the program}
source=${ADAPTRA_SOURCE:?names the source tree}
n_pairs=${RECORDING_PAIRS:-10}
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Mean of the iterations after warm-up in ms of the profile, of a run with these options.
run_ms() {
	rm -f "$folder"/run.db*
	"$program" run "$source/scenarios/one_slow_link.lua" --schedule zb --iterations 40 --quiet \
		--json --store "$folder/run.db" ${RECORDING_SPEED:+--speed "$RECORDING_SPEED"} "$@" >"$folder/out.json"
	sqlite3 "$folder/run.db" "SELECT avg(duration_ns) / 1e6 FROM iteration JOIN run USING (run)
		WHERE mode = 'live' AND iteration >= 10"
}

for pair in $(seq "$n_pairs"); do
	if [ $((pair % 2)) = 1 ]; then
		with=$(run_ms)
		without=$(run_ms --no-ops)
	else
		without=$(run_ms --no-ops)
		with=$(run_ms)
	fi
	echo "$with $without"
done >"$folder/pairs.txt"

# Student's t for 95 % and n - 1 degrees of freedom.
awk '
BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13", t) }
NF == 2 && $1 > 0 && $2 > 0 {
	n++
	with += $1; without += $2
	log_ratio = log($1 / $2)
	sum += log_ratio; squares += log_ratio * log_ratio
}
END {
	if (n < 2) {
		print "fewer than two pairs were measured"
		exit 1
	}
	mean = sum / n
	variance = (squares - n * mean * mean) / (n - 1)
	half = (n - 1 in t ? t[n - 1] : 2) * sqrt((variance > 0 ? variance : 0) / n)
	cost = 100 * (exp(mean) - 1)
	printf "%-58s %-18s %.2f ms\n", "iterations with every op recorded", "", with / n
	printf "%-58s %-18s %.2f ms\n", "iterations without", "", without / n
	printf "%-58s %-18s %+.2f %% (%+.2f to %+.2f, 95 %% of %d pairs)\n", "cost of recording",
		"< 2 %", cost, 100 * (exp(mean - half) - 1), 100 * (exp(mean + half) - 1), n
	if (100 * half > 1)
		print "the spread is wider than a percent: are two cores free?"
	exit !(cost < 2 && 100 * half <= 1)
}' "$folder/pairs.txt"
