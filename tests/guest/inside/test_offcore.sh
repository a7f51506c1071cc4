#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Off-core responses counted at task switches must belong to the right cgroup, by the emulated PMU's books. A
# machine with one node has two kinds for two registers, so no kinds have to take turns. (CPUs that go and come
# back: test_hotplug.sh.)
# long
# kernels: 6.1 6.12 7
# machines: skylake-server goldmont
# init: small
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# compare_offcore: writes "PATH KIND COUNTED TRUE" lines to $work/offcore. The books distinguish the kinds by the value
# of the register: that of L3 has suppliers in bits 19:16, that of local memory has none there. The guest is a single
# node, so it has no remote memory.
compare_offcore() {
	pmu counted >"$work/counted"
	pebsctl --json top --window all >"$work/top"
	jq --null-input --raw-output --slurpfile counted "$work/counted" --slurpfile top "$work/top" \
		--slurpfile cgroups "$cgroups" '
		($cgroups | map({(.[0]): .[1]}) | add) as $path |
		($counted | map({key: "\($path[.cgroup | tostring] // "gone") \(
			if .extra[-5:-4] == "0" then "local_dram" else "l3" end)", count}) |
			group_by(.key) | map({(.[0].key): (map(.count) | add)}) | add // {}) as $true |
		($top[0].cgroups | map(.cgroup as $c | (.offcore.cpu // {}) | to_entries[] |
			select(.key == ("l3", "local_dram")) | {("\($c) \(.key)"): .value}) | add // {}) as $said |
		($true + $said | keys_unsorted[]) as $key |
		"\($key) \($said[$key] // "absent") \($true[$key] // 0)"' >"$work/offcore"
	[ -s "$work/offcore" ] || fail "nothing was counted: $(cat "$work/counted")"
	cat "$work/offcore"
}

# agree_offcore WHAT: all cgroups together must be equal to the books, so no access is lost or counted twice. The books
# and pebsd can give an access within a task switch to different tasks. At most one access in a hundred is expected to
# be such a one, and the bound for a cgroup is five standard deviations above that. (Seen: a difference of 4 in 717 for
# one cgroup, and none in the total of 30,175.)
agree_offcore() {
	compare_offcore
	awk '$3 == "absent" && $4 == 0 { next }
		$3 == "absent" { print; next }
		{ off = $3 - $4; if (off < 0) off = -off }
		off > 5 + $4 / 100 + 5 * sqrt($4 / 100) { print }' "$work/offcore" >"$work/off"
	[ ! -s "$work/off" ] || fail "$1: counts differ from the books (cgroup, kind, counted, true):" "$(cat "$work/off")"
	awk '{ off[$2] += $3 - $4 } END { for (kind in off) if (off[kind] != 0) print kind, off[kind] }' \
		"$work/offcore" >"$work/off"
	[ ! -s "$work/off" ] || fail "$1: all cgroups together differ from the books (kind, by how much):" "$(cat "$work/off")"
	say "measured: $1: $(awk '{ counted += $3; true += $4; lines++ }
		END { printf "%d figures, %.0f counted, %.0f by the books", lines, counted, true }' "$work/offcore")"
}

counted_by() {
	awk -v path="$1" -v kind="$2" '$1 == path && $2 == kind { print $3; found = 1 } END { if (!found) print 0 }' \
		"$work/offcore"
}

# On Goldmont pebsd cannot sample loads, but it can count off-core responses.
if [ "$emulated" = goldmont ]; then
	play
	settings '[sampling]' 'events = offcore'
	exits 'pebsd --probe on goldmont' 0 pebsd --probe
	load mix mixed
	start_pebsd
	await_collections 3
	status >"$work/status"
	expect 'what is counted on goldmont' '["local_dram","outstanding","requests"] null 0' "$(jq -r \
		'"\(.offcore.pmus.cpu.kinds | tojson) \(.offcore.refused) \(.events | length)"' "$work/status")"
	[ "$(pebsctl --json top --window all | jq '[.cgroups[] | select(.cgroup == "/mixed") | .offcore.cpu.local_dram] | add // 0')" -gt 0 ] ||
		fail "nothing is counted for a busy cgroup: $(pebsctl --json top --window all | jq -c .cgroups,.total.offcore)"
	expect 'healthz with nothing but counters' ok "$(curl --silent --max-time 10 http://127.0.0.1:9754/healthz)"
	pebsctl top >/dev/null || fail 'top cannot do without events'
	exit
fi

play_paused
settings '[sampling]' 'events = loads offcore' 'period = 499' 'budget = off'
load pointer-chase chase -- --threads 2
load mix mixed
load locked-counters locked
quiet
start_pebsd
resume
await_samples 500
settle
agree_offcore 'three services that take turns'
for cgroup in /chase /mixed; do
	[ "$(counted_by "$cgroup" l3)" -gt 0 ] || fail "$cgroup: nothing is counted"
done
status >"$work/status"
! grep '"refused"' "$work/status" || fail 'off-core responses are refused'
! grep '"failed_readings"' "$work/status" || fail 'readings failed'
pebsctl status | grep Off-core || fail 'status does not tell of the counting'
pebsctl show /chase --window all >"$work/shown"
grep -q 'counted, not sampled' "$work/shown" || fail "show does not hold them beside the samples: $(cat "$work/shown")"
grep -A 8 '^ *Off-core' "$work/shown"
grep -q '^L3 .*%.*%' "$work/shown" || fail 'show has no shares'
