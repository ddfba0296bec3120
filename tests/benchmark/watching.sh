#!/bin/sh
# watching.sh - what the view of a live run costs it: pairs of runs of the same iterations at the same
# speed, on a terminal and without one, in the order A B B A. Of each run the mean iteration after
# warm-up counts, of each pair the ratio. A machine that is never quite quiet hides a percent in that;
# what cannot hide is the CPU time that watching took, of a core while the run lasted.
#
# WATCHING_PAIRS (10) pairs, at WATCHING_SPEED instead of the scenario's. Exit 1: that share is above a
# percent, or the mean ratio is, or its spread is wider than a percent and cannot tell.
set -eu

program=${ADAPTRA_BENCH:?names the program}
source=${ADAPTRA_SOURCE:?names the source tree}
n_pairs=${WATCHING_PAIRS:-10}
for need in sqlite3 script; do
	command -v "$need" >/dev/null || { echo "$need is missing; run make deps, or install bsdutils" >&2; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

cat >"$folder/run.sh" <<END
stty rows 24 cols 80 2>/dev/null
exec "$program" run "$source/scenarios/one_slow_link.lua" --schedule zb --iterations 40 \
	--store "$folder/run.db" ${WATCHING_SPEED:+--speed "$WATCHING_SPEED"}
END

# Mean of the iterations after warm-up in ms of the profile.
mean_ms() {
	sqlite3 "$folder/run.db" "SELECT avg(duration_ns) / 1e6 FROM iteration JOIN run USING (run)
		WHERE mode = 'live' AND iteration >= 10"
}

# CPU seconds of watching in a real second of the run.
share_of_a_core() {
	sqlite3 "$folder/run.db" "SELECT r.facts_json ->> '\$.watching_s' /
		(sum(i.duration_ns) / 1e9 / (r.facts_json ->> '\$.speed'))
		FROM iteration i JOIN run r USING (run) WHERE r.mode = 'live' GROUP BY run"
}

watched_ms() {
	rm -f "$folder"/run.db*
	TERM=xterm script -qec "sh '$folder/run.sh'" "$folder/screen" >/dev/null </dev/null
	grep -q 'stage  op' "$folder/screen" || { echo 'there was no view' >&2; exit 1; }
	share_of_a_core >>"$folder/shares.txt"
	mean_ms
}

alone_ms() {
	rm -f "$folder"/run.db*
	sh "$folder/run.sh" >/dev/null 2>&1 </dev/null
	mean_ms
}

for pair in $(seq "$n_pairs"); do
	if [ $((pair % 2)) = 1 ]; then
		with=$(watched_ms)
		without=$(alone_ms)
	else
		without=$(alone_ms)
		with=$(watched_ms)
	fi
	echo "$with $without"
done >"$folder/pairs.txt"

missed=0
awk '{ sum += $1 } END {
	printf "%-58s %-18s %.3f %%\n", "of a core, while the run lasts", "< 1 %", 100 * sum / NR
	exit sum / NR > 0.01
}' "$folder/shares.txt" || missed=1
awk -v with='iterations of a run on a terminal, watched' -v without='iterations of one without' \
	-v cost='cost of watching' -v limit=1 -f "$source/tests/benchmark/pairs.awk" "$folder/pairs.txt" || missed=1
exit $missed
