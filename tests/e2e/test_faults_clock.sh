#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The clock is set an hour forward or back. Durations must not change, and times that are shown from then on must
# be those of the new clock.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
own_cgroup
name=/${cgroup##*/}

# lasted WHAT LEAST: call it when WHAT has ended. Expects that it lasted at least LEAST ms since `begun`. If pebsd
# measured durations with CLOCK_REALTIME, a step forward would end them at once, and after a step back they would
# last more than an hour. There is no upper limit, because pebsd may wait long for a CPU.
lasted() {
	local ms=$(($(uptime_ms) - begun))
	[ "$ms" -ge "$2" ] || fail "$1, the clock set by $stepped s: $ms ms, not $2"
}

# at_most WHAT SECONDS: expects SECONDS to be at most the time since `begun`, plus 0.5 s
at_most() {
	awk -v seconds="$2" -v ms=$(($(uptime_ms) - begun)) 'BEGIN { exit !(seconds * 1000 <= ms + 500) }' ||
		fail "$1, the clock set by $stepped s: $2 s, and it began less than $(($(uptime_ms) - begun)) ms ago"
}

at_least() {
	awk -v seconds="$2" -v least="$3" 'BEGIN { exit !(seconds >= least) }' || fail "$1, the clock set by $stepped s: $2 s"
}

# new_clock WHAT TIME: expects TIME to be within 300 s of the stepped clock.
new_clock() {
	local off
	off=$(jq --null-input --arg time "$2" --argjson step "$stepped" '($time | sub("\\.[0-9]+"; "") | fromdate) - now - $step | fabs | floor')
	[ "$off" -le 300 ] || fail "$1, the clock set by $stepped s: $2 is off by $off s"
}

# state RULE: prints the state of the rule's alert, or none
state() {
	ctl --json alerts | jq --raw-output --arg rule "$1" 'first(.alerts[] | select(.rule == $rule)).state // "none"'
}

# Waits until the rule's condition holds. `begun` is a time when it did not hold yet.
until_pending() {
	local now
	begun=$(uptime_ms)
	for _ in $(seq 1200); do
		now=$(uptime_ms)
		case $(state late) in
		pending | firing) return 0 ;;
		esac
		begun=$now
		sleep 0.05
	done
	fail "the rule does not come to hold: $(state late)"
}

# Counts the log messages: a zoom that has ended is shown only after its samples were processed.
zooms_over() {
	grep -c 'zoom .* has ended' "$work/log" || :
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
	set_clock 0
	started=$(uptime_ms)
	start_with_clock --config "$work/pebsd.conf"
	until_pending
	set_clock "${sign}3600"
	fires_later=$([ $(($(uptime_ms) - begun)) -ge 6000 ] || echo yes)
	until_is 'the rule' firing state late
	lasted 'for = 6s' 5900
	[ -z "$fires_later" ] || new_clock 'when it fired' "$(ctl --json alerts | jq --raw-output '.alerts[0].fired')"
	# The alert may have fired before the clock was set, and the last collection may be older than that, too.
	collections 1
	new_clock 'the last collection' "$(collected)"

	# A window that began before the clock was set has the right length.
	seconds=$(ctl --json --window 10s show "$name" | jq .window_s)
	begun=$started
	at_least 'a window of 10s' "$seconds" 5
	at_most 'a window of 10s' "$seconds"

	begun=$(uptime_ms)
	ctl zoom --for 4s --no-wait "$name" >/dev/null
	set_clock "${sign}7200"
	until_is 'the zoom' 1 zooms_over
	lasted 'a zoom of 4s' 3900
	seconds=$(ctl --json zoom --last "$name" | jq .zoom.ran_s)
	at_least 'what a zoom of 4s ran' "$seconds" 3.5
	at_most 'what a zoom of 4s ran' "$seconds"
	# The alert may have resolved, because the work had no CPU for some seconds. Then it fires again.
	until_is 'the rule after a zoom' firing state late

	begun=$(uptime_ms)
	ctl pause --for 4s >/dev/null
	set_clock "${sign}10800"
	found=$(paused)
	[ $(($(uptime_ms) - begun)) -ge 4000 ] || expect 'paused' true "$found"
	until_is 'the pause' false paused
	lasted 'a pause of 4s' 3900
	still_samples 'after the clock was set'

	# CLOCK_BOOTTIME continues while the machine is suspended, so a step of this clock looks like a suspended
	# machine.
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
