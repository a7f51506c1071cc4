#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the root that guests boot from: a minimal Debian with systemd and the libraries that pebsd needs, as an archive
# for the kernel to unpack at boot. It contains nothing of this project.
#   root.sh RELEASE
# Leaves $(cached root RELEASE). Needs root.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
set -o pipefail

[ $# = 1 ] || fail "usage: root.sh RELEASE"
release=$1
archive=$(cached root "$release")
packages=apt,attr,bpftool,curl,dbus,jq,kmod,polkitd,procps,systemd,systemd-sysv
case $release in
bookworm) packages+=,libdw1,libelf1,libmicrohttpd12 ;;
*) packages+=,libdw1t64,libelf1t64,libmicrohttpd12t64 ;;
esac
packages+=,libbpf1,libinih1,libjson-c5,libprotobuf-c1,libsqlite3-0,libsystemd0,libzstd1,r-mathlib,zlib1g
# For tests in which perf samples at the same time as pebsd.
packages+=,linux-perf

lock "$archive"
! in_cache "$archive" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

tree=$archive.tree
rm -rf --one-file-system "$tree"
mkdir "$tree"
trap 'rm -rf --one-file-system "$tree"' EXIT
make_root "$tree" "$release" --variant=essential --include="$packages" \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/zoneinfo/*' ||
	skip "Debian $release cannot be had from the mirror that apt uses here"
rm -rf --one-file-system "$tree"/var/lib/apt/lists/* "$tree"/var/cache/* "$tree"/usr/share/{doc,man,locale,zoneinfo}
# perf needs the libraries of Perl and Python but none of their modules, which are most of what a guest would unpack.
rm -rf --one-file-system "$tree"/usr/share/{perl,python3,gcc,gdb} "$tree"/usr/lib/python3* "$tree"/usr/lib/x86_64-linux-gnu/perl
# This is not a machine's first boot, which would ask questions and take time.
echo 00000000000000000000000000000001 >"$tree/etc/machine-id"
echo guest >"$tree/etc/hostname"
: >"$tree/etc/fstab"
(cd "$tree" && find . -xdev -print0 | cpio --null --create --format=newc --quiet) | zstd -q -T0 -9 >"$archive.new"
mv "$archive.new" "$archive"
