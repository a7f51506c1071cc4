#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes all that a guest boots: the emulator, a kernel of a series, its root, and over that root pebsd as `make install`
# leaves it, the tests and their programs. pebsd must be built. What exists already and was made from the same sources is
# kept.
#   image.sh SERIES
# Leaves $BUILD/guest/SERIES/initrd, and initrd-whole with all that Debian installed.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || fail "usage: image.sh SERIES"
series=$1
set -o pipefail
here=${0%/*}
release=$(release_of "$series")
kernel=$(cached kernel "$series")
output=$guest/$series
mkdir -p "$output"
"$here/emulator.sh"
"$here/kernel.sh" "$series"
"$here/root.sh" "$release"

tree=$(mktemp -d "$output/overlay.XXXXXX")
trap 'rm -rf "$tree"' EXIT
place=$tree/usr/lib/pebsd-tests
units=$tree/usr/lib/systemd/system
env -u MAKEFLAGS make --no-print-directory --silent install DESTDIR="$tree" BUILD="$BUILD"
mkdir -p "$place" "$units/multi-user.target.wants" "$tree/etc/pebsd/pebsd.conf.d"
# But where a test says otherwise the period stays as it is: the emulated PMU's accesses are few, and an interrupt takes
# the emulator so long that the governor would lengthen it.
printf '[sampling]\nbudget = off\nperiod = 101\n' >"$tree/etc/pebsd/pebsd.conf.d/00-guest.conf"
install "$here"/inside/*.sh "$BUILD"/tests/guest/{pmu,loopback_up,workload,sharing,keep_many,open_event,vm,rights} "$place/"
mkdir "$place/hardware"
install "$here"/../hardware/{run.sh,perf_script.awk,figures.jq,judge.jq} "$BUILD/tests/hardware/chase" "$place/hardware/"
install -m 644 "$here"/inside/*.jq "$here"/../bench/sample_price.txt "$BUILD"/tests/guest/*.so "$place/"
# What `make deb` leaves, where it was made.
find "$BUILD/deb" -maxdepth 1 -name 'pebsd_*.deb' -exec cp {} "$place/" \; 2>/dev/null || :
cp "$kernel/release" "$place/release"
# A virtual machine in the virtual machine: for whoever has one, pebsd says so.
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
# Tests put drop-ins there; directories that come later systemd does not look into.
mkdir -p "$tree/etc/systemd/system/pebsd.service.d"
chmod 755 "$tree"
# A root in memory, for a disk's answers would come in the host's time; as an archive that need not be decompressed, and
# without perf, apt and what these need but where a test asks for the whole: to copy ten megabytes takes a guest a second.
whole=$(mktemp -d "$output/whole.XXXXXX")
trap 'rm -rf "$tree" "$whole"' EXIT
zstd -q -d -c "$(cached root "$release")" | (cd "$whole" && cpio --extract --make-directories --preserve-modification-time --quiet)
cp -a "$tree/." "$whole/"
NAMES='perf|perf-core|gconv|python3[^/]*|libpython3[^/]*|perl[^/]*|libperl[^/]*|libslang[^/]*|libsqlite3[^/]*|libdb-[^/]*'
NAMES+='|libopencsd[^/]*|libbabeltrace[^/]*|apt|apt-[^/]*|libapt-[^/]*|libstdc\+\+[^/]*|gpgv|ldconfig|systemd-networkd'
NAMES+='|libRmath.a|libmvec[^/]*|dpkg'
# archive GREP_OPTION...: of the files whose names it takes.
archive() {
	(cd "$whole" && find . -mindepth 1 -print0 | grep -z -E "$@" | LC_ALL=C sort -z |
		cpio --null --create --format=newc --reproducible --quiet)
}
# Without address randomization the kernel has everything where it always has it.
hash=$(hash_of "$BUILD/tests/guest/pmu" "$kernel/vmlinux" --)
layout=$output/layout-${hash:0:12}
if [ ! -e "$layout" ]; then
	archive -v "/($NAMES)(/|\$)" >"$output/initrd"
	"$here/guest.sh" --layout "$series" >"$layout.new"
	grep -q '^per_cpu_offset=' "$layout.new" || fail "the guest could not tell its kernel's layout: $output/serial-layout.log"
	mv "$layout.new" "$layout"
fi
cp "$layout" "$whole/usr/lib/pebsd-tests/layout"
archive -v "/($NAMES)(/|\$)" >"$output/initrd.new"
(cat "$output/initrd.new" && archive "/($NAMES)(/|\$)") >"$output/initrd-whole.new"
mv "$output/initrd.new" "$output/initrd"
mv "$output/initrd-whole.new" "$output/initrd-whole"
