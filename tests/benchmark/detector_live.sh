#!/bin/sh
# detector_live.sh - the detector beside running workers, in the noise that the machine makes itself.
#
# A quiet run must have no decision. With a straggler of 1.5 times the delay that the plan tolerates,
# jittered by a fifth of it, every run must have a decision about its link within 2 iterations, about
# no other link, and one that all is healthy again soon after. Only a machine whose cores are free can
# be held to this: what others take of it stands beside. Exit 1: a target was missed.
#
# DETECTOR_QUIET (1000) iterations, DETECTOR_SEEDS (5) runs with a straggler, at DETECTOR_SPEED (10).
set -eu

program=${ADAPTRA_BENCH:?names the program}
n_quiet=${DETECTOR_QUIET:-1000}
n_seeds=${DETECTOR_SEEDS:-5}
speed=${DETECTOR_SPEED:-10}
command -v sqlite3 >/dev/null || { echo 'sqlite3 is missing; run make deps' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

first=20
last=39
n_iterations=60
# Healthy iterations until the plan changes back (clear), and what is under way meanwhile.
within_found=2
within_clear=4
missed=0

# The scenario with these faults, as scenario.lua.
write_scenario() {
	cat >"$folder/scenario.lua" <<-END
	local ab = require "adaptra"
	return ab.scenario {
	   title = "The detector", iterations = $n_iterations, schedules = { "adaptra" },
	   topology = ab.pipeline { stages = 4, hosts = 2, link = { delay = "5us" } },
	   workload = ab.profile "uniform-10ms" { microbatches = 12 },
	   faults = { $1 },
	}
	END
}

# Run it into a database of this name.
run() {
	database=$folder/$1.db
	shift
	"$program" run "$folder/scenario.lua" --speed "$speed" --no-ops --quiet --json \
		--store "$database" "$@" >"$folder/out.json" || {
		echo "a live run failed" >&2
		exit 1
	}
}

query() {
	sqlite3 "$database" "$1"
}

row() {
	printf '%-58s %-18s %s\n' "$1" "$2" "$3"
}

# A row of a number that must not be larger than its target.
judge() {
	row "$1" "$2" "$3"
	[ "$3" -le "$2" ] || missed=1
}

decisions="FROM decision JOIN run USING (run) WHERE mode = 'live' AND decision.kind IN ('replan', 'switch_plane', 'recover')"
facts() {
	query "SELECT printf('%.0f us late on average, %.2f cores used by others',
		facts_json ->> 'late_mean_us', facts_json ->> 'foreign_cores') FROM run WHERE mode = 'live'"
}

row '' target measured
write_scenario ''
"$program" plan "$folder/scenario.lua" --schedule adaptra --json >"$folder/plan.json" 2>/dev/null
run quiet --iterations "$n_quiet"
judge "decisions in $n_quiet quiet iterations" 0 "$(query "SELECT count(*) $decisions")"
query "SELECT '  iteration ' || iteration || ': ' || decision.reason $decisions LIMIT 5"
row '  meanwhile' '' "$(facts)"

# Links with a limit, and 1.5 times the limit.
stragglers=$(sqlite3 :memory: "SELECT stage.value ->> 'stage', 1.5 * (stage.value ->> 'tolerated_delay_ms')
	FROM json_each(CAST(readfile('$folder/plan.json') AS TEXT), '\$.stages') AS stage
	WHERE stage.value ->> 'tolerated_delay_ms' IS NOT NULL" | tr '|' ' ')
n_links=$(echo "$stragglers" | wc -l)
[ -n "$stragglers" ] || { echo 'the plan tolerates any delay on every link' >&2; exit 1; }

for seed in $(seq "$n_seeds"); do
	set -- $(echo "$stragglers" | sed -n "$((seed % n_links + 1))p")
	link=$1
	delay=$2
	write_scenario "ab.delay { at = ab.iter($first), lasts = ab.iter($((last - first + 1))),
		link = \"$link-$((link + 1))\", delay = \"${delay}ms\", model = \"latency\",
		jitter = \"$(echo "$delay" | awk '{ printf "%.3f", $1 / 5 }')ms\", distribution = \"normal\" }"
	run "seed-$seed" --seed "$seed"
	echo "-- seed $seed: $delay ms more on link $link-$((link + 1)), iterations $first to $last; $(facts)"
	found=$(query "SELECT coalesce(min(iteration), 999999) $decisions AND link = $link AND iteration > $first")
	clear=$(query "SELECT coalesce(min(iteration), 999999) $decisions AND kind = 'recover' AND iteration > $last")
	wrong=$(query "SELECT count(*) $decisions AND (iteration <= $first OR
		kind <> 'recover' AND link IS NOT $link OR kind = 'recover' AND iteration <= $last)")
	judge 'found after so many iterations' "$within_found" "$((found - first))"
	judge 'healthy again after so many iterations' "$within_clear" "$((clear - last - 1))"
	judge 'decisions for another reason' 0 "$wrong"
	[ "$wrong" = 0 ] || query "SELECT '  iteration ' || iteration || ': ' || decision.reason $decisions LIMIT 5"
done
if [ "$missed" = 1 ]; then
	echo 'a target was missed'
	exit 1
fi
echo 'all targets were met'
