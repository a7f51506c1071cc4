#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf samples on the PMU that pebsd samples on: its own load latencies, its stores, precise cycles, plain counts, and
# instructions with many records a buffer. It costs pebsd not one sample; and what perf reads of a program is what pebsd
# says of its cgroup.
# kernels: 6.12 6.1
# machines: skylake-server
# init: small
# takes: 120 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

PERIOD=20011

echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
pmu interval 1
settings '[sampling]' 'events = loads' "period = $PERIOD" 'budget = off'

# beside NAME COMMAND...: perf runs, ends well, and has records; leaves $work/NAME.data.
beside() {
	local name=$1
	shift
	"$@" >"$work/said" 2>&1 || fail "$name: $(cat "$work/said")"
	! grep -q -i 'lost\|failed' "$work/said" || say "$name: $(grep -i 'lost\|failed' "$work/said")"
}

# of_others: samples that the books have of events that are not pebsd's.
of_others() {
	pmu totals | grep -o '"other:0x[0-9a-f]*":{"overflow":[0-9]*' | awk -F : '{ sum += $NF } END { print sum + 0 }'
}

# records NAME: of $work/NAME.data.
records() {
	perf script -i "$work/$1.data" -F event 2>/dev/null | wc -l
}

# quantiles NAME: 50 % and 90 % of the weights of the chase's loads in $work/NAME.data.
quantiles() {
	perf script -i "$work/$1.data" -F comm,event,weight 2>/dev/null | awk '$1 ~ /^pointer-chase/ && /mem-loads/ { print $NF }' |
		sort -n | awk '{ all[NR] = $1 } END { print NR, all[int((NR + 1) / 2)], all[int(NR * 0.9) + 1] }'
}

# shellcheck disable=SC2119 # without parameters
play
stop_counting
# It has its buffer of many records before pebsd comes.
perf record -e instructions:pp -c 400009 -a -o "$work/large.data" -- sleep 1000 >"$work/large" 2>&1 &
large=$!
start_pebsd
load pointer-chase chase
load mix mixed
count_again
await_samples 100
beside mem perf mem record -t load -a -o "$work/mem.data" -- -c $PERIOD sleep 5
[ "$(of_others)" -gt 0 ] || fail "perf sampled nothing: $(pmu totals)"
beside c2c perf c2c record -a -o "$work/c2c.data" -- -c $PERIOD sleep 2
beside cycles perf record -e cycles:pp -c 1000003 -a -o "$work/cycles.data" -- sleep 2
beside stat perf stat -x ' ' -e instructions,cycles -a -o "$work/stat" -- sleep 1
await_samples 200
kill -INT $large
wait $large || fail "perf record of instructions: $(cat "$work/large")"
settle

agree 'beside perf'
expect 'samples lost beside perf' 0 "$(figure lost)"
for name in mem c2c cycles large; do
	found=$(records $name)
	say "measured: perf's $name: $found records"
	[ "$found" -gt 20 ] || fail "perf's $name has $found records: $(cat "$work/said")"
done
grep -q '^[1-9][0-9]* *.*instructions' "$work/stat" || fail "perf stat counted nothing: $(cat "$work/stat")"

# The same program, read by both.
read -r n p50 p90 <<<"$(quantiles mem)"
[ "${n:-0}" -ge 20 ] || fail "perf mem has ${n:-0} loads of the chase: $(perf script -i "$work/mem.data" 2>&1 | head -n 5)"
pebsctl --json show /chase --window all >"$work/show"
jq -r '.events.loads.latency | "\(.samples // "") \(.p50.low) \(.p50.high) \(.p90.low // .p95.low) \(.p90.high // .p95.high)"' "$work/show" >"$work/bounds"
say "measured: perf of the chase: $n loads, half below $p50 cycles, nine in ten below $p90; pebsd: $(<"$work/bounds")"
