#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The verbs of pebsctl that show details, such as zoom: they wait, show their progress, can be left, and write
# files completely or not at all. The daemon in this test has made-up zooms.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq
cgroup=/system.slice/postgresql@15-main.service

"$TOOLS/fake_detail" "$socket" &
daemon=$!
answers() {
	ctl show $cgroup >/dev/null 2>&1
}
until_true 'it answers' answers

exits 'the last of none' 1 ctl zoom --last $cgroup
grep -q 'cannot find the zoom: there is no zoom of this cgroup' "$work/said" || fail "none is held: $(cat "$work/said")"
exits 'a cgroup that there is not' 4 ctl zoom --for 1s /no/such.service
exits 'a zoom without a cgroup' 2 ctl zoom
for duration in 0 2h ever; do
	exits "a zoom of $duration" 2 ctl zoom --for $duration $cgroup
	grep -q "invalid --for '$duration': expected a time from 1ms to 1h for zoom, such as" "$work/said" || fail "--for $duration: $(cat "$work/said")"
done
exits 'hot tables of two days' 2 ctl hot --for 2d $cgroup
grep -q "expected a time from 1ms to 1d for hot" "$work/said" || fail "hot --for 2d: $(cat "$work/said")"
exits 'a rate that is none' 2 ctl zoom --rate 0 $cgroup
exits 'a rate beyond the most' 2 ctl zoom --rate 20001 $cgroup
exits 'two ways at once' 2 ctl zoom --last --stop $cgroup
exits 'a time for what is over' 2 ctl zoom --last --for 1s $cgroup
exits 'an option of another verb' 2 ctl zoom --folded $cgroup

began=$(uptime_ms)
exits 'a zoom' 0 ctl zoom --for 1200ms $cgroup
[ $(($(uptime_ms) - began)) -ge 1000 ] || fail 'a zoom was not waited for'
grep -q 'heap_hot_search_buffer' "$work/said" || fail "the report: $(cat "$work/said")"
grep -q 'zooming in' "$work/said" && fail 'progress is told where there is no terminal'
exits 'the last one' 0 ctl zoom --last $cgroup
expect 'the last one as JSON' '17 done' "$(ctl --json zoom --last $cgroup | jq -r '.zoom | "\(.zoom) \(.state)"')"

exits 'a zoom that is not waited for' 0 ctl zoom --no-wait --for 1h $cgroup
grep -q 'The zoom runs until .*pebsctl zoom --last' "$work/said" || fail "what to do then: $(cat "$work/said")"
exits 'the last one, running' 0 ctl zoom --last $cgroup
grep -q 'still running' "$work/said" || fail "it runs: $(cat "$work/said")"
exits 'a profile of what runs' 1 ctl profile --last -o "$work/profile" $cgroup
grep -q 'cannot do this now: the zoom runs until ... 2026-' "$work/said" || fail "it is busy: $(cat "$work/said")"
[ ! -e "$work/profile" ] || fail 'a profile that was refused left a file'
exits 'the end of a zoom' 0 ctl zoom --stop $cgroup
grep -q 'of the requested .*, from' "$work/said" || fail "it ended early: $(cat "$work/said")"
exits 'the end of one that is over' 0 ctl zoom --stop $cgroup
grep -q 'the zoom had already ended' "$work/said" || fail "it was over: $(cat "$work/said")"

# Ctrl-C leaves the zoom running, and pebsctl says so. While pebsctl waits, it blocks signals and handles them itself.
# The shell blocks them too while it forks: the process counts only once it is pebsctl.
env --default-signal=INT "$PEBSCTL" --socket "$socket" zoom --for 1h $cgroup >"$work/interrupted" 2>&1 &
others=$!
waits() {
	local name mask
	read -r name mask < <(awk '$1 == "Name:" || $1 == "SigBlk:" { printf "%s ", $2 } END { print "" }' "/proc/$others/status")
	[ "$name" = pebsctl ] && [ $((0x${mask:-0} & 2)) != 0 ]
}
until_true 'it waits' waits
kill -INT "$others"
exits 'a zoom that Ctrl-C left' 1 wait "$others"
others=''
cp "$work/interrupted" "$work/said"
grep -q 'the zoom continues until .*--stop' "$work/said" || fail "what goes on: $(cat "$work/said")"
exits 'the last one, left running' 0 ctl zoom --last $cgroup
grep -q 'still running' "$work/said" || fail 'Ctrl-C ended the zoom'
exits 'its end' 0 ctl zoom --stop $cgroup

