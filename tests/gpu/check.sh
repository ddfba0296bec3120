#!/bin/sh
# check.sh - checks the CUDA device on a GPU: contracts, numbers, live runs, times, copies, memory; and
# exchanges over NCCL where there are more. It writes check.json and check.txt into the folder GPU_CHECK_FOLDER and ends with 1 if a check has
# failed, with 3 if there is no GPU.
#
# --double: the same over the double of CUDA on CPU threads, which only shows that the flow is whole.
# GPU_CHECK_STAGES ("4 8") and GPU_CHECK_ITERATIONS (8) make it shorter; what is not done after
# GPU_CHECK_SECONDS (400; the build comes before) has failed.
#
# Assumed: one GPU at least, which nobody else uses, and a driver for this toolkit or a newer one;
# nvcc knows the GPU's architecture; cuBLAS lies beside the toolkit's runtime, where the build found
# it; 16 cores, of which two workers and the delegates' threads poll on four; PCIe 3 x16 or better.
# Limits are those of the design (events 2 %, delegates 80 % of plain copies) or far beyond what a
# right program can be off by: the host's rounding is not the GPU's, so losses may differ by 1e-5.
# An op's known length is a host function's, which the driver begins some 10 us late.
set -eu

source=${ADAPTRA_SOURCE:?names the source tree}
build=${ADAPTRA_BUILD:?names the build}
folder=${GPU_CHECK_FOLDER:-$build/gpu-check}
stages_list=${GPU_CHECK_STAGES:-4 8}
iterations=${GPU_CHECK_ITERATIONS:-8}
began_s=$(date +%s)
end_s=$((began_s + ${GPU_CHECK_SECONDS:-400}))

is_double=false
copied_mib=64
tests=$build/tests/unit
program=${ADAPTRA_BENCH:?names the program}
measured=$build/tests/gpu
if [ "${1-}" = --double ]; then
	is_double=true
	copied_mib=1
	tests=$build/tests/double
	program=$build/double/adaptra-bench
	measured=$build/double
fi

mkdir -p "$folder"
rm -f "$folder"/run.db*
work=$(mktemp -d "$folder/XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
: >"$work/checks"
n_failed=0

quoted() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\n' | sed 's/[\\"]/\\&/g')"; }

# NAME VERDICT TEXT: one check, for both summaries. VERDICT: held, failed, not run.
note() {
	[ "$2" != failed ] || n_failed=$((n_failed + 1))
	printf '%-44s %-8s %s\n' "$1" "$2" "$3" | tee -a "$work/text" >&2
	printf '    {"name": %s, "verdict": %s, "text": %s},\n' \
		"$(quoted "$1")" "$(quoted "$2")" "$(quoted "$3")" >>"$work/checks"
}

# WORDS...: a command, for as long as there is time left.
limited() {
	left_s=$((end_s - $(date +%s)))
	if [ "$left_s" -gt 0 ] && timeout -k 5 "$left_s" "$@"; then return 0; else code=$?; fi
	[ "$((end_s - $(date +%s)))" -gt 0 ] || echo 'check.sh: there was no time left for it' >&2
	return "$code"
}

# NAME WORDS...: a test that has to end with 0, and to find the GPU.
must() {
	name=$1
	shift
	if ! limited "$@" >"$work/out" 2>&1; then
		note "$name" failed "$(grep -v '^ok' "$work/out" | tail -n 1)"
	elif grep -q '# SKIP device' "$work/out"; then
		note "$name" failed "$(grep '# SKIP device' "$work/out" | head -n 1)"
	else
		note "$name" held "$(grep -c '^ok' "$work/out") checks"
	fi
}

# A number of the program's JSON, by its name: the first there is.
number() { sed -n "s/.*\"$1\": *\\([-0-9.e+]*\\).*/\\1/p" "$2" | head -n 1; }

# NAME VALUE LOW HIGH UNIT
within() {
	if awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x != "" && x + 0 >= low && x + 0 <= high) }'
	then verdict=held; else verdict=failed; fi
	note "$1" "$verdict" "$2 $5, wanted $3 to $4"
}

