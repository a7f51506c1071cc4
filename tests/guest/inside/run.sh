#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the tests that tests/guest/guest.sh names one after the other, and switches the machine off.
# Over the second serial line it asks for each with "next", and reads its name, or "end". There go, too: "begin NAME"
# before each test; then, of one that did not pass, what it printed as "| LINE" and what else may explain it; then its
# result as "passed NAME SECONDS", "failed NAME SECONDS WHY" or "skipped NAME SECONDS WHY"; "end" after the last.
# A guest whose time is counted in instructions has all names on the kernel's command line, guest.tests=NAME,NAME: nothing
# that comes from outside may move its clock.
# A test may take 300 seconds, or what a line of it says: "# time limit: 600 s".
set -u

cd /usr/lib/pebsd-tests || exit 1
stty -F /dev/ttyS1 raw -echo
# An emulated PMU learns where this kernel has its tasks, so that its books know them.
! ./pmu machine >/dev/null 2>&1 || ./pmu kernel
exec 3<>/dev/ttyS1

# explain WHAT COMMAND...: sends what the command prints.
explain() {
	printf '| ---- %s\n' "$1"
	"${@:2}" 2>&1 | tail -n 100 | sed 's/^/| /'
} >&3

told=$(sed -n 's/.* guest\.tests=\([^ ]*\).*/\1/p' /proc/cmdline)

# next: sets `name`, or fails after the last.
next() {
	echo next >&3
	if [ -n "$told" ]; then
		name=${told%%,*} told=${told#"$name"}
		told=${told#,}
		[ -n "$told" ] || told=end
	else
		read -r name <&3
	fi
	[ "$name" != end ]
}

while next; do
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
