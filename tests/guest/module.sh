#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the kernel module of tests/guest/module/ for a series of kernels.
#   module.sh SERIES
# The tree that kbuild sees as $(src), a copy: what is in tests/guest/module/ at its top, and include/ and daemon/
# of the checkout below it by their names (of daemon/ the headers, and the C files of daemon/model/).
# Leaves the modules as $BUILD/guest/SERIES/module/*.ko.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

[ $# = 1 ] || fail "usage: module.sh SERIES"
series=$1
here=${0%/*}
root=$guest/kernel-$series
output=$guest/$series/module
"$here/kernel.sh" "$series"

mapfile -t sources < <(
	find include/pebsd "$here/module" -name '*.[chS]' -o -name Kbuild
	find daemon -name '*.h' -o -path 'daemon/model/*.c'
)
mapfile -t sources < <(printf '%s\n' "${sources[@]}" | sort)
release=$(cat "$root.release")
mkdir -p "$output"
lock "$output"
hash=$(hash_of "$0" "${sources[@]}" -- "$release")
! made "$output/built" "$hash" || exit 0

tree=$root/module
rm -rf --one-file-system "$tree" "${output:?}"/*
mkdir -p "$tree"
for file in "${sources[@]}"; do
	install -D -m 644 "$file" "$tree/${file#"$here/module/"}"
done
# The objtool of 7.x reads /proc, which is mounted for this alone. Where nothing may be mounted, the others do without.
enter=(chroot "$root")
# shellcheck disable=SC2016 # the inner shell's
! unshare --mount true 2>/dev/null ||
	enter=(unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$root")
"${enter[@]}" /usr/bin/env -i PATH=/usr/sbin:/usr/bin \
	make -j"$(nproc)" -C "/usr/src/linux-headers-$release" M=/module modules >"$output/log" 2>&1 || {
	tail -n 60 "$output/log" >&2
	fail "the module does not build for $release: all of it is in $output/log"
}
! grep -E 'warning:|WARNING: modpost' "$output/log" >&2 ||
	fail "the module builds with warnings for $release: all of it is in $output/log"
cp "$tree"/*.ko "$output/"
: >"$output/built"
remember "$output/built" "$hash"
