#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds these sources twice: in directories with names of different lengths, as different users (as root), on
# hosts with different names (as root), with another umask, language, time zone and date (with faketime), and with
# another number of jobs. The installed files and the BPF objects must be identical, and differences are shown.
# The output names what was varied.
#   reproducible.sh [VARIABLE=VALUE...]   make's, for both builds
set -eu

fail() {
	echo "$*"
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 711 "$work"
first=$work/a second=$work/a-second-directory/with/a/longer/name

copy_to() {
	mkdir -p "$1"
	tar --exclude="./${BUILD:-build}" --exclude=./.git -cf - . | tar -C "$1" --no-same-owner -xf -
}
copy_to "$first"
copy_to "$second"

# Disables caches, because no part of one build may come from a cache that another filled.
export CCACHE_DISABLE=1
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
differ='directory, umask, language, time zone, jobs'
other=()
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 "$second"
	other=(unshare --uts -- sh -c 'hostname elsewhere && exec "$@"' sh setpriv --reuid=65534 --regid=65534 --clear-groups)
	if "${other[@]}" true 2>/dev/null; then
		differ="$differ, user, host's name"
	else
		other=()
	fi
fi
if command -v faketime >/dev/null; then
	other+=(faketime -f '+400d')
	differ="$differ, date"
fi

settings=("$@")
# build ENVIRONMENT... : builds and installs the copy in the current directory.
build() {
	env "$@" make --no-print-directory all install DESTDIR="$PWD/build/installed" BUILD=build "${settings[@]}" \
		>"$work/log" 2>&1 || {
		tail -n 20 "$work/log"
		fail "the build in $PWD failed"
	}
}
(cd "$first" && umask 022 && build LC_ALL=C.UTF-8 TZ=UTC MAKEFLAGS=-j"$(nproc)")
(cd "$second" && umask 077 && build LC_ALL=C LANGUAGE=de TZ=Pacific/Kiritimati HOME=/nonexistent USER=somebody \
	LOGNAME=somebody MAKEFLAGS=-j$(($(nproc) + 1)) ${other[@]+"${other[@]}"})

sums() {
	(cd "$1/build" && find installed bpf -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
sums "$first" >"$work/first.sums"
sums "$second" >"$work/second.sums"
grep -q 'installed/usr/sbin/pebsd$' "$work/first.sums" || fail 'the build has no pebsd'
if ! cmp -s "$work/first.sums" "$work/second.sums"; then
	echo "two builds of the same sources differ; there differed: $differ. These files are not the same:"
	LC_ALL=C join -1 2 -2 2 -a 1 -a 2 -o 0,1.1,2.1 "$work/first.sums" "$work/second.sums" |
		while read -r name one another; do
			[ "$one" != "$another" ] || continue
			echo "  $name"
			cmp --print-bytes "$first/build/$name" "$second/build/$name" 2>&1 | head -n 1 | sed 's/^/    /'
			diff <(strings -a "$first/build/$name") <(strings -a "$second/build/$name") | head -n 6 | sed 's/^/    /'
		done
	exit 1
fi
echo "$(wc -l <"$work/first.sums") files are the same bytes in two builds; there differed: $differ"
