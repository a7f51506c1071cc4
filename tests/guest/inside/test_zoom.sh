#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A zoom of a service whose behaviour is known must show its functions, source lines, stacks and the cache line with
# false sharing, with the values of the emulated PMU's books. It must report omitted samples and end by itself.
# Accounting must continue at the same time, or be reported as paused if only one counter can hold the event.
# long
# cpus: 2
# kernels: 6.12 6.1 7
# machines: skylake-server sapphirerapids haswell
# machines for 6.1: skylake-server
# machines for 7: sapphirerapids
# takes: 150 s
# time limit: 1200 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/sharing.sh
. "${0%/*}/sharing.sh"

# open_events: prints the number of events that are open in the guest, without those that systemd keeps.
open_events() {
	find /proc/[0-9]*/fd -lname 'anon_inode:\[perf_event\]' 2>/dev/null | grep -c -v '^/proc/1/' || :
}

zooms_running() {
	[ "$(status | jq .detail.zooms_running)" = "$1" ]
}

zooms_held() {
	[ "$(status | jq .detail.zooms_held)" = "$1" ]
}

# zooms_held_later N: looks after some seconds. The service runs when nothing else does, and a look takes one CPU for a
# second or more. With a look every 0.2 s, its two threads hardly ever run at the same time, and share nothing.
zooms_held_later() {
	sleep 12
	zooms_held "$1"
}

# zoom RATE SECONDS: writes a zoom to $work/zoom, and the accesses by the books to $work/touched.
zoom() {
	pebsctl --json zoom --for "$2" --rate "$1" "$path" >"$work/zoom" 2>"$work/said" ||
		fail "$emulated: pebsctl zoom: $(cat "$work/said")"
	take_touched
	expect "$emulated: events that are open after a zoom" "$before" "$(open_events)"
}

# judge_zoom RATE: compares the last zoom with the books.
judge_zoom() {
	judge zoom.jq --slurpfile zoom "$work/zoom" --arg event "cgroup:$(code_of mem-loads)" --argjson rate "$1"
}

# says WHAT: prints a field of the zoom.
says() {
	jq --raw-output ".zoom.$1" "$work/zoom"
}

paused_us() {
	scrape
	metric pebsd_unsampled_seconds_total 'reason="paused"' | awk '{ printf "%.0f\n", $1 * 1e6 }'
}

# profile: checks the samples of the zoom in the other formats.
profile() {
	exits 'a folded profile' 0 pebsctl profile --last --folded -o "$work/folded" "$path"
	expect "$emulated: samples in the folded stacks" "$(says samples.taken)" \
		"$(awk '{ sum += $NF } END { print sum }' "$work/folded")"
	awk '/;main;service;hot_first [0-9]+$/ { found += $NF }
		/;second_thread;service;hot_second [0-9]+$/ { other += $NF }
		END { exit !(found > 20 && other > 20) }' "$work/folded" ||
		wrong "the stacks are not those of the program: $(head -n 20 "$work/folded")"
	exits 'a pprof profile' 0 pebsctl profile --last -o "$work/pprof" "$path"
	for word in hot_first hot_second service sharing.c latency; do
		zcat "$work/pprof" | grep -q -a "$word" || wrong "the pprof profile does not say $word"
	done
	exits 'a perf.data' 0 pebsctl profile --last --perf-data -o "$work/perf.data" "$path"
	expect "$emulated: the first word of perf.data" PERFILE2 "$(head -c 8 "$work/perf.data")"
	exits 'the zoom, as people read it' 0 pebsctl zoom --last "$path"
	for word in hot_first hot_second sharing.c counters; do
		grep -q "$word" "$work/said" || wrong "pebsctl zoom --last does not say $word: $(cat "$work/said")"
	done
}

# On Sapphire Rapids few of the program's samples are HITM. The threshold there applies to the instruction latency,
# which loads that hit L1 can exceed, too. So the zoom must take longer to show the sharing, and the rule needs
# more samples. The rule may not clear while the test's own commands keep the two threads apart: see zooms_held_later.
seconds=10
rule=('above = 20%' 'clear = 1%' 'window = 4s' 'for = 4s' 'min-samples = 300')
if [ "$emulated" = sapphirerapids ]; then
	seconds=25
	rule=('above = 1%' 'clear = 0.2%' 'window = 20s' 'for = 4s' 'min-samples = 1500')
fi

play_paused
share
load mix others.service -- --threads 2
start_pebsd
resume
await_samples 200
before=$(open_events)
zoom 20000 ${seconds}s
judge_zoom 20000
expect "$emulated: samples that were limited" 0 "$(says samples.limited)"
if [ "$emulated" = haswell ]; then
	[[ $(says note) == *paused* ]] || wrong "does not say that accounting is paused for it: $(says note)"
	took_us=$(paused_us)
	# Two CPUs were paused.
	[ "$took_us" -ge 18000000 ] || wrong "$took_us us paused are too few"
	tell "paused for $took_us us"
else
	expect "$emulated: note" null "$(says note)"
	expect "$emulated: time paused" 0 "$(paused_us)"
fi
[ "$emulated" != skylake-server ] || profile
settle_sharing
agree "$emulated, with a zoom"
resume_sharing

# Above the rate limit, the remaining samples are reported as limited.
pmu reset
zoom 20 10s
[ "$emulated" = sapphirerapids ] || judge_zoom 20
[ "$(says samples.limited)" -gt 0 ] || wrong 'nothing was limited'
[ "$(says samples.taken)" -le $((20 * 10 + 200 + 1)) ] || wrong "$(says samples.taken) samples are over the limit"
systemctl stop sharing.service others.service
stop_pebsd

# A rule starts a zoom, once.
play_paused
share
settings '[rule slow]' "cgroup = $path" 'metric = share:hitm' "${rule[@]}" 'action = log zoom:5s'
start_pebsd
before=$(open_events)
resume
# The zoom takes 5 s, and a look at the status takes seconds in a guest, so that none may come while it runs.
wait_until 'a zoom' 120 zooms_held_later 1
wait_until 'its end' 60 zooms_running 0
exits 'what it took' 0 pebsctl --json zoom --last "$path"
jq -ne 'input | .zoom.reason | contains("slow")' "$work/said" >"$work/reason" || wrong "not for the rule: $(cat "$work/said")"
sleep 10
expect 'zooms that the rule began' 1 "$(status | jq .detail.zooms_held)"
expect 'events that are open' "$before" "$(open_events)"
finish
