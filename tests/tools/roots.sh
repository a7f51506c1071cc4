# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For scripts in this folder that need their own minimal Debian 12 roots. mmdebstrap makes them from the mirror in this
# system's apt configuration. They and all mounts in them disappear when the script ends.
set -eu

SUITE=bookworm

skip() {
	echo "$*"
	exit 77
}

fail() {
	echo "$*"
	exit 1
}

say_time() {
	echo "$* (after $SECONDS s)"
}

# shellcheck disable=SC2317 # called by the trap
clean_up_roots() {
	for mounted in "$work"/*/proc "$work"/*/sys "$work"/*/dev; do
		! mountpoint -q "$mounted" || umount --recursive --lazy "$mounted"
	done
	rm -rf --one-file-system "$work"
}

# begin_roots ARGUMENT...: must be called first, with the script's arguments. Skips the script if no root can be made.
# Roots are below $work. The minimal root is an archive.
begin_roots() {
	local sources proxy=''
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v mmdebstrap >/dev/null || skip "needs mmdebstrap (apt-get install mmdebstrap)"
	unshare --mount true 2>/dev/null || skip "needs the permission to mount"
	# All mounts belong to this process and end with it.
	[ -n "${ROOTS_MOUNTS:-}" ] || ROOTS_MOUNTS=own exec unshare --mount "$0" "$@"

	# shellcheck disable=SC2016 # apt's own variables
	sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v suite=$SUITE '$3 == suite || index($3, suite "-") == 1 && $3 ~ /-(updates|security)$/' | sort -u)
	[ -n "$sources" ] || skip "needs a source of Debian $SUITE in this system's apt configuration"
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	work=$(mktemp -d)
	trap clean_up_roots EXIT
	mmdebstrap --quiet --variant=apt ${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} $SUITE "$work/base.tar" - \
		<<<"$sources"
	say_time "a minimal root is made"
}

# make_root NAME: makes a root at $work/NAME.
make_root() {
	mkdir -p "$work/$1"
	tar -C "$work/$1" -xf "$work/base.tar"
	cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
	mount -t proc proc "$work/$1/proc"
	mount --rbind /sys "$work/$1/sys"
	mount --rbind /dev "$work/$1/dev"
}

# inside NAME COMMAND_LINE: runs the command line in the root NAME, without this environment.
inside() {
	chroot "$work/$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb sh -c "$2" </dev/null
}
