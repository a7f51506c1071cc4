#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the tests that the kernel's command line names, guest.tests=NAME,NAME, one after the other, and
# switches the machine off. Nothing comes from outside later: it would move the guest's clock.
# Over the second serial line goes "begin NAME" before each test; then, of one that did not pass, what it printed as
# "| LINE" and what else may explain it; then its result as "passed NAME SECONDS", "failed NAME SECONDS WHY" or "skipped
# NAME SECONDS WHY"; "end" after the last.
# With guest.layout it prints there where this kernel has what the emulated PMU reads, instead: image.sh keeps it.
# A test may take 300 seconds, or what a line of it says: "# time limit: 600 s".
set -u

cd /usr/lib/pebsd-tests || exit 1
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
if grep -q -w guest.layout /proc/cmdline; then
	./pmu layout >&3
	exec 3>&-
	systemctl poweroff --force --force
fi
# The emulated PMU learns where this kernel has its tasks, so that its books know them.
./pmu kernel layout

# explain WHAT COMMAND...: sends what the command prints.
explain() {
	printf '| ---- %s\n' "$1"
	"${@:2}" 2>&1 | tail -n 100 | sed 's/^/| /'
} >&3

IFS=, read -r -a names < <(sed -n 's/.* guest\.tests=\([^ ]*\).*/\1/p' /proc/cmdline)
for name in "${names[@]}"; do
	script=./test_$name.sh
	log=/run/test_$name.log
	limit=$(sed -n 's/^# time limit: \([0-9]*\) s$/\1/p' "$script")
	limit=${limit:-300}
	printf 'begin %s\n' "$name" >&3
	echo "guest-tests: $name begins" >/dev/kmsg
	since=$(date +%s)
	timeout --kill-after=40 "$limit" "$script" </dev/null >"$log" 2>&1 3>&-
	status=$?
	took=$(($(date +%s) - since))
	case $status in
	0)
		sed -n 's/^measured: /| /p' "$log" >&3
		printf 'passed %s %s\n' "$name" "$took" >&3
		continue
		;;
	77)
		printf 'skipped %s %s %s\n' "$name" "$took" "$(tail -n 1 "$log")" >&3
		continue
		;;
	124 | 137) why="not done after $limit seconds" ;;
	*) why="exit status $status" ;;
	esac
	explain 'what it printed' cat "$log"
	[ ! -d /run/systemd/system ] || explain 'the journal of pebsd' journalctl --quiet --no-pager --output=short-monotonic --unit=pebsd.service \
		"--since=@$since"
	[ ! -e /run/pebsd.log ] || explain "pebsd's log" cat /run/pebsd.log
	explain "the kernel's log" sed -n "/guest-tests: $name begins/,\$p" <(dmesg)
	printf 'failed %s %s %s\n' "$name" "$took" "$why" >&3
done
printf 'end\n' >&3
systemctl poweroff --force --force
