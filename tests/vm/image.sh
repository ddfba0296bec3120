#!/usr/bin/env bash
# image.sh - bring what a guest boots from into a folder: Debian's stock kernel and an initramfs.
#
#     image.sh FOLDER
#
# Packages are fetched by apt, which checks them, and unpacked in the folder; nothing is installed.
# Afterwards FOLDER/kernel, FOLDER/initramfs.gz and FOLDER/modules/RELEASE are there. What is there
# already is kept, so only the first call takes long and needs the network; `make clean` or removing
# the folder brings a later kernel.
#
# Exit status: 0; 1 when it cannot be had here, with the reason on stderr.
set -euo pipefail
export LC_ALL=C

folder=${1:?the folder is missing}
init=$(dirname "$(realpath "$0")")/init.sh
wanted=linux-image-amd64

# What the initramfs needs to get at the machine's files.
early='virtio_pci virtio_console 9pnet_virtio 9p overlay'
early_places='drivers/virtio drivers/char net/9p fs/9p fs/fscache fs/netfs fs/overlayfs'

# What is worth its room on the disk: networks, and what they are made of.
kept='net lib crypto arch fs drivers/net drivers/infiniband drivers/virtio drivers/char'

refuse() {
	echo "$1" >&2
	exit 1
}

# Lists may be missing or too old for what they name; only root can renew them.
fetch() {
	apt-get -qq download "$@" 2>>"$scratch/apt.log" && return
	[ "$(id -u)" = 0 ] && apt-get -qq update 2>>"$scratch/apt.log" &&
		apt-get -qq download "$@" 2>>"$scratch/apt.log" && return
	grep '^[EW]:' "$scratch/apt.log" | tail -n 3 >&2
	refuse "apt cannot fetch $*; 'apt-get update' as root may help"
}

# The package of the kernel itself, which the other one only names.
kernel_package() {
	apt-cache depends "$wanted" 2>>"$scratch/apt.log" |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

find_kernel_package() {
	local name

	name=$(kernel_package)
	if [ -z "$name" ] && [ "$(id -u)" = 0 ]; then
		apt-get -qq update 2>>"$scratch/apt.log" || true
		name=$(kernel_package)
	fi
	[ -n "$name" ] || refuse "apt does not know $wanted; 'apt-get update' as root may help"
	echo "$name"
}

# Entered at its ELF note the kernel need not unpack itself, which an emulated processor takes 4 s
# for. One that is not compressed by xz is booted as it is.
unpack_kernel() {
	local packed=$1 offset

	offset=$(grep -abo -P '\xfd7zXZ\x00' "$packed" | head -n 1 | cut -d: -f1) || true
	# What follows the compressed part is of no interest, so tail is cut short.
	if [ -z "$offset" ] || ! xz -dc --single-stream 2>/dev/null >"$scratch/kernel" \
		< <(tail -c +$((offset + 1)) "$packed"); then
		cp "$packed" "$scratch/kernel"
	fi
}

unpack_packages() {
	local patterns=() place

	for place in $kept; do
		patterns+=("./*lib/modules/*/kernel/$place/*")
	done
	mkdir "$scratch/kernel.package" "$scratch/busybox.package"
	dpkg-deb --fsys-tarfile "$scratch"/linux-image-*.deb |
		tar -x -C "$scratch/kernel.package" --wildcards './boot/vmlinuz-*' \
			'./*lib/modules/*/modules.*' "${patterns[@]}"
	dpkg-deb --fsys-tarfile "$scratch"/busybox-static_*.deb |
		tar -x -C "$scratch/busybox.package" --wildcards './*bin/busybox'
	find "$scratch/busybox.package" -name busybox -exec cp '{}' "$scratch/busybox" ';'
	unpack_kernel "$scratch"/kernel.package/boot/vmlinuz-*
	find "$scratch/kernel.package" -path '*lib/modules' -exec mv '{}' "$scratch/modules" ';' -prune
}

# Which module needs which; packages come without.
list_dependencies() {
	local release

	release=$(ls "$scratch/modules")
	mkdir -p "$scratch/base/lib"
	ln -s ../../modules "$scratch/base/lib/modules"
	"$scratch/busybox" depmod -b "$scratch/base" "$release" 2>/dev/null
	[ -s "$scratch/modules/$release/modules.dep" ] ||
		refuse "the modules of kernel $release depend on nothing known"
}

make_initramfs() {
	local root=$scratch/root modules place release

	release=$(ls "$folder/modules")
	modules=$root/lib/modules/$release
	mkdir -p "$root/bin" "$modules"
	cp "$folder/busybox" "$root/bin/busybox"
	cp "$init" "$root/init"
	echo "$early" >"$root/early"
	cp "$folder/modules/$release/modules.dep" "$modules"
	for place in $early_places; do
		mkdir -p "$modules/kernel/$place"
		find "$folder/modules/$release/kernel/$place" -maxdepth 1 -name '*.ko*' \
			-exec cp -t "$modules/kernel/$place" '{}' + 2>/dev/null || true
	done
	(cd "$root" && find . | "$folder/busybox" cpio -o -H newc 2>/dev/null | gzip -1) \
		>"$scratch/initramfs.gz"
	mv "$scratch/initramfs.gz" "$folder/initramfs.gz"
}

[ "$(uname -m)" = x86_64 ] || refuse "there is a guest's kernel for x86_64 only"
for program in apt-get dpkg-deb xz; do
	command -v "$program" >/dev/null || refuse "$program is missing here"
done
mkdir -p "$folder" || refuse "there can be no folder $folder"
folder=$(realpath "$folder")

# One at a time; the lock goes with this process.
exec 9>"$folder/lock"
flock 9
scratch=$(mktemp -d "$folder/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

if [ ! -e "$folder/kernel" ]; then
	package=$(find_kernel_package)
	(cd "$scratch" && fetch "$package" busybox-static)
	unpack_packages
	list_dependencies
	rm -rf "$folder/modules"
	mv "$scratch/busybox" "$scratch/modules" "$folder"
	# The last one, since it says that all are there.
	mv "$scratch/kernel" "$folder/kernel"
fi
if [ ! "$folder/initramfs.gz" -nt "$folder/kernel" ] ||
	[ ! "$folder/initramfs.gz" -nt "$init" ] || [ ! "$folder/initramfs.gz" -nt "$0" ]; then
	make_initramfs
fi
