#!/usr/bin/env bash
# run.sh - run one command in a virtual machine that is thrown away afterwards.
#
#     run.sh [-t SECONDS] [-m MIB] [-c PROCESSORS] [-M MODULE,...] [-f FOLDER] [-L FILE] [-v]
#            COMMAND [ARGUMENT...]
#
# For what this machine's kernel lacks, or what could disturb it. The guest has Debian's stock kernel
# and the machine's own files: the command starts as root in the same folder, finds everything in its
# place, and may write anywhere, but what it writes goes with the guest. Its stdout and stderr are
# this script's, and so is its exit status. Variables whose names begin with ADAPTRA_ go along.
#
#   -t  give up after so many seconds, 300
#   -m  memory, 1024 MiB
#   -c  processors, 1: without KVM a second one waits for the machine's scheduler more than it helps
#   -M  modules to load before the command starts, in this order; others load when they are needed
#   -f  where the kernel is kept: build/vm of this source tree
#   -L  keep the kernel's messages in this file
#   -v  tell on stderr what happens
#
# Without root nothing is lost but files that its user cannot read. KVM is used where there is any;
# else the processor is emulated, and starting a process takes 0.1 s.
#
# Exit status: the command's, or
#   121  these options cannot be understood
#   122  there can be no virtual machine here; stderr says what is missing
#   123  the guest did not get to the command's end
#   124  it took too long
set -uo pipefail
export LC_ALL=C

here=$(dirname "$(realpath "$0")")
folder=$here/../../build/vm
limit_s=300 memory_mib=1024 n_processors=1 modules='' log='' verbose=''

end_with() {
	echo "run.sh: $2" >&2
	exit "$1"
}

tell() {
	[ -z "$verbose" ] || echo "run.sh: $1" >&2
}

while getopts ':t:m:c:M:f:L:v' option; do
	case $option in
	t) limit_s=$OPTARG ;;
	m) memory_mib=$OPTARG ;;
	c) n_processors=$OPTARG ;;
	M) modules=${OPTARG//,/ } ;;
	f) folder=$OPTARG ;;
	L) log=$OPTARG ;;
	v) verbose=yes ;;
	*) end_with 121 "option -$OPTARG is not known, or lacks its value; see the head of $0" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || end_with 121 "the command is missing"
for number in "$limit_s" "$memory_mib" "$n_processors"; do
	[[ $number =~ ^[1-9][0-9]*$ ]] || end_with 121 "'$number' is not a number above 0"
done

command -v qemu-system-x86_64 >/dev/null ||
	end_with 122 "qemu-system-x86_64 is missing; install it with: apt-get install qemu-system-x86"
reason=$("$here/image.sh" "$folder" 2>&1) || end_with 122 "${reason:-the kernel cannot be had}"
folder=$(realpath "$folder")

work=$(mktemp -d) || end_with 122 "there can be no temporary folder"
guest=''
# shellcheck disable=SC2317 # called by traps
tidy() {
	[ -z "$guest" ] || kill "$guest" 2>/dev/null
	rm -rf "$work"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# What the guest runs, in words that a shell reads back as they were.
{
	for name in ${!ADAPTRA_*}; do
		printf 'export %s=%q\n' "$name" "${!name}"
	done
	printf 'cd %q || exit 123\n' "$PWD"
	printf 'exec'
	printf ' %q' "$@"
	echo
} >"$work/command"
echo "$modules" >"$work/modules"
: >"$work/stderr"

# A device may be there without a processor that could use it.
acceleration='tcg,thread=multi'
if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
	acceleration=kvm
fi
tell "acceleration: $acceleration"

devices=()
share() {
	devices+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap$3"
	          -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
share root / ,readonly=on
share modules "$folder/modules/$(ls "$folder/modules")" ,readonly=on
share runner "$work" ''

# An emulated processor has no holes to plug, and its clocks need no watching.
words='console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off random.trust_cpu=on'
words+=' no_timer_check tsc=reliable'

# A port whose stdin has ended takes nothing any more. Nobody writes here, and it does not end.
mkfifo "$work/silence"

# Both die with their parents, so nothing is left when this script is killed.
start_s=$SECONDS
setpriv --pdeathsig KILL timeout -k 5 "$limit_s" setpriv --pdeathsig KILL \
	qemu-system-x86_64 -accel "$acceleration" -machine q35 -cpu max -smp "$n_processors" -m "$memory_mib" \
	-nodefaults -no-user-config -display none -no-reboot \
	-kernel "$folder/kernel" -initrd "$folder/initramfs.gz" -append "$words" \
	-serial "file:$work/serial" -chardev stdio,id=stdout,signal=off \
	-device virtio-serial-pci -device virtserialport,chardev=stdout,name=stdout \
	"${devices[@]}" <>"$work/silence" 2>"$work/qemu" &
guest=$!
wait "$guest"
code=$?
guest=''
up=$(grep -ao 'guest: up after [0-9.]* s' "$work/serial" 2>/dev/null) || up='guest: never up'
tell "$up; done after $((SECONDS - start_s)) s"

cat "$work/stderr" >&2
[ -z "$log" ] || cp "$work/serial" "$log"
[ -s "$work/status" ] && exit "$(cat "$work/status")"
[ ! -s "$work/problem" ] || end_with 123 "$(cat "$work/problem")"
if [ $code = 124 ] || [ $code = 137 ]; then
	end_with 124 "the command did not end within $limit_s s"
fi
{
	cat "$work/qemu"
	tail -n 25 "$work/serial"
} >&2
end_with 123 "the guest did not get to the command's end; above is what it said last"
