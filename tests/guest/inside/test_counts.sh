#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd samples cycles, instructions, stalls and misses of five services. Samples and weights must equal the books of
# the emulated PMU, for each event, CPU and cgroup, or be short by what pebsd reports as lost. Weight by running ratio
# must be near what the CPU did for each service. A virtual machine without PEBS has three of these events.
# kernels: 6.12 6.1 7
# machines: skylake-server haswell sapphirerapids alderlake:2 zen5 generic-vm
# short machines: skylake-server zen5 generic-vm
# init: small
# takes: 60 s
# time limit: 600 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# KEY PMU CODE... of each event, as in `sampled` of books.sh.
sampled=('loads cpu 0x1cd' 'cycles cpu 0x3c' 'instructions cpu 0x1c0' 'misses cpu 0x412e')
period=1009
case $emulated in
haswell)
	# Without loads. Before Skylake, the driver drops a record if the interrupt of another event comes between the
	# overflow and the record, and clears the overflow's status bit: intel_pmu_drain_pebs_nhm() in
	# arch/x86/events/intel/ds.c. The only PEBS event is exempt, but the load latency event sets two bits of
	# pebs_enabled, so it is never the only one there. Its counter then stops (test_collision.sh).
	sampled=('cycles cpu 0x3c' 'instructions cpu 0x1c0' 'misses cpu 0x412e' 'stalls cpu 0x6a3')
	;;
skylake-server) sampled+=('stalls cpu 0x14a3') ;;
sapphirerapids) sampled+=('stalls cpu 0x21a6') sampled[2]='instructions cpu 0xc0' ;;
alderlake)
	sampled=('loads:cpu_core cpu_core 0x1cd' 'cycles:cpu_core cpu_core 0x3c' 'instructions:cpu_core cpu_core 0xc0'
		'misses:cpu_core cpu_core 0x412e' 'stalls:cpu_core cpu_core 0x21a6'
		'loads:cpu_atom cpu_atom 0x5d0' 'cycles:cpu_atom cpu_atom 0x3c' 'instructions:cpu_atom cpu_atom 0xc0'
		'misses:cpu_atom cpu_atom 0x412e' 'stalls:cpu_atom cpu_atom 0x734')
	;;
zen5)
	sampled=('loads ibs_op 0x2 0x1 0x4' 'cycles cpu 0x76' 'instructions cpu 0xc0' 'misses cpu 0x4844'
		'stalls cpu 0xa2d6')
	period=20011
	;;
generic-vm) sampled=('cycles cpu 0x3c' 'instructions cpu 0xc0' 'misses cpu 0x412e') ;;
esac
case $emulated in
haswell) events='cycles instructions stalls misses' ;;
generic-vm) events='cycles instructions misses' ;;
*) events='loads cycles instructions stalls misses' ;;
esac
services=(pointer-chase register-loop streaming one-chain four-chains)

play_paused
settings '[sampling]' "events = $events" "period = $period" 'instructions-period = 50021' 'cycles-period = 50021' \
	'stalls-period = 50021' 'misses-period = 2003' 'budget = off'
for service in "${services[@]}"; do
	load "$service" "$service"
done
start_pebsd
await_collections 2
quiet
pmu reset
pmu exact
resume

# has_samples: true if each event that counts has this many samples.
has_samples() {
	local code
	pmu totals >"$work/totals"
	while read -r _ _ code _; do
		[ "$(grep -o "\"$code\":{\"overflow\":[0-9]*" "$work/totals" | awk -F : '{ sum += $3 } END { print sum + 0 }')" -ge "$1" ] || return 1
	done < <(printf '%s\n' "${sampled[@]}")
}
wait_until 'samples of each event' 300 has_samples 150
stop_counting
pmu usual
settle
pmu spent >"$work/spent"
agree "$emulated"

# For each service and event: the estimate, what the CPU did while its counters were enabled, and the difference in
# standard deviations: those of independent samples, although the samples of a counter are more even, and where events
# take turns, those of the slices of a millisecond (in instructions) in which the service ran.
jq --null-input --raw-output --slurpfile spent "$work/spent" --slurpfile top "$work/top" --slurpfile status "$work/status" \
	--slurpfile cgroups "$cgroups" '
	($cgroups | map({(.[0]): .[1]}) | add) as $path
	| ($spent | map({path: $path[.cgroup | tostring], counting})) as $spent
	| ($status[0].events | to_entries) as $events
	| ("pointer-chase", "register-loop", "streaming", "one-chain", "four-chains") as $service
	| ("cycles", "instructions", "stalls", "misses") as $kind
	| [$events[] | select(.key | split(":")[0] == $kind)] as $of
	| select($of != [])
	| ([$of[].value.running_ratio // 1] | min) as $ratio
	| ([$of[].value.period] | max) as $period
	| [$top[0].cgroups[] | select(.cgroup == "/" + $service) | .events | to_entries[]
		| select(.key | split(":")[0] == $kind)] as $seen
	| [$spent[] | select(.path == "/" + $service) | .counting] as $counting
	| ([$counting[][$kind]] | add // 0) as $truth
	| ([$counting[].instructions] | add // 0) as $instructions
	| ([$seen[] | .key as $key | .value.weighted.samples / ($status[0].events[$key].running_ratio // 1)]
		| add // 0) as $estimate
	| ($truth / $period) as $samples
	| ($samples + 1 + $samples * $samples * (1 - $ratio) / $ratio / ($instructions / 131072 + 1) | sqrt) as $deviation
	| "\($service) \($kind) \($estimate | round) \($truth) \(
		((($estimate - $truth | fabs) - $truth / 50) / $period / $deviation * 10 | round) / 10) \($ratio)"' >"$work/near"
cat "$work/near"
[ "$(wc -l <"$work/near")" -ge 15 ] || fail "figures are missing: $(<"$work/near")"
awk '$5 > 4' "$work/near" >"$work/far"
[ ! -s "$work/far" ] || fail "estimates are far from the truth (service, event, estimate, truth, deviations):" "$(<"$work/far")"
say "measured: $(awk '$5 > most { most = $5 } END { printf "%d estimates, at most %.1f standard deviations (and 2 %%) from the truth", NR, most }' "$work/near")"
say "measured: running ratios: $(jq -c '.events | map_values(.running_ratio)' "$work/status")"
# wait_of SERVICE: prints the estimated share of stalled cycles, in percent.
wait_of() {
	awk -v service="$1" '$1 == service { of[$2] = $3 } END { printf "%.0f\n", 100 * of["stalls"] / of["cycles"] }' "$work/near"
}
[[ " $events " == *' stalls '* ]] || exit 0
say "measured: stalled cycles, in percent: $(for service in "${services[@]}"; do printf '%s %s, ' "$service" "$(wait_of "$service")"; done)"
# Where cycles and stalls take turns, their ratio is too uncertain after so short a time. On Skylake servers the NMI
# watchdog has the fixed counter of cycles, so five events share four counters.
[ -z "$(awk '$6 < 0.99' "$work/near")" ] || exit 0
[ "$(wait_of pointer-chase)" -ge 80 ] || fail 'the pointer chase does not wait'
[ "$(wait_of register-loop)" -le 10 ] || fail 'the register loop waits'
[ "$(wait_of four-chains)" -lt "$(wait_of one-chain)" ] || fail 'overlap does not lower the share'
