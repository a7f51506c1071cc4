#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gets Debian's kernel of a series for virtual machines, with what building modules for it takes: its headers, its
# build tools, and the compiler that it was made with. They are unpacked, not installed, into a root of their own,
# which is not for booting but for chroot(1): header packages name absolute paths, and tools want their own C library.
#   kernel.sh SERIES
# Leaves $BUILD/guest/kernel-SERIES: the root; vmlinuz beside it as kernel-SERIES.vmlinuz, and the release in
# kernel-SERIES.release. Needs root. 77: this series cannot be had.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || fail "usage: kernel.sh SERIES"
series=$1
release=$(release_of "$series")
suite=$(suite_of "$series")
root=$guest/kernel-$series
# Besides what the headers depend on.
TOOLS=bash,binutils,coreutils,dash,diffutils,findutils,grep,make,mawk,perl-base,sed

lock "$root"
hash=$(hash_of "$0" "${0%/*}/common.sh" -- "$series")
! made "$root" "$hash" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

from=$release
[ "$suite" = "$release" ] || from="$release $suite"
rm -rf --one-file-system "$root"
make_root "$root" "$from" --variant=extract --include=$TOOLS,linux-image-cloud-amd64,linux-headers-cloud-amd64 ||
	skip "Debian's suite $suite cannot be had from the mirror that apt uses here"
found=$(basename "$root"/usr/src/linux-headers-*-cloud-amd64)
found=${found#linux-headers-}
case $found in
"$series".*-cloud-amd64) ;;
*) skip "Debian's suite $suite has kernel $found and none of the series $series" ;;
esac
# What alternatives, set when packages are configured, would link.
ln -sf mawk "$root/usr/bin/awk"
for image in "$root/boot/vmlinuz-$found" "$root/usr/lib/modules/$found/vmlinuz"; do
	[ ! -e "$image" ] || cp "$image" "$root.vmlinuz"
done
printf '%s\n' "$found" >"$root.release"
remember "$root" "$hash"
