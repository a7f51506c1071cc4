#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the README's two commands as they are printed, each in a minimal Debian 12 root of its own that holds nothing
# but the last commit: no make, no compiler, no package lists. Needs root, mmdebstrap and some minutes.
# The mirror is the one in this system's own apt configuration.
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

[ "$(id -u)" = 0 ] || skip "needs root"
command -v mmdebstrap >/dev/null || skip "needs mmdebstrap (apt-get install mmdebstrap)"
git rev-parse --verify --quiet HEAD >/dev/null || skip "needs a git checkout with a commit"
unshare --mount true 2>/dev/null || skip "needs the permission to mount"
# All mounts are this process's own and go with it.
[ -n "${FRESH_ROOT_MOUNTS:-}" ] || FRESH_ROOT_MOUNTS=own exec unshare --mount "$0"

# shellcheck disable=SC2016 # apt's own variables
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v suite=$SUITE '$3 == suite || index($3, suite "-") == 1 && $3 ~ /-(updates|security)$/' | sort -u)
[ -n "$sources" ] || skip "needs a source of Debian $SUITE in this system's apt configuration"
proxy=''
eval "$(apt-config shell proxy Acquire::http::Proxy)"

work=$(mktemp -d)
job=''
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	[ -z "$job" ] || kill -KILL -- "-$job" 2>/dev/null || :
	for mounted in "$work"/*/proc "$work"/*/sys "$work"/*/dev; do
		! mountpoint -q "$mounted" || umount --recursive --lazy "$mounted"
	done
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT

say_time() {
	echo "$* (after $SECONDS s)"
}

make_root() {
	mkdir -p "$work/$1/pebsd"
	tar -C "$work/$1" -xf "$work/base.tar"
	git archive HEAD | tar -C "$work/$1/pebsd" -x
	cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
	mount -t proc proc "$work/$1/proc"
	mount --rbind /sys "$work/$1/sys"
	mount --rbind /dev "$work/$1/dev"
}

# Runs a command line in the root $1, with nothing of this environment.
inside() {
	chroot "$work/$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
		sh -c "cd /pebsd && $2" </dev/null
}

command_for() {
	local line
	line=$(grep -x ".*&& make $1" README.md || :)
	[ "$(grep -c . <<<"$line")" = 1 ] || fail "README.md has not exactly one line that ends with \"&& make $1\""
	echo "$line"
}

mmdebstrap --quiet --variant=apt ${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} $SUITE "$work/base.tar" - \
	<<<"$sources"
say_time "a minimal root is made"

make_root run
command=$(command_for run)
# A process group of its own, as a terminal gives it, for the Ctrl-C.
set -m
inside run "$command" >"$work/run.log" 2>&1 &
job=$!
set +m
until grep -q '^ *curl http' "$work/run.log"; do
	kill -0 "$job" 2>/dev/null || fail "\"$command\" ended: $(cat "$work/run.log")"
	[ "$SECONDS" -lt 900 ] || fail "\"$command\" does not serve: $(cat "$work/run.log")"
	sleep 1
done
say_time "make run serves"
grep -q 'NO MEASUREMENT' "$work/run.log" || [ -e /sys/bus/event_source/devices/cpu/events/mem-loads ] ||
	fail "\"$command\" does not say that it shows a model: $(cat "$work/run.log")"
sleep 3 # some collections
sed -n 's/^ *\(.*\(pebsctl --socket\|curl http\).*\)/\1/p' "$work/run.log" >"$work/printed"
while read -r line; do
	inside run "$line" >"$work/output" 2>&1 || fail "\"$line\", as printed, failed: $(cat "$work/output")"
	[ -s "$work/output" ] || fail "\"$line\", as printed, prints nothing"
done <"$work/printed"
grep -q '^pebsd_samples_seen_total{.*} [1-9]' "$work/output" ||
	fail "no sample in what curl got: $(head -n 50 "$work/output")"
kill -INT -- "-$job"
status=0
wait "$job" || status=$?
job=''
left=$(find "$work/run/tmp" -mindepth 1 -name '*pebsd*')
[ -z "$left" ] || fail "make run left behind: $left"
[ ! -e "$work/run/usr/sbin/policy-rc.d" ] || fail "make deps left its policy-rc.d behind"
case $status in
0 | 130) ;; # make ends by the signal, whatever its recipe made of it
*) fail "make run ended with status $status after an interrupt: $(cat "$work/run.log")" ;;
esac
say_time "make run ended by an interrupt, status $status"

make_root test
command=$(command_for test)
status=0
inside test "$command" >"$work/test.log" 2>&1 || status=$?
[ "$status" = 0 ] || cat "$work/test.log"
say_time "make test ended with status $status"
tail -n 1 "$work/test.log"
[ "$status" = 0 ] || fail "\"$command\" failed"
