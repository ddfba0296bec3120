#!/bin/sh
# long_message.sh - what 30 ms on a link of a lab cost a message of 64 MiB: one delay, however many
# packets it is.
#
# Whoever delays packets takes time for each of them, however short the delay; so runs whose link is
# 1 ms slow and 31 ms slow take turns, in the order A B B A, and the medians are compared. Of each run
# the messages of all iterations but the first slow one count, in which TCP finds its way.
#
# LONG_MESSAGE_ROUNDS (4). Exit 1: it costs more than one delay and a half, or a packet was dropped.
set -eu

program=${ADAPTRA_BENCH:?names the program}
rounds=${LONG_MESSAGE_ROUNDS:-4}
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

cat >"$folder/scenario.lua" <<-'END'
	local ab = require "adaptra"
	local slow = ab.option("slow", "1ms", "how much longer messages take")
	return ab.scenario {
	   title      = "64 MiB over a slow link",
	   topology   = ab.pipeline { stages = 2, hosts = 2 },
	   workload   = ab.profile "uniform-10ms" { microbatches = 1 },
	   schedules  = { "zb-cpu" },
	   live       = { speed = 1, payload = "64MiB" },
	   iterations = 8, warmup = 0, seed = 1,
	   faults     = { ab.delay { at = ab.iter(1), link = "0->1", delay = slow, model = "latency" } },
	}
END

# Times of the messages in ms, a line each, and how many packets were dropped.
run() {
	rm -f "$folder"/results.db*
	"$program" run "$folder/scenario.lua" --lab netns --set "slow=$1" --quiet \
		--store "$folder/results.db" >"$folder/out.txt" 2>"$folder/err.txt" || {
		cat "$folder/err.txt" >&2
		echo "the run with $1 failed" >&2
		exit 1
	}
	sqlite3 "$folder/results.db" "SELECT (arrive_ns - start_ns) / 1e6 FROM message JOIN run USING (run)
		WHERE mode = 'live' AND from_stage = 0 AND iteration > 1" >>"$folder/$1.txt"
	sqlite3 "$folder/results.db" "SELECT facts_json ->> '\$.injectors', facts_json ->> '\$.dropped',
		facts_json ->> '\$.foreign_cores' FROM run WHERE mode = 'live'" >>"$folder/facts.txt"
}

median() {
	sort -n "$1" | awk '{ ms[NR] = $1 } END { print (ms[int((NR + 1) / 2)] + ms[int(NR / 2) + 1]) / 2 }'
}

for round in $(seq "$rounds"); do
	if [ $((round % 2)) = 1 ]; then
		run 1ms
		run 31ms
	else
		run 31ms
		run 1ms
	fi
done
near=$(median "$folder/1ms.txt")
far=$(median "$folder/31ms.txt")
awk -F '|' -v near="$near" -v far="$far" '
	{ sub(/ \(.*/, "", $1); injectors = $1; dropped += $2; if ($3 > foreign) foreign = $3 }
	END {
		delays = (far - near) / 30
		printf "64 MiB, %s: %.1f ms over 1 ms, %.1f ms over 31 ms: 30 ms cost %.2f delays\n",
		       injectors, near, far, delays
		printf "(target: at most 1.5); %d packets dropped; other programs kept up to %.2f cores busy\n",
		       dropped, foreign
		exit delays > 1.5 || dropped > 0
	}' "$folder/facts.txt"
