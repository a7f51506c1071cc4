#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gets Debian's kernel of a series for virtual machines, with its modules, unpacked.
#   kernel.sh SERIES
# Leaves $(cached kernel SERIES): the files of the package, the decompressed kernel in `vmlinux`, and its release
# in `release`. Needs root. Exits with 77 if this series cannot be obtained.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
# shellcheck source=tests/guest/unpack.sh
. "${0%/*}/unpack.sh"

[ $# = 1 ] || fail "usage: kernel.sh SERIES"
series=$1
release=$(release_of "$series")
suite=$(suite_of "$series")
root=$(cached kernel "$series")

lock "$root"
! in_cache "$root" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

from=$release
[ "$suite" = "$release" ] || from="$release $suite"
tree=$root.new
rm -rf --one-file-system "$tree"
make_root "$tree" "$from" --variant=extract --aptopt='APT::Install-Recommends "false"' --include=linux-image-cloud-amd64 ||
	skip "Debian's suite $suite cannot be had from the mirror that apt uses here"
found=$(basename "$tree"/usr/lib/modules/*-cloud-amd64)
case $found in
"$series".*-cloud-amd64) ;;
*) skip "Debian's suite $suite has kernel $found and none of the series $series" ;;
esac
for image in "$tree/boot/vmlinuz-$found" "$tree/usr/lib/modules/$found/vmlinuz"; do
	[ ! -e "$image" ] || decompress "$image" >"$tree/vmlinux"
done
[ -s "$tree/vmlinux" ] || fail "$tree: the package of $found has no kernel image"
printf '%s\n' "$found" >"$tree/release"
mv -T "$tree" "$root"
