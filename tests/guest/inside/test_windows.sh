#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What pebsctl shows about the waiting of five services, in 20 windows each. The bounds of wait, CPI, misses per
# thousand instructions and traffic must contain what the CPU did for the service in that window, by the books of the
# emulated PMU, in at least 95 of the 100 windows. Each bound alone is right in 95 %, so both together are right in at
# least 90 % of independent samples. The samples of a counter come more evenly, and a guest runs the same way each time.
# long
# kernels: 6.12
# machines: skylake-server zen5
# init: small
# takes: 250 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

services=(pointer-chase register-loop streaming one-chain four-chains)
rounds=20
# A service works for a millisecond and then rests, so a window has a dozen of its bursts. Windows with one burst have
# no bounds (daemon/estimate/bursts.c).
rest=500

# Without the NMI watchdog, which has the fixed counter of cycles on Skylake servers, no event has to take turns.
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)
echo 0 >/proc/sys/kernel/nmi_watchdog
trap 'echo "$watchdog" >/proc/sys/kernel/nmi_watchdog; leave' EXIT

play_paused
settings '[sampling]' 'events = cycles instructions stalls misses' 'interval = 200ms' 'instructions-period = 20011' \
	'cycles-period = 100003' 'stalls-period = 100003' 'misses-period = 1009' 'budget = off'
for service in "${services[@]}"; do
	load "$service" "$service"
done
start_pebsd
note_cgroups
# The services write their memory first.
sleep 5
quiet

# The window of each round has all of its work, and nothing of the round before. Nothing counts between the rounds, so
# the CPU did the same in the window and in the round.
for ((round = 0; round < rounds; round++)); do
	sleep 4
	pmu reset
	pmu exact
	resume
	sleep 6
	stop_counting
	quiet
	pmu usual
	await_collections 2
	for service in "${services[@]}"; do
		printf '{"round":%d,"service":"%s","shown":' $round "$service"
		pebsctl --json show "/$service" --window 7800ms
		printf '}\n'
	done >>"$work/shown"
	pmu spent | sed "s/^{/{\"round\":$round,/" >>"$work/spent"
done
# Prints a line for each window and figure: round, service, figure, value, low, high, truth, and where the truth is.
jq --null-input --raw-output --slurpfile spent "$work/spent" --slurpfile cgroups "$cgroups" --slurpfile shown "$work/shown" '
	($cgroups | map({(.[0]): .[1]}) | add) as $path
	| (reduce $spent[] as $one ({}; "\($one.round) \($path[$one.cgroup | tostring])" as $key
		| reduce ($one.counting | to_entries[]) as $field (.; .[$key][$field.key] += $field.value))) as $truth
	| $shown[] | . as $window | .shown as $shown
	| $truth["\(.round) /\(.service)"] as $did
	| ("wait", "cpi", "misses_per_thousand", "traffic") as $figure
	| ({wait: ($did.stalls / $did.cycles), cpi: ($did.cycles / $did.instructions),
		misses_per_thousand: (1000 * $did.misses / $did.instructions),
		traffic: (64 * $did.misses / $shown.window_s)}[$figure]) as $is
	| $shown.waits[$figure] as $found
	| [$window.round, $window.service, $figure, $found.value, $found.low, $found.high, $is,
		(if $found.low == null and $found.high == null then "unbounded"
		elif ($found.low // 0) <= $is and $is <= ($found.high // infinite) then "inside" else "outside" end)]
	| map(. // "-" | tostring) | join(" ")' >"$work/windows"
expect 'windows and figures' $((rounds * ${#services[@]} * 4)) "$(wc -l <"$work/windows")"
say "measured: $emulated: windows whose bounds contain the truth, of 100: $(awk '
	$8 == "inside" { n[$3]++ }
	END { printf "wait %d, CPI %d, misses %d, traffic %d", n["wait"], n["cpi"], n["misses_per_thousand"], n["traffic"] }' "$work/windows")"
say "measured: mean wait that is shown, and that of the books, in percent: $(awk '
	$3 == "wait" { n[$2]++; shown[$2] += $4; is[$2] += $7 }
	END { for (i in n) printf "%s %.1f and %.1f, ", i, 100 * shown[i] / n[i], 100 * is[i] / n[i] }' "$work/windows")"
awk '$3 == "wait" && $8 != "unbounded" { n[$2]++; width[$2] += $6 - $5 }
	END { for (i in n) printf "%s %.2f\n", i, width[i] / n[i] }' "$work/windows" | sort >"$work/widths"
say "measured: mean width of the bounds of wait: $(paste -s -d ',' "$work/widths")"
grep -v inside "$work/windows" || :
for figure in wait cpi misses_per_thousand traffic; do
	[ "$(grep -c " $figure .* inside$" "$work/windows")" -ge $((rounds * ${#services[@]} * 95 / 100)) ] ||
		fail "$figure: too many windows do not contain the truth"
done
# Bounds from 0 to 1 would contain everything.
awk '$2 > 0.7 { wide = 1 } END { exit wide }' "$work/widths" || fail "the bounds of wait are too wide: $(<"$work/widths")"

# mean_wait SERVICE: prints the mean of the shares that are shown, in percent.
mean_wait() {
	awk -v service="$1" '$2 == service && $3 == "wait" { n++; sum += $4 } END { printf "%.0f\n", 100 * sum / n }' "$work/windows"
}
[ "$(mean_wait pointer-chase)" -ge 90 ] || fail 'the pointer chase does not wait'
[ "$(mean_wait register-loop)" -le 5 ] || fail 'the register loop waits'
if [ "$(mean_wait streaming)" -le 10 ] || [ "$(mean_wait streaming)" -ge 80 ]; then
	fail 'the wait of streaming is not between those of the others'
fi
# The loads of both take the same time.
[ "$(mean_wait four-chains)" -le $(($(mean_wait one-chain) - 5)) ] || fail 'overlap does not lower the share'
