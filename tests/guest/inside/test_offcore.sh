#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Off-core responses that are counted at task switches are each cgroup's, by the module's books, which know nothing of
# switches; over CPUs that go and come, too.
# long
# kernels: 6.1 7
# time limit: 300 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# shellcheck disable=SC2317 # called by the trap
back_online() {
	echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null || :
	leave
}
trap back_online EXIT

# Leaves $work/offcore: "PATH KIND COUNTED TRUE" a line. The books tell the kinds apart by the register's value: that of
# L3 has suppliers in bits 19:16, that of local memory none there. The guest is one node: it has no remote memory.
compare_offcore() {
	cp "$debug/counted" "$work/counted"
	pebsctl --json top --window all >"$work/top"
	jq --null-input --raw-output --slurpfile counted "$work/counted" --slurpfile top "$work/top" \
		--slurpfile cgroups "$cgroups" '
		($cgroups | map({(.[0]): .[1]}) | add) as $path |
		($counted | map(select(.extra and .extra != "0x0"))) as $books |
		["l3", "local_dram"] as $kinds |
		($books | map({key: "\($path[.cgroup | tostring] // "gone") \(
			if .extra[-5:-4] == "0" then "local_dram" else "l3" end)", count}) |
			group_by(.key) | map({(.[0].key): (map(.count) | add)}) | add // {}) as $true |
		($top[0].cgroups | map(.cgroup as $c | (.offcore.cpu // {}) | to_entries[] |
			select(.key | IN($kinds[])) | {("\($c) \(.key)"): .value}) | add // {}) as $said |
		($true + $said | keys_unsorted[]) as $key |
		"\($key) \($said[$key] // "absent") \($true[$key] // 0)"' >"$work/offcore"
	[ -s "$work/offcore" ] || fail "nothing was counted: $(cat "$work/counted")"
}

# agree_offcore WHAT ROOT_ONE_IN: no cgroup is off by more than one in a thousand of its count, the root by no more than
# one in so many.
agree_offcore() {
	compare_offcore
	awk -v root="$2" '
		{ one_in = $1 == "/" ? root : 1000 }
		$3 == "absent" && $4 == 0 { next }
		$3 == "absent" { print; next }
		{ off = $3 - $4; if (off < 0) off = -off; if (off * one_in > $4) print }' "$work/offcore" >"$work/off"
	[ ! -s "$work/off" ] || fail "$1: counts differ from the books (cgroup, kind, counted, true):" "$(cat "$work/off")"
	measured "$1: $(awk '{ counted += $3; true += $4; lines++ }
		END { printf "%d figures, %.0f counted, %.0f by the books", lines, counted, true }' "$work/offcore")"
}

counted_by() {
	awk -v path="$1" -v kind="$2" '$1 == path && $2 == kind { print $3; found = 1 } END { if (!found) print 0 }' \
		"$work/offcore"
}

: >"$work/compared" # measured() has its figures of samples from there
play cpu=skylake-server paused=Y
settings '[sampling]' 'events = loads offcore'
load pointer-chase chase.service -- --threads 2
load mix mix.service
load locked-counters locked.service
quiet
start_pebsd
resume
await_samples 1500
settle
agree_offcore 'three services on two CPUs' 1000
for unit in chase mix locked; do
	path=$(cgroup_of $unit.service)
	[ "$(counted_by "$path" l3)" -gt 0 ] || fail "$path: nothing is counted"
done
status >"$work/status"
grep -q '"refused"' "$work/status" && fail "off-core responses are refused: $(grep refused "$work/status")"
grep -q '"failed_readings"' "$work/status" && fail 'readings failed'
pebsctl status | grep Off-core || fail 'status does not tell of the counting'
pebsctl show "$(cgroup_of chase.service)" --window all >"$work/shown"
grep -q 'counted, not sampled' "$work/shown" || fail "show does not hold them beside the samples: $(cat "$work/shown")"
grep -A 8 '^ *Off-core' "$work/shown"
grep -q '^L3 .*%.*%' "$work/shown" || fail 'show has no shares'

scrape
before=$(metric pebsd_offcore_reads_total)
resume
await_samples 500
echo 0 >/sys/devices/system/cpu/cpu1/online
await_samples 300
echo 1 >/sys/devices/system/cpu/cpu1/online
await_samples 800
settle
scrape
after=$(metric pebsd_offcore_reads_total)
awk -v before="$before" -v after="$after" 'BEGIN { exit !(after > before) }' || fail "metrics: $before, then $after"
# What the thread that takes a CPU down does in its last moments is lost with the counters there, and is the root's: on a
# slow guest as much as a quarter of all that the root did.
agree_offcore 'after a CPU went and came' 2
unplay

# Goldmont has nothing that pebsd samples loads with, but these counters, which are worth running for alone. (What they
# count there the module does not play.)
play cpu=goldmont
settings '[sampling]' 'events = offcore'
exits 'pebsd --probe on goldmont' 0 pebsd --probe
start_pebsd
await_collections 2
status >"$work/status"
expect 'what is counted on goldmont' '["local_dram","outstanding","requests"] null 0' "$(jq -r \
	'"\(.offcore.pmus.cpu.kinds | tojson) \(.offcore.refused) \(.events | length)"' "$work/status")"
expect 'healthz with nothing but counters' ok "$(curl --silent --max-time 10 http://127.0.0.1:9754/healthz)"
pebsctl top >/dev/null || fail 'top cannot do without events'