# DEVICE OUT OPTIONS...: a live run; its JSON goes to OUT.
live() {
	device=$1 out=$2
	shift 2
	limited "$program" run "$source/tests/gpu/check.lua" --device "$device" --iterations "$iterations" \
		--store "$folder/run.db" --quiet --json "$@" >"$out" 2>"$work/err"
}

# NAME DEVICE OPTIONS...: it has to end well, with the same losses under all schedules.
live_check() {
	name=$1 device=$2
	shift 2
	if live "$device" "$work/run.json" "$@" && grep -q '"equal": true' "$work/run.json"; then
		note "$name" held "$(sed -n 's/.*"p50_ms": *\([0-9.]*\).*/\1/p' "$work/run.json" |
			awk 'NR <= 3 { printf "%.1f ", $1 }')ms an iteration under 1f1b, zb, adaptra; equal losses"
	else
		note "$name" failed "$(tail -n 1 "$work/err")"
	fi
}

compare_with_cpu() {
	if ! live cuda "$work/gpu.json" --schedule zb || ! live cpu "$work/cpu.json" --schedule zb; then
		note 'losses against the CPU' failed "$(tail -n 1 "$work/err")"
		return
	fi
	difference=$(awk -v gpu="$(number last "$work/gpu.json")" -v cpu="$(number last "$work/cpu.json")" \
		'BEGIN { d = gpu / cpu - 1; print d < 0 ? -d : d }')
	within 'losses against the CPU' "$difference" 0 1e-5 'of the loss'
}

measure_device() {
	if ! limited "$measured/measure" cuda "$copied_mib" >"$work/measured.json" 2>"$work/err"; then
		note 'times and copies' failed "$(tail -n 1 "$work/err")"
		return
	fi
	if $is_double; then
		note 'times and copies' 'not run' 'they were taken, but of a double they say nothing'
		return
	fi
	within 'an op of known length, by its events' "$(number known_op_ratio "$work/measured.json")" \
		0.98 1.02 'of its time'
	within 'events around every op' "$(number timing_cost_ratio "$work/measured.json")" -1 0.02 \
		"more, of an op of $(number timed_op_us "$work/measured.json") us"
	within 'copies to the device' "$(number to_device_gb_per_s "$work/measured.json")" 1 10000 GB/s
	within 'copies to the host' "$(number to_host_gb_per_s "$work/measured.json")" 1 10000 GB/s
	for way in device host; do
		within "delegate copies to the $way" "$(number "delegate_to_${way}_ratio" "$work/measured.json")" \
			0.8 100 "of plain copies, $(number "delegate_to_${way}_gb_per_s" "$work/measured.json") GB/s"
	done
}

# nccl-tests' program has both directions at once, too; its last line is an average.
compare_with_nccl_tests() {
	if ! command -v sendrecv_perf >/dev/null; then
		note 'exchanges against nccl-tests' 'not run' 'sendrecv_perf is not in the PATH'
		return
	fi
	theirs=$(limited sendrecv_perf -g 2 -b 64M -e 64M 2>/dev/null |
		sed -n 's/^# Avg bus bandwidth *: *\([0-9.]*\).*/\1/p')
	ratio=$(awk -v ours="$(number exchange_gb_per_s "$work/exchanges.json")" -v theirs="${theirs:-0}" \
		'BEGIN { print theirs > 0 ? ours / theirs : "" }')
	within 'exchanges against nccl-tests' "$ratio" 0.8 100 "of ${theirs:-?} GB/s"
}

measure_exchanges() {
	if ! limited "$measured/measure_exchange" "$copied_mib" >"$work/exchanges.json" 2>"$work/err"; then
		note 'exchanges between GPUs' failed "$(tail -n 1 "$work/err")"
		return
	fi
	if $is_double; then
		note 'exchanges between GPUs' 'not run' 'they were timed, but of a double they say nothing'
		return
	fi
	within 'exchanges between GPUs' "$(number exchange_gb_per_s "$work/exchanges.json")" 1 10000 \
		'GB/s each way'
	within 'exchanges against plain NCCL' \
		"$(number exchange_to_plain_ratio "$work/exchanges.json")" 0.8 100 'of it'
	compare_with_nccl_tests
}

