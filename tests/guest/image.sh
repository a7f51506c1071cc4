#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes everything that a guest needs to boot: the emulator, a kernel of a series, its root, and on top of that
# root pebsd as `make install` leaves it, the tests and their programs. pebsd must be built. The emulator, the
# kernel and the root are made only if the cache lacks them.
#   image.sh SERIES             leaves $BUILD/guest/SERIES/initrd, and initrd-whole with everything that Debian
#                               installed
#   image.sh SERIES RUNTIMES    leaves initrd-RUNTIMES, with this group of container runtimes (root.sh) and the
#                               modules that they load
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || [ $# = 2 ] || fail "usage: image.sh SERIES [RUNTIMES]"
series=$1 runtimes=${2:-}
set -o pipefail
here=${0%/*}
release=$(release_of "$series")
kernel=$(cached kernel "$series")
output=$guest/$series
began=$(($(date +%s) - 1))
mkdir -p "$output"
"$here/emulator.sh"
"$here/kernel.sh" "$series"
"$here/root.sh" "$release" ${runtimes:+"$runtimes"}

tree=$(mktemp -d "$output/overlay.XXXXXX")
trap 'rm -rf "$tree"' EXIT
place=$tree/usr/lib/pebsd-tests
units=$tree/usr/lib/systemd/system
env -u MAKEFLAGS make --no-print-directory --silent install DESTDIR="$tree" BUILD="$BUILD"
mkdir -p "$place" "$units/multi-user.target.wants" "$tree/etc/pebsd/pebsd.conf.d"
# The period is fixed, unless a test says otherwise. The emulated PMU has few accesses, and the emulator needs so
# long for an interrupt that the governor would lengthen the period.
printf '[sampling]\nbudget = off\nperiod = 101\n' >"$tree/etc/pebsd/pebsd.conf.d/00-guest.conf"
install "$here"/inside/*.sh "$BUILD"/tests/guest/{pmu,loopback_up,workload,sharing,keep_many,open_event,vm,rights} "$place/"
mkdir "$place/hardware"
install "$here"/../hardware/{run.sh,perf_script.awk,figures.jq,judge.jq} "$BUILD/tests/hardware/chase" "$place/hardware/"
install -m 644 "$here"/inside/*.jq "$here"/../bench/sample_price.txt "$BUILD"/tests/guest/*.so "$place/"
# Includes the package of `make deb`, if there is one.
find "$BUILD/deb" -maxdepth 1 -name 'pebsd_*.deb' -exec cp {} "$place/" \; 2>/dev/null || :
# For test_image.sh: the DaemonSet, and the image of `make image`, if there is one.
if [ "$runtimes" = podman ]; then
	"$here/pod.py" config/kubernetes/daemonset.yaml >"$place/daemonset.json"
	find "$BUILD/image" -maxdepth 1 -name 'pebsd-*.oci.tar' -exec cp {} "$place/" \; 2>/dev/null || :
fi
cp "$kernel/release" "$place/release"
# Modules of KVM, for the virtual machine that test_guests.sh runs inside the guest.
mkdir "$place/kvm"
for name in irqbypass kvm kvm-amd; do
	file=$(find "$kernel/usr/lib/modules" -name "$name.ko*" -print -quit)
	case $file in
	*.xz) xz -dc "$file" >"$place/kvm/$name.ko" ;;
	*.ko) cp "$file" "$place/kvm/" ;;
	esac
done
install -m 644 "$here/inside/guest-tests.service" "$units/"
ln -s ../guest-tests.service "$units/multi-user.target.wants/"
# Tests put drop-ins into this directory. systemd does not read directories that are made after its start.
mkdir -p "$tree/etc/systemd/system/pebsd.service.d"
chmod 755 "$tree"
# The root is in memory, because a disk would answer in the host's time. It is an archive without compression. It has
# perf, apt and their dependencies only if a test needs the complete root: a guest needs a second to copy ten megabytes.
whole=$(mktemp -d "$output/whole.XXXXXX")
trap 'rm -rf "$tree" "$whole"' EXIT
zstd -q -d -c "$(cached root "$release${runtimes:+-$runtimes}")" | (cd "$whole" && cpio --extract --make-directories --preserve-modification-time --quiet)
cp -a "$tree/." "$whole/"
if [ -n "$runtimes" ]; then
	modules=usr/lib/modules/$(cat "$kernel/release")
	mkdir -p "$whole/$modules"
	(cd "$kernel/$modules" && cp -a --parents modules.{builtin,builtin.modinfo,order} kernel/fs/{autofs,overlayfs} \
		kernel/drivers/net/{dummy,macvlan,tun,veth}.ko.xz kernel/net/{802,bridge,llc,netfilter,ipv4/netfilter,ipv6/netfilter} \
		"$whole/$modules/")
	chroot "$whole" depmod "$(cat "$kernel/release")"
fi
NAMES='perf|perf-core|gconv|python3[^/]*|libpython3[^/]*|perl[^/]*|libperl[^/]*|libslang[^/]*|libdb-[^/]*'
NAMES+='|libopencsd[^/]*|libbabeltrace[^/]*|apt|apt-[^/]*|libapt-[^/]*|libstdc\+\+[^/]*|gpgv|ldconfig|systemd-networkd'
NAMES+='|libRmath.a|libmvec[^/]*|dpkg'
# archive GREP_ARGUMENT...: prints an archive of the files whose paths grep selects. What was made just now gets the time
# at which guests begin, so that two images of the same files are equal.
archive() {
	find "$whole" -newermt "@$began" -exec touch --no-dereference --date=2026-01-01T00:00:00Z {} +
	(cd "$whole" && find . -mindepth 1 -print0 | grep -z -E "$@" | LC_ALL=C sort -z |
		cpio --null --create --format=newc --reproducible --quiet)
}
# Without address randomization all addresses in the kernel are constant, so the layout is kept for each kernel.
hash=$(hash_of "$BUILD/tests/guest/pmu" "$kernel/vmlinux" --)
layout=$output/layout-${hash:0:12}
if [ ! -e "$layout" ]; then
	archive -v "/($NAMES)(/|\$)" >"$output/initrd"
	"$here/guest.sh" --layout "$series" >"$layout.new"
	grep -q '^per_cpu_offset=' "$layout.new" || fail "the guest could not tell its kernel's layout: $output/serial-layout.log"
	mv "$layout.new" "$layout"
fi
cp "$layout" "$whole/usr/lib/pebsd-tests/layout"
if [ -n "$runtimes" ]; then
	archive -v "/($NAMES)(/|\$)" >"$output/initrd-$runtimes.new"
	mv "$output/initrd-$runtimes.new" "$output/initrd-$runtimes"
	exit
fi
archive -v "/($NAMES)(/|\$)" >"$output/initrd.new"
(cat "$output/initrd.new" && archive "/($NAMES)(/|\$)") >"$output/initrd-whole.new"
mv "$output/initrd.new" "$output/initrd"
mv "$output/initrd-whole.new" "$output/initrd-whole"
