#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes all that a guest boots: what emulates it, a kernel of a series, its root, and over that root pebsd as
# `make install` leaves it, the module, the tests and what they run. pebsd must be built. What is there already and made
# from the same is kept.
#   image.sh SERIES
# Leaves $BUILD/guest/SERIES/initrd.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || fail "usage: image.sh SERIES"
series=$1
here=${0%/*}
release=$(release_of "$series")
output=$guest/$series
"$here/emulator.sh"
"$here/kernel.sh" "$series"
"$here/module.sh" "$series"
"$here/root.sh" "$release"

tree=$(mktemp -d "$output/overlay.XXXXXX")
trap 'rm -rf "$tree"' EXIT
place=$tree/usr/lib/pebsd-tests
units=$tree/usr/lib/systemd/system
env -u MAKEFLAGS make --no-print-directory --silent install DESTDIR="$tree" BUILD="$BUILD"
mkdir -p "$place" "$units/multi-user.target.wants" "$tree/etc/pebsd/pebsd.conf.d"
# Periods stay as they are, and nothing but pebsd's events samples, but where a test says otherwise: what they compare
# with the machine's books is exact, and an interrupt takes the emulator so long that the budget would bite.
printf '[sampling]\nbudget = off\n' >"$tree/etc/pebsd/pebsd.conf.d/00-guest.conf"
install "$here"/inside/*.sh "$BUILD"/tests/guest/{workload,sharing,keep_many,open_event,vm,rights} "$place/"
mkdir "$place/hardware"
install "$here"/../hardware/{run.sh,perf_script.awk,figures.jq,judge.jq} "$BUILD/tests/hardware/chase" "$place/hardware/"
install -m 644 "$here"/inside/*.jq "$BUILD"/tests/guest/*.so "$place/"
# What `make deb` leaves, where it was made.
find "$BUILD/deb" -maxdepth 1 -name 'pebsd_*.deb' -exec cp {} "$place/" \; 2>/dev/null || :
cp "$guest/$series"/module/*.ko "$guest/kernel-$series.release" "$place/"
mv "$place/kernel-$series.release" "$place/release"
# A virtual machine in the virtual machine: for whoever has one, pebsd says so.
mkdir "$place/kvm"
for name in irqbypass kvm kvm-amd; do
	file=$(find "$guest/kernel-$series/usr/lib/modules" -name "$name.ko*" -print -quit)
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
{
	cat "$guest/root-$release.cpio.zst"
	(cd "$tree" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --null --create --format=newc --owner=0:0 --quiet) | zstd -q -1
} >"$output/initrd.new"
mv "$output/initrd.new" "$output/initrd"
