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

awk -v with='iterations with every op recorded' -v without='iterations without' \
	-v cost='cost of recording' -v limit=2 -f "$source/tests/benchmark/pairs.awk" "$folder/pairs.txt"
