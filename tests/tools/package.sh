#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# make deb: builds the Debian package of this tree with Debian's own tools.
#   package.sh OUTPUT VERSION
# Makes OUTPUT/pebsd_VERSION_ARCH.deb and checks it with lintian. The tree is copied below OUTPUT, so that no file of
# the build is among the sources.
set -eu

fail() {
	printf 'package: %s\n' "$*" >&2
	exit 1
}

[ $# = 2 ] || fail 'usage: package.sh OUTPUT VERSION'
output=$1 version=$2
tree=$output/pebsd-$version
said=$(sed -n '1s/^pebsd (\(.*\)) .*/\1/p' units/packaging/debian/changelog)
[ "$said" = "$version" ] ||
	fail "units/packaging/debian/changelog begins with $said, the Makefile has $version: add an entry for $version"

rm -rf "$output"
mkdir -p "$tree"
# Everything except build results. This also works without git, in an unpacked archive.
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$tree"
cp -r "$tree/units/packaging/debian" "$tree/debian"
# The settings of the make that runs this must not apply to the package.
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD PREFIX DESTDIR WERROR CFLAGS CPPFLAGS LDFLAGS
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --jobs="$(nproc)") >"$output/build.log" 2>&1 ||
	fail "dpkg-buildpackage failed: $(tail -n 20 "$output/build.log")"
# Pedantic tags of lintian also fail. Accepted tags are in pebsd.lintian-overrides, with the reasons.
lintian --fail-on error,warning,info,pedantic --pedantic --display-info --info "$output"/pebsd_"$version"_*.deb \
	>"$output/lintian.log" 2>&1 || fail "lintian: $(cat "$output/lintian.log")"
ls "$output"/pebsd_*.deb
