#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf uses the same PMU as pebsd: it samples load latencies, stores, precise cycles, and all loads with many
# records per buffer, and it counts instructions and cycles. pebsd must not lose a single sample. perf's values of
# a program must agree with pebsd's values of its cgroup. Branch records must give perf the program's call stacks.
# long
# cpus: 2
# root: whole
# kernels: 6.12 6.1
# machines: skylake-server
# init: small
# takes: 120 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

PERIOD=1009
# shellcheck disable=SC2034 # books.sh's
others_sample=true

# The threshold is a single register of a core. perf mem sets 31: the 30 that it requests combined with the 3 in
# events/mem-loads. With another threshold of pebsd's, perf would have no samples.
settings '[sampling]' 'events = loads' "period = $PERIOD" 'budget = off'

# of_others CODE: prints the number of samples that the books have of an event that is not pebsd's.
of_others() {
	pmu totals | grep -o "\"other:$1\":{\"overflow\":[0-9]*" | awk -F : '{ sum += $NF } END { print sum + 0 }'
}

has_of_others() {
	[ "$(of_others "$1")" -ge "$2" ]
}

# ends NAME PROCESS: interrupts a perf that records, which then prints what it wrote. Its exit status is 0, 130
# (that signal) or 143 (SIGTERM, which perf sends to its command).
ends() {
	local ended=0
	kill -INT "$2"
	wait "$2" || ended=$?
	case $ended in 0 | 130 | 143) ;; *) fail "perf's $1: exit status $ended: $(cat "$work/$1.said")" ;; esac
}

# during NAME CODE N COMMAND...: perf records until the books have N more samples of an event that is not pebsd's.
during() {
	local name=$1 code=$2 more=$3 perf
	shift 3
	more=$((more + $(of_others "$code")))
	echo "guest-tests: perf: $name" >/dev/kmsg
	"$@" >"$work/$name.said" 2>&1 &
	perf=$!
	wait_until "samples of perf's $name" 200 has_of_others "$code" $more
	ends "$name" $perf
}

# records NAME: prints the number of records in $work/NAME.data.
records() {
	perf script -i "$work/$1.data" -F event 2>/dev/null | wc -l
}

# weights NAME: prints the weights of the chase's loads in $work/NAME.data, sorted.
weights() {
	perf script -i "$work/$1.data" -F comm,event,weight 2>/dev/null | awk '$1 ~ /^pointer-chase/ && /mem-loads/ { print $NF }' | sort -n
}

# around QUANTILE: reads sorted numbers and prints two of them, those three standard deviations of the rank below
# and above the quantile's rank. The true quantile lies between them.
around() {
	awk -v q="$1" '{ all[NR] = $1 }
		END {
			by = 3 * sqrt(q * (1 - q) / NR)
			low = q > by ? int((q - by) * NR) + 1 : 1
			high = q + by < 1 ? int((q + by) * NR) + 1 : NR
			print all[low], all[high]
		}'
}
play
stop_counting
# perf gets its buffer of many records before pebsd starts.
perf record -B -e cpu/event=0xd0,umask=0x81/pp -c 2003 -a -o "$work/large.data" -- sleep 1000 >"$work/large.said" 2>&1 &
large=$!
start_pebsd
load pointer-chase chase
load mix mixed
count_again
await_samples 100
during mem "$(code_of mem-loads)" 300 perf mem record -t load -a -o "$work/mem.data" -- -B -c $PERIOD sleep 1000
during c2c "$(code_of mem-stores)" 100 perf c2c record -a -o "$work/c2c.data" -- -B -c 5003 sleep 1000
during cycles 0xc0 100 perf record -B -e cycles:pp -c 1000003 -a -o "$work/cycles.data" -- sleep 1000
perf stat -x ' ' -e instructions,cycles -a -o "$work/stat" -- sleep 1 >"$work/said" 2>&1 || fail "perf stat: $(cat "$work/said")"
mkdir -p /sys/fs/cgroup/called
(echo "$BASHPID" >/sys/fs/cgroup/called/cgroup.procs && exec chrt --idle 0 "$here/sharing" "$work/sharing.json") &
called=$!
during lbr "$(code_of mem-loads)" 60 perf record --call-graph lbr -B -e cpu/mem-loads,ldlat=30/pp -c 101 -p $called -o "$work/lbr.data" -- sleep 1000
kill $called
pmu usual
await_samples 200
ends large $large
settle

agree 'beside perf'
expect 'samples lost beside perf' 0 "$(figure lost)"
for name in mem c2c cycles large; do
	found=$(records $name)
	say "measured: perf's $name: $found records"
	[ "$found" -gt 20 ] || fail "perf's $name has $found records: $(cat "$work/$name.said")"
done
# Prints a function and its caller per line.
perf script -i "$work/lbr.data" -F ip,sym 2>"$work/said" | awk '/^$/ { n = 0; next } { frame[n++] = $2 } n == 2 { print frame[0], frame[1] }' >"$work/stacks"
hot=$(grep -c '^hot_' "$work/stacks" || :) through=$(grep -c '^hot_[a-z]* service' "$work/stacks" || :)
say "measured: perf's branch records: of $hot samples in hot functions $through have their caller"
if [ "$hot" -lt 20 ] || [ $((through * 10)) -lt $((hot * 9)) ]; then
	fail "call stacks by branch records: $(sort "$work/stacks" | uniq -c | sort -nr | head -n 10)"
fi
grep -q '^[1-9][0-9]* *.*instructions' "$work/stat" || fail "perf stat counted nothing: $(cat "$work/stat")"

# The same program, read by both: the buckets of pebsd's quantiles must overlap the ranges that perf's samples
# give.
weights mem >"$work/weights"
n=$(wc -l <"$work/weights")
[ "$n" -ge 50 ] || fail "perf mem has $n loads of the chase: $(perf script -i "$work/mem.data" 2>&1 | head -n 5)"
pebsctl --json show /chase --window all >"$work/show"
for name in 0.5 0.9; do
	around $name <"$work/weights" >"$work/around"
	read -r low high <"$work/around"
	read -r said_low said_high <<<"$(jq -r --arg name "p${name#0.}0" '.events.loads.latency[$name | .[0:3]] | "\(.low) \(.high)"' "$work/show")"
	say "measured: quantile $name of the chase: $low to $high cycles by $n loads of perf's, over $said_low up to $said_high by pebsd"
	if [ "$said_high" -lt "$low" ] || [ "$said_low" -ge "$high" ]; then
		fail "quantile $name: they differ: $(jq .events.loads.latency "$work/show")"
	fi
done
