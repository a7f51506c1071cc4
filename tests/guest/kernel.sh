#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gets Debian's kernel of a series for virtual machines, with its modules, unpacked.
#   kernel.sh SERIES
# Leaves $BUILD/guest/kernel-SERIES: its files; vmlinuz beside it as kernel-SERIES.vmlinuz, and the release in
# kernel-SERIES.release. Needs root. 77: this series cannot be had.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || fail "usage: kernel.sh SERIES"
series=$1
release=$(release_of "$series")
suite=$(suite_of "$series")
root=$guest/kernel-$series

lock "$root"
hash=$(hash_of "$0" "${0%/*}/common.sh" -- "$series")
! made "$root" "$hash" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

from=$release
[ "$suite" = "$release" ] || from="$release $suite"
rm -rf --one-file-system "$root"
make_root "$root" "$from" --variant=extract --aptopt='APT::Install-Recommends "false"' --include=linux-image-cloud-amd64 ||
	skip "Debian's suite $suite cannot be had from the mirror that apt uses here"
found=$(basename "$root"/usr/lib/modules/*-cloud-amd64)
case $found in
"$series".*-cloud-amd64) ;;
*) skip "Debian's suite $suite has kernel $found and none of the series $series" ;;
esac
for image in "$root/boot/vmlinuz-$found" "$root/usr/lib/modules/$found/vmlinuz"; do
	[ ! -e "$image" ] || cp "$image" "$root.vmlinuz"
done
printf '%s\n' "$found" >"$root.release"
remember "$root" "$hash"