check_exchanges() {
	if [ "$n_gpus" -lt 2 ]; then
		note 'exchanges between GPUs' 'not run' 'it needs more than one GPU'
	elif [ ! -x "$measured/measure_exchange" ]; then
		note 'exchanges between GPUs' 'not run' 'NCCL is not in this build'
	else
		must 'contract of exchanges' "$tests/exchange_contract"
		measure_exchanges
	fi
}

check_memory() {
	if $is_double; then
		note 'compute-sanitizer memcheck' 'not run' 'there is no memory of a GPU'
	elif command -v compute-sanitizer >/dev/null; then
		for test in arithmetic_contract dataplane_copies; do
			must "compute-sanitizer memcheck, $test" compute-sanitizer --tool memcheck \
				--error-exitcode 9 "$tests/$test"
		done
	else
		note 'compute-sanitizer memcheck' 'not run' 'compute-sanitizer is not here'
	fi
}

# The stream plane over NCCL.
check_own_gpus() {
	own='stages on GPUs of their own'
	if [ "$n_gpus" -lt 4 ]; then
		note "$own" 'not run' "it needs a GPU for each of 4 stages, and there are $n_gpus"
		return
	fi
	if [ ! -x "$measured/measure_exchange" ]; then
		note "$own" 'not run' 'NCCL is not in this build'
		return
	fi
	live_check "$own" cuda --transport nccl
	live_check "$own, a link 30 ms slower" paced-cuda --transport nccl --set delay=30ms \
		--set model=occupancy
	live_check "$own, a dead RNIC" paced-cuda --transport nccl --set dead=yes
}

# What doctor says of the GPU, which may take more than a line.
doctor_says() {
	"$program" doctor 2>/dev/null | awk '
		/^ok +GPU/ { verdict = "ok " }
		/^[a-z-]* +GPU/ { is_in = 1; sub(/^[a-z-]* +GPU +/, ""); text = $0; next }
		is_in && /^            / { sub(/^ +/, ""); text = text " " $0; next }
		{ is_in = 0 }
		END { print verdict text }'
}

gpu=$(doctor_says)
case $gpu in
'ok '*) gpu=${gpu#ok } ;;
*)
	echo "check.sh: $gpu" >&2
	exit 3
	;;
esac
n_gpus=${gpu%% *}
$is_double && gpu="NOT A GPU: $gpu"
echo "$gpu" | tee "$work/text" >&2

must 'contract of devices' "$tests/device_contract"
must 'contract of arithmetics' "$tests/arithmetic_contract"
must 'copies of data planes' "$tests/dataplane_copies"
must 'memory that transports know' "$tests/dataplane_known"
compare_with_cpu
for stages in $stages_list; do
	live_check "$stages stages" paced-cuda --set "stages=$stages"
	live_check "$stages stages, a link 30 ms slower" paced-cuda --set "stages=$stages" --set delay=30ms
done
live_check '4 stages, a dead RNIC' paced-cuda --set dead=yes
live_check '4 stages, as fast as the GPU is' cuda
measure_device
check_memory
check_exchanges
check_own_gpus

# What a program measured, which of a double is nothing.
measured_json() {
	if $is_double || [ ! -s "$1" ]; then echo null; else cat "$1"; fi
}

cp "$work/text" "$folder/check.txt"
{
	printf '{\n  "schema": 1,\n  "is_double": %s,\n  "gpu": %s,\n  "version": %s,\n' "$is_double" \
		"$(quoted "$gpu")" "$(quoted "$("$program" --version 2>/dev/null | head -n 1)")"
	printf '  "measured": %s,\n  "exchanges": %s,\n  "checks": [\n' \
		"$(measured_json "$work/measured.json")" "$(measured_json "$work/exchanges.json")"
	sed '$s/,$//' "$work/checks"
	printf '  ],\n  "failed": %d,\n  "took_s": %d\n}\n' "$n_failed" "$(($(date +%s) - began_s))"
} >"$folder/check.json"
echo "check.sh: $folder/check.json, $n_failed failed" >&2
[ "$n_failed" = 0 ]
