#!/bin/busybox sh
# init.sh - the guest's first process: the machine's files under a layer of the guest's own.
# shellcheck shell=dash
#
# As /init of the initramfs it loads what it takes to reach the machine's root, which comes read-only
# over 9p, and lays a file system in memory over it. From there it starts once more, loads the
# modules that were asked for, runs the command, notes its exit status and powers off. The folder
# /run/vm is the runner's: modules and command are read from it, stderr and status written into it.

# Nothing but the serial console is left to tell by.
give_up() {
	echo "guest: $1"
	/bin/busybox poweroff -f
	exit 1
}

mount_kernel_files() {
	mount -t proc proc "$1/proc"
	mount -t sysfs sysfs "$1/sys"
	mount -t devtmpfs devices "$1/dev"
	mkdir -p "$1/dev/pts" "$1/dev/shm"
	mount -t devpts -o ptmxmode=666 terminals "$1/dev/pts"
	mount -t tmpfs memory "$1/dev/shm"
	[ -e "$1/dev/fd" ] || ln -s /proc/self/fd "$1/dev/fd"
}

mount_shared() {
	mkdir -p "$2"
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=524288,$3" "$1" "$2" ||
		give_up "the folder '$1' cannot be mounted"
}

# For whoever lets the kernel load a module by itself.
provide_modprobe() {
	mount_shared modules "$1/usr/lib/modules/$(uname -r)" ro,cache=loose
	[ -e "$1/usr/sbin/modprobe" ] || ln -s /run/busybox "$1/usr/sbin/modprobe"
}

first_stage() {
	mkdir -p /proc /sys /dev /machine /layer /top
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devices /dev
	# shellcheck disable=SC2013 # words are wanted
	for module in $(cat /early); do
		modprobe "$module" || give_up "the module $module cannot be loaded"
	done
	mount_shared root /machine ro,cache=loose
	mount -t tmpfs memory /layer
	mkdir /layer/upper /layer/work
	mount -t overlay -o lowerdir=/machine,upperdir=/layer/upper,workdir=/layer/work root /top ||
		give_up "there is no layer over the machine's files"
	mount_kernel_files /top
	mount -t tmpfs -o mode=755 memory /top/run
	mount_shared runner /top/run/vm cache=none
	provide_modprobe /top
	cp /bin/busybox /init /top/run
	exec switch_root /top /run/busybox sh /run/init second
}

load_modules() {
	for module in $(/run/busybox cat /run/vm/modules); do
		/run/busybox modprobe "$module" && continue
		echo "the guest's kernel has no module $module" >/run/vm/problem
		return 1
	done
}

second_stage() {
	export HOME=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	/run/busybox ip link set lo up
	echo "guest: up after $(/run/busybox cut -d ' ' -f 1 /proc/uptime) s"
	set -- /dev/vport*p1
	if load_modules; then
		/run/busybox setsid bash /run/vm/command </dev/null >"$1" 2>/run/vm/stderr
		echo $? >/run/vm/status
	fi
	/run/busybox poweroff -f
}

if [ "${1:-}" = second ]; then
	second_stage
else
	/bin/busybox --install -s /bin
	export PATH=/bin
	first_stage
fi
