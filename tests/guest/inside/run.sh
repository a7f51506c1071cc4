#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the tests that the kernel's command line names (guest.tests=NAME,NAME), one after the other, and
# switches the machine off. No input comes from outside later, because it would move the guest's clock.
#
# The second serial line gets "begin NAME" before each test. Lines "| LINE" follow: if the test passed, what it
# measured, and if it failed, its output and the logs. Then comes the result: "passed NAME SECONDS", "failed NAME
# SECONDS WHY" or "skipped NAME SECONDS WHY". After the last test comes "end".
#
# With guest.layout it only prints the addresses in this kernel that the emulated PMU needs. image.sh keeps them. A
# test may take 300 seconds, or the time in its line "# time limit: 600 s".
set -u

cd /usr/lib/pebsd-tests || exit 1
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
if grep -q -w guest.layout /proc/cmdline; then
	./pmu layout >&3
	exec 3>&-
	systemctl poweroff --force --force
fi
# Tells the emulated PMU where this kernel keeps its tasks, so that its books can name them. The image has the addresses
# of its own kernel. Others are looked up, which takes two seconds.
layout=layout
if [ "$(uname -r)" != "$(<release)" ]; then
	layout=/run/layout
	./pmu layout >$layout
fi
./pmu kernel $layout

# explain WHAT COMMAND...: sends the last 100 lines of the output of the command, with the heading WHAT.
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