# Each byte is its position modulo 256. The daemon chooses the pieces in which they arrive.
truth() {
	awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%02x", i % 256 }'
}
bytes_of() {
	od -An -v -tx1 "$1" | tr -d ' \n'
}
exits 'a profile' 0 ctl profile --for 100ms -o "$work/profile" $cgroup
[ "$(bytes_of "$work/profile")" = "$(truth)" ] || fail 'the profile is not what the daemon has'
expect 'the mode of a profile' 600 "$(stat -c %a "$work/profile")"
grep -q 'Written: .*profile: 2.9 KiB, format pprof' "$work/said" || fail "what was written: $(cat "$work/said")"
grep -q '17.7% of 28,900 user stacks end early' "$work/said" || fail "what it is worth: $(cat "$work/said")"
ctl profile --last --folded -o - $cgroup >"$work/piped" 2>"$work/aside" || fail "a pipe: $(cat "$work/aside")"
[ "$(bytes_of "$work/piped")" = "$(truth)" ] || fail 'standard output is not what the daemon has'
grep -q 'Samples: ' "$work/aside" || fail 'what a piped profile is worth is not told beside it'
ctl_to_nobody() {
	exec 4> >(exec true)
	wait $!
	ctl profile --last --folded -o - $cgroup >&4 4>&-
}
exits 'a pipe whose reader left' 0 ctl_to_nobody
expect 'the messages about a profile whose reader left' '' "$(cat "$work/said")"
expect 'a profile as JSON' "folded-latency 3000 17" "$(ctl --json profile --last --folded --latency \
	-o "$work/profile" $cgroup | jq -r '"\(.format) \(.size) \(.zoom.zoom)"')"
exits 'perf.data where it is not permitted' 5 ctl profile --last --perf-data -o "$work/refused" $cgroup
[ ! -e "$work/refused" ] || fail 'a profile that was not permitted left a file'
exits 'a profile without a file' 2 ctl profile $cgroup
exits 'two formats' 2 ctl profile --last --folded --perf-data -o "$work/profile" $cgroup
exits 'latency of no folded stacks' 2 ctl profile --last --latency -o "$work/profile" $cgroup
exits 'a file that may not grow' 1 prlimit --fsize=100:100 "$PEBSCTL" --socket "$socket" profile --last \
	-o "$work/short" $cgroup
expect 'files of a profile that has no room' '' "$(find "$work" -name '*short*')"
exits 'a folder that there is not' 1 ctl profile --last -o "$work/none/profile" $cgroup
ln -s profile "$work/link"
exits 'a symbolic link' 1 ctl profile --last -o "$work/link" $cgroup
grep -q 'symbolic link' "$work/said" || fail "a link: $(cat "$work/said")"
if command -v script >/dev/null; then
	script -qec "'$PEBSCTL' --socket '$socket' profile --last -o - $cgroup" "$work/typed" >/dev/null && fail \
		'a terminal got a pprof'
	grep -q 'cannot write a binary profile to a terminal' "$work/typed" || fail "a terminal: $(cat "$work/typed")"
	TERM=xterm script -fqec "'$PEBSCTL' --socket '$socket' zoom --for 1h $cgroup" "$work/progress" >/dev/null &
	others=$!
	until_true 'a terminal tells how far it is' grep -q 'zooming in' "$work/progress"
	exits 'the end of that zoom' 0 ctl zoom --stop $cgroup
	wait "$others"
	others=''
fi

exits 'hot places' 0 ctl hot --for 1s $cgroup
grep -q '30.8 - 31.2%' "$work/said" || fail "their bounds: $(cat "$work/said")"
expect 'hot places as JSON' 3 "$(ctl --json hot --for 1s $cgroup | jq '.events.loads.code | length')"
exits 'hot places of a cgroup that there is not' 4 ctl hot /no/such.service
exits 'show' 0 ctl show $cgroup
grep -q 'Detail: the last zoom began .*pebsctl zoom --last' "$work/said" || fail "show tells of it: $(cat "$work/said")"
