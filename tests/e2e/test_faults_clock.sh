#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The clock is set an hour forward or back. Durations must not change, and times that are shown from then on must be
# those of the new clock.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
own_cgroup
name=/${cgroup##*/}
export STEP_CLOCK=$work/step STEP_BOOTTIME=$work/step.boottime
printf '0\n' | tee "$STEP_CLOCK" >"$STEP_BOOTTIME"

# Starts pebsd with a clock that can be set.
start_with_clock() {
	LD_PRELOAD="$TOOLS/step_clock.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
		start --config "$work/pebsd.conf"
}

set_clock() {
	printf '%s\n' "$1" >"$work/step.new"
	mv "$work/step.new" "$STEP_CLOCK"
	begun=$(uptime_ms) stepped=$1
}

uptime_ms() {
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# lasted WHAT LEAST MOST: expects this many ms since the clock was set.
lasted() {
	local ms=$(($(uptime_ms) - begun))
	if [ "$ms" -lt "$2" ] || [ "$ms" -gt "$3" ]; then
		fail "$1, the clock set by $stepped s: $ms ms, not $2 to $3"
	fi
}

# new_clock WHAT TIME: expects a time of the clock as it is set now.
new_clock() {
	local off
	off=$(jq --null-input --arg time "$2" --argjson step "$stepped" '($time | sub("\\.[0-9]+"; "") | fromdate) - now - $step | fabs | floor')
	[ "$off" -le 30 ] || fail "$1, the clock set by $stepped s: $2 is off by $off s"
}

# state RULE: prints the state of its alert, or none
state() {
	ctl --json alerts | jq --raw-output --arg rule "$1" 'first(.alerts[] | select(.rule == $rule)).state // "none"'
}

# until_is WHAT EXPECTED COMMAND...: waits until the command prints this
until_is() {
	local found=''
	for _ in $(seq 300); do
		found=$("${@:3}")
		[ "$found" != "$2" ] || return 0
		sleep 0.05
	done
	fail "$1: it never is $2, but $found"
}

# Counts messages, because a zoom's samples are processed before they can be shown.
zooms_over() {
	grep -c 'zoom .* is over' "$work/log" || :
}

suspended() {
	tail -n +$((log_before + 1)) "$work/log" | grep -c 'the machine was suspended' || :
}

paused() {
	ctl --json status | jq .paused
}

# Touches fresh memory all the time.
(
	echo "$BASHPID" >"$cgroup/cgroup.procs"
	while :; do
		head -c 2000000 /dev/zero | tail -c 1000000 >/dev/null
		sleep 0.02
	done
) &
others=$!

configure perf < <(
	printf 'period = 100\nbudget = off\n[rule late]\ncgroup = %s\nmetric = rate\nabove = 10\n' "$name"
	printf 'window = 4s\nfor = 6s\n'
)
for sign in '' -; do
	printf '0\n' >"$STEP_CLOCK"
	start_with_clock
	until_is 'the rule' pending state late
	set_clock "${sign}3600"
	until_is 'the rule' firing state late
	lasted 'for = 6s' 4000 15000
	new_clock 'when it fired' "$(ctl --json alerts | jq --raw-output '.alerts[0].fired')"
	new_clock 'the last collection' "$(ctl --json status | jq --raw-output .taken)"

	# A window that began before the clock was set has the right length.
	seconds=$(ctl --json --window 10s show "$name" | jq .window_s)
	awk -v seconds="$seconds" 'BEGIN { exit !(seconds > 5 && seconds < 12) }' || fail "a window of 10s: $seconds s"

	ctl zoom --for 4s --no-wait "$name" >/dev/null
	set_clock "${sign}7200"
	until_is 'the zoom' 1 zooms_over
	lasted 'a zoom of 4s' 2500 14000
	seconds=$(ctl --json zoom --last "$name" | jq .zoom.ran_s)
	awk -v seconds="$seconds" 'BEGIN { exit !(seconds > 3.5 && seconds < 8) }' || fail "a zoom of 4s ran $seconds s"
	expect 'the rule after a zoom' firing "$(state late)"

	ctl pause --for 4s >/dev/null
	set_clock "${sign}10800"
	expect 'paused' true "$(paused)"
	until_is 'the pause' false paused
	lasted 'a pause of 4s' 2500 14000
	still_samples 'after the clock was set'

	# CLOCK_BOOTTIME runs on while the machine is suspended.
	remember
	printf '60\n' >"$STEP_BOOTTIME"
	until_is 'that it was suspended' 1 suspended
	named 'a suspended machine' 'the machine was suspended for 1min'
	still_samples 'after it was suspended'
	printf '0\n' >"$STEP_BOOTTIME"
	expect 'malformed' 0 "$(ctl --json status | jq .samples.lost.malformed)"
	kill "$daemon"
	wait "$daemon" || fail 'it does not end well'
	daemon=''
	rm -r "$work/alerts"
done
