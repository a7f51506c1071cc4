#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd, started as its unit is, accounts for what the PMU delivered: for each cgroup the same samples, latency, sources,
# snoop and TLB results as the module's books have, at 1 kHz, at 5 kHz and as fast as the guest can go; or it is short of
# them, by no more than it says was lost.
# time limit: 300 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

parameters=/sys/module/$module/parameters
books=/sys/kernel/debug/$module

# What a pebsd that does not see each sample would be compared with: a list of what differs.
# shellcheck disable=SC2016 # jq's variables
differences='
def sum(f): map(f) | add // 0;
def added(f): map(f | to_entries) | add | group_by(.key) | map({key: .[0].key, value: map(.value) | add}) | from_entries;
def some: with_entries(select(.value > 0));
($books | map(select(.event == "0x1cd" and .samples > 0)) | group_by(.cgroup) | map({
	key: (.[0].cgroup | tostring),
	value: {samples: sum(.samples), latency: sum(.latency), locked: sum(.locked), blocked: sum(.blocked),
		sources: added(.sources), source_latency: added(.source_latency), snoop: added(.snoops), tlb: added(.tlbs)},
}) | from_entries) as $wanted |
($top.cgroups | map(select(.events.loads) | {key: (.id | tostring), value: (.events.loads | {
	samples, latency: .latency.sum, locked, blocked, sources: (.sources | map_values(.samples) | some),
	source_latency: (.sources | map_values(.latency_sum) | some), snoop: (.snoop | some), tlb: (.tlb | some)})}) |
	from_entries) as $found |
{
	books: ($wanted | map(.samples) | add), seen: $top.samples.seen, lost: ($top.samples.lost | map(.) | add // 0),
	unattributed: $top.samples.unattributed, guarded: ($books | sum(.guarded)),
	latency: [($wanted | map(.latency) | add), $top.total.events.loads.latency.sum],
	differing: [$wanted | keys[] as $id | select($found[$id] and $found[$id] != .[$id]) |
		{id: $id, books: .[$id], found: $found[$id]}],
	over: [$found | to_entries[] | select(.value.samples > ($wanted[.key].samples // 0)) | .key],
}'

# compare WHAT
compare() {
	local seen=-1 before
	echo Y >$parameters/paused
	# Until pebsd has collected all.
	for _ in $(seq 20); do
		sleep 1.2
		before=$seen
		ctl --json top --window all -n 100000 >"$work/top"
		seen=$(jq .samples.seen "$work/top")
		[ "$seen" != "$before" ] || break
	done
	cat $books/books >"$work/books"
	jq -n --slurpfile books "$work/books" --slurpfile tops "$work/top" \
		"(\$tops[0]) as \$top | $differences" >"$work/result"
	say "$1: $(jq -c . "$work/result")"
	say "$(cat $books/totals)"
	jq -e '.over == [] and .unattributed == 0 and .books - .seen <= .lost and
		(.books != .seen or (.differing == [] and .latency[0] == .latency[1]))' "$work/result" >"$work/said" ||
		fail "$1: the books and pebsd differ"
	[ "$(jq .books "$work/result")" -gt 500 ] || fail "$1: too few samples to tell"
}

# shellcheck disable=SC2119 # without parameters
load_module
systemctl start pebsd
for rate in 10000000:1kHz 50000000:5kHz 1000000000:full; do
	echo "${rate%:*}" >$parameters/loads_per_second
	for name in pointer-chase streaming false-sharing locked-counters; do
		# Another cgroup each time: pebsd takes those of one name for one.
		start_workload $name "$name-${rate#*:}.service"
	done
	echo N >$parameters/paused
	sleep 6
	systemctl stop "${workloads[@]}"
	workloads=()
	compare "${rate#*:}"
done
systemctl stop pebsd
unload_module
