#!/bin/sh
# lab_trace.sh - the main scenario in miniature on hosts of a lab: how far live totals are from those
# in virtual time when the relay, a token bucket or the workers make links slow, and an RNIC goes down.
#
# Two of the trace's events and its dead RNIC, moved into a few iterations. Every stage has a host of
# its own, so there are as many workers as stages, and none of them ever sleeps: two cores hold no more
# than the profile's own speed. Exit 1: a total is more than a tenth off, or losses differ.
#
# LAB_TRACE_SPEED (1), LAB_TRACE_ITERATIONS (12), LAB_TRACE_SCHEDULES ("1f1b zb adaptra").
set -eu

program=${ADAPTRA_BENCH:?names the program}
speed=${LAB_TRACE_SPEED:-1}
iterations=${LAB_TRACE_ITERATIONS:-12}
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

schedules=
for schedule in ${LAB_TRACE_SCHEDULES:-1f1b zb adaptra}; do
	schedules="$schedules\"$schedule\", "
done
cat >"$folder/scenario.lua" <<-END
	local ab = require "adaptra"
	local model = ab.option("model", "latency", "what is slow")
	return ab.scenario {
	   title      = "Two slow-link events and a dead RNIC, on eight hosts",
	   topology   = ab.pipeline { stages = 8, hosts = 8, rails = 2, link = { delay = "5us" } },
	   workload   = ab.profile "gpt-140b-h800" { microbatches = 24 },
	   schedules  = { $schedules },
	   live       = { speed = 2, payload = "256KiB" },
	   iterations = $iterations, warmup = 1, seed = 42,
	   recovery   = ab.recovery { checkpoint_every = 5, restart = "5s" },
	   faults     = {
	      ab.delay { at = ab.iter($((iterations / 10))), lasts = ab.iter($((iterations / 4))),
	                 link = "2-3", delay = "30ms", model = model },
	      ab.delay { at = ab.iter($((iterations * 4 / 10))), lasts = ab.iter($((iterations / 4))),
	                 link = { "0-1", "5-6" }, delay = "40ms", model = model },
	      ab.down { at = ab.iter($((iterations * 8 / 10))), stage = 3 },
	   },
	}
END

printf '%-10s %-10s %-10s %10s %10s %8s %9s\n' injector model schedule 'sim, s' 'live, s' 'off by' 'foreign'
missed=0
while read -r injector model; do
	rm -f "$folder"/results.db*
	"$program" run "$folder/scenario.lua" --lab netns --injector "$injector" --set "model=$model" \
		--speed "$speed" --no-ops --quiet --store "$folder/results.db" >"$folder/out.txt" \
		2>"$folder/err.txt" || {
		cat "$folder/err.txt" >&2
		echo "the run with $injector failed" >&2
		exit 1
	}
	sqlite3 -separator ' ' "$folder/results.db" "
		SELECT '$injector', '$model', l.schedule, s.total_s, l.total_s,
		       100.0 * (l.total_s / s.total_s - 1), r.facts_json ->> '\$.foreign_cores'
		FROM run_summary l JOIN run_summary s ON s.schedule = l.schedule AND s.mode = 'sim'
		JOIN run r ON r.run = l.run
		WHERE l.mode = 'live' ORDER BY l.run" >"$folder/rows.txt"
	awk '{ printf "%-10s %-10s %-10s %10.2f %10.2f %+7.1f%% %9.2f\n", $1, $2, $3, $4, $5, $6, $7 }' \
		"$folder/rows.txt"
	awk '$6 > 10 || $6 < -10 { bad = 1 } END { exit bad }' "$folder/rows.txt" || missed=1
done <<-END
	relay latency
	rate rate
	shaped occupancy
END
echo 'off by: of the live total, target 10 %; foreign: cores that other programs kept busy'
exit $missed
