#!/bin/sh
# other_links.sh - a delay on one link leaves the others alone: what a message takes on every other
# link of a live run, with the delay and without it, on pipelines of 3 to 8 stages and both planes.
#
# Transfers are from entering a channel or queue to the arrival, means over a link's messages after
# warm-up, both directions. Exit 1: one grew by more than a twentieth of the delay.
#
# OTHER_LINKS_SPEED (5): only free cores hold higher ones.
set -eu

program=${ADAPTRA_BENCH:?names the program}
speed=${OTHER_LINKS_SPEED:-5}
delay_ms=30
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The scenario of $1 stages with these faults, as scenario.lua.
write_scenario() {
	cat >"$folder/scenario.lua" <<-END
	local ab = require "adaptra"
	return ab.scenario {
	   title = "Other links", iterations = 10, warmup = 2, schedules = { "zb", "zb-cpu" },
	   topology = ab.pipeline { stages = $1, hosts = 2, link = { delay = "5us" } },
	   workload = ab.profile "uniform-10ms" { microbatches = $((2 * $1)) },
	   faults = { $2 },
	}
	END
}

# A live run of every schedule into a database of this name.
run() {
	rm -f "$folder/$1".db*
	"$program" run "$folder/scenario.lua" --speed "$speed" --quiet --store "$folder/$1.db" \
		>"$folder/out.txt" 2>"$folder/err.txt" || {
		cat "$folder/err.txt" >&2
		echo "a live run of $2 stages failed" >&2
		exit 1
	}
}

printf '%-34s %-10s %14s %26s\n' '' target 'slow link, ms' 'others grew by at most, ms'
missed=0
for n_stages in 3 4 5 6 7 8; do
	slow=$((n_stages / 2))
	write_scenario "$n_stages" ''
	run quiet "$n_stages"
	write_scenario "$n_stages" "ab.delay { link = \"$((slow - 1))-$slow\", delay = \"${delay_ms}ms\",
		model = \"occupancy\" }"
	run slow "$n_stages"
	sqlite3 -separator ' ' "$folder/slow.db" "
		ATTACH '$folder/quiet.db' AS quiet;
		CREATE TEMP TABLE with_delay AS
			SELECT schedule, (from_stage + to_stage - 1) / 2 AS link, avg(arrive_ns - start_ns) / 1e6 AS ms
			FROM main.message JOIN main.run USING (run)
			WHERE mode = 'live' AND iteration >= n_warmup GROUP BY 1, 2;
		CREATE TEMP TABLE without_delay AS
			SELECT schedule, (from_stage + to_stage - 1) / 2 AS link, avg(arrive_ns - start_ns) / 1e6 AS ms
			FROM quiet.message JOIN quiet.run USING (run)
			WHERE mode = 'live' AND iteration >= n_warmup GROUP BY 1, 2;
		SELECT schedule, sum(w.ms * (link = $slow - 1)), max((w.ms - o.ms) * (link <> $slow - 1))
			FROM with_delay w JOIN without_delay o USING (schedule, link) GROUP BY schedule ORDER BY schedule" \
		>"$folder/rows.txt"
	[ "$(wc -l <"$folder/rows.txt")" = 2 ] || { echo 'a schedule has no messages' >&2; exit 1; }
	while read -r schedule slow_ms grown_ms; do
		awk -v s="$n_stages" -v name="$schedule" -v slow="$slow_ms" -v grown="$grown_ms" -v d="$delay_ms" '
			BEGIN {
				printf "%-34s %-10s %14.2f %26.2f\n", s " stages, " name, "< " d / 20, slow, grown
				exit !(grown < d / 20 && slow >= d)
			}' || missed=1
	done <"$folder/rows.txt"
done
if [ "$missed" = 1 ]; then
	echo 'a target was missed: are two cores free?'
	exit 1
fi
echo 'all targets were met'
