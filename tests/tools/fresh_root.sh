#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the README's two commands as they are printed, one after the other, in a minimal Debian 12 root that holds
# nothing but the last commit: no make, no compiler, no package lists. The second installs all that the first one does
# (`test` in the Makefile), so it needs no root of its own. Its build continues the first one's. `make test-sanitize`
# builds the tests from nothing. Needs root, mmdebstrap and some minutes.
# The mirror is the one in this system's own apt configuration.
# shellcheck source=tests/tools/roots.sh
. "${0%/*}/roots.sh"

git rev-parse --verify --quiet HEAD >/dev/null || skip "needs a git checkout with a commit"
begin_roots "$@"

job=''
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	[ -z "$job" ] || kill -KILL -- "-$job" 2>/dev/null || :
	clean_up_roots
}
trap clean_up EXIT

command_for() {
	local line
	line=$(grep -x ".*&& make $1" README.md || :)
	[ "$(grep -c . <<<"$line")" = 1 ] || fail "README.md has not exactly one line that ends with \"&& make $1\""
	echo "$line"
}

make_root debian
mkdir "$work/debian/pebsd"
git archive HEAD | tar -C "$work/debian/pebsd" -x
command=$(command_for run)
# A separate process group, as a terminal makes it, for the Ctrl-C.
set -m
inside debian "cd /pebsd && $command" >"$work/run.log" 2>&1 &
job=$!
set +m
until grep -q '^ *curl http' "$work/run.log"; do
	kill -0 "$job" 2>/dev/null || fail "\"$command\" ended: $(cat "$work/run.log")"
	[ "$SECONDS" -lt 3600 ] || fail "\"$command\" does not serve: $(cat "$work/run.log")"
	sleep 1
done
say_time "make run serves"
grep -q 'NO MEASUREMENT' "$work/run.log" || [ -e /sys/bus/event_source/devices/cpu/events/mem-loads ] ||
	fail "\"$command\" does not say that it shows a model: $(cat "$work/run.log")"
environment=$(sed -n 's/^ *\(export PEBSD_SOCKET=.*\)/\1/p' "$work/run.log")
[ -n "$environment" ] || fail "no socket is printed: $(cat "$work/run.log")"
# The commands of the scenario, which stand farther to the right, have times that are yet to come.
sed -n 's/^    \(\(pebsctl\|curl http\).*\)/\1/p' "$work/run.log" >"$work/printed"
while read -r line; do
	# Only the last printed line shows samples, and they arrive after a while: repeat that line.
	for _ in $(seq 60); do
		inside debian "cd /pebsd && $environment && $line" >"$work/output" 2>&1 || fail "\"$line\", as printed, failed: $(cat "$work/output")"
		if [[ $line != *curl* ]] || grep -q '^pebsd_samples_seen_total{.*} [1-9]' "$work/output"; then
			break
		fi
		sleep 1
	done
	[ -s "$work/output" ] || fail "\"$line\", as printed, prints nothing"
done <"$work/printed"
grep -q '^pebsd_samples_seen_total{.*} [1-9]' "$work/output" ||
	fail "no sample in what curl got: $(head -n 50 "$work/output")"
kill -INT -- "-$job"
status=0
wait "$job" || status=$?
job=''
left=$(find "$work/debian/tmp" -mindepth 1 -name '*pebsd*')
[ -z "$left" ] || fail "make run left behind: $left"
[ ! -e "$work/debian/usr/sbin/policy-rc.d" ] || fail "make deps left its policy-rc.d behind"
case $status in
0 | 130) ;; # 130: make ends by the signal, even if its recipe succeeded
*) fail "make run ended with status $status after an interrupt: $(cat "$work/run.log")" ;;
esac
say_time "make run ended by an interrupt, status $status"

command=$(command_for test)
status=0
inside debian "cd /pebsd && $command" >"$work/test.log" 2>&1 || status=$?
[ "$status" = 0 ] || cat "$work/test.log"
say_time "make test ended with status $status"
tail -n 1 "$work/test.log"
[ "$status" = 0 ] || fail "\"$command\" failed"
