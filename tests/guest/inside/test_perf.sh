#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf uses the same PMU as pebsd: it samples load latencies, stores, precise cycles, and all loads with many
# records per buffer, and it counts instructions and cycles. Beside the many records per buffer, pebsd must not lose a
# single sample, also if it starts, pauses and resumes. Beside all of perf it may lose three, which it must report.
# perf's latencies, sources and HITM of a program must agree with pebsd's values of its cgroup, and its counts with the
# books. Branch records must give perf the program's call stacks.
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

# loads_now CGROUP: prints what pebsd has of its loads so far.
loads_now() {
	pebsctl --json show "$1" --window all |
		jq -c '.events.loads | {samples, sources: (.sources | map_values(.samples)), hitm: (.snoop.hitm // 0),
			histogram: (.histogram | map({key: "\(.le)", value: .samples}) | from_entries)}'
}

# during NAME CODE N COMMAND...: perf records until the books have N more samples of an event that is not pebsd's. If
# $compared is a cgroup, $work/NAME.before and $work/NAME.after have pebsd's loads of it at the beginning and the end. A
# longer time would not do: perf takes seconds to start and to end, and a program may move to the other node meanwhile.
compared=''
during() {
	local name=$1 code=$2 more=$3 perf begun
	shift 3
	begun=$(of_others "$code")
	echo "guest-tests: perf: $name" >/dev/kmsg
	"$@" >"$work/$name.said" 2>&1 &
	perf=$!
	if [ -n "$compared" ]; then
		wait_until "the first sample of perf's $name" 200 has_of_others "$code" $((begun + 1))
		await_collections 1
		loads_now "$compared" >"$work/$name.before"
	fi
	wait_until "samples of perf's $name" 200 has_of_others "$code" $((begun + more))
	if [ -n "$compared" ]; then
		await_collections 1
		loads_now "$compared" >"$work/$name.after"
	fi
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

# around QUANTILE: reads sorted numbers and prints two of them, those five standard deviations of the rank below and
# above the quantile's rank. The true quantile lies between them, except about once in a million cases.
around() {
	awk -v q="$1" '{ all[NR] = $1 }
		END {
			by = 5 * sqrt(q * (1 - q) / NR)
			low = q > by ? int((q - by) * NR) + 1 : 1
			high = q + by < 1 ? int((q + by) * NR) + 1 : NR
			print all[low], all[high]
		}'
}

# by_perf NAME COMM: prints perf's loads of the program in $work/NAME.data, see perf_script.awk.
by_perf() {
	perf script -i "$work/$1.data" --comms "$2" -F weight,data_src 2>/dev/null | grep -F '|OP LOAD|' |
		awk -f "$here/hardware/perf_script.awk"
}

# same_share WHAT PART WHOLE PART WHOLE: a share of perf's samples, then of pebsd's, must differ by at most five
# standard errors. Both have at least 50 samples.
same_share() {
	say "measured: $1: $2 of $3 by perf, $4 of $5 by pebsd"
	if [ "$3" -lt 50 ] || [ "$5" -lt 50 ]; then
		fail "$1: too few samples to compare"
	fi
	awk -v a="$2" -v n="$3" -v b="$4" -v m="$5" 'BEGIN {
		p = (a + b) / (n + m)
		by = a / n - b / m
		exit (by < 0 ? -by : by) > 5 * sqrt(p * (1 - p) * (1 / n + 1 / m))
	}' || fail "$1: they differ"
}

# spent NAME: prints the sum over all tasks of what the books have while the counters were enabled.
spent() {
	pmu spent | sed 's/.*"counting":{\(.*\)}}/\1/; s/[":,]/ /g' | awk -v name="$1" '
		{ for (i = 1; i < NF; i += 2) if ($i == name) sum += $(i + 1) }
		END { printf "%.0f\n", sum }'
}

# counted NAME: prints the count of perf stat.
counted() {
	awk -v name="$1" '$2 == name || $3 == name { print $1 }' "$work/stat"
}

LARGE=0x81d0
play
load pointer-chase chase
load mix mixed
load false-sharing sharing -- --threads 2
perf record -B -e cpu/event=0xd0,umask=0x81/pp -c 2003 -a -o "$work/large.data" -- sleep 1000 >"$work/large.said" 2>&1 &
large=$!
# Until pebsd comes, the kernel takes many of perf's records in one interrupt.
wait_until 'many records of perf' 200 has_of_others $LARGE 1000
interrupts=$(pmu price | jq -s 'map(.nmis) | add') records=$(of_others $LARGE)
say "measured: perf's large buffers: $records records in $interrupts interrupts"
[ "$records" -ge $((interrupts * 4)) ] || fail "perf's buffers have few records: $records in $interrupts interrupts"
start_pebsd
await_samples 100
exits 'a pause' 0 pebsctl pause --for 1h
more=$(($(of_others $LARGE) + 300))
wait_until 'records of perf during the pause' 200 has_of_others $LARGE $more
exits 'the end of the pause' 0 pebsctl resume
await_samples 100
settle
agree 'beside many records per buffer'
expect 'samples lost beside many records per buffer' 0 "$(figure lost)"
resume
compared=/chase
# The more samples, the narrower is the range of a quantile.
during mem "$(code_of mem-loads)" 800 perf mem record -t load -a -o "$work/mem.data" -- -B -c $PERIOD sleep 1000
compared=/sharing
# A shorter period, because few of these loads are of the program with the shared line. pebsd has a fifth as many.
during c2c "$(code_of mem-loads)" 7000 perf c2c record -a -o "$work/c2c.data" -- -B -c 211 sleep 1000
compared=''
during cycles 0xc0 100 perf record -B -e cycles:pp -c 1000003 -a -o "$work/cycles.data" -- sleep 1000
stop_counting
perf stat -x ' ' -e instructions,cycles -a -o "$work/stat" -- sleep 1000 >"$work/stat.said" 2>&1 &
stat=$!
wait_until "perf stat's command" 200 pgrep -f '^sleep 1000$' -P "$stat"
before=("$(spent instructions)" "$(spent cycles)")
count_again
sleep 0.5
stop_counting
instructions=$(($(spent instructions) - before[0])) cycles=$(($(spent cycles) - before[1]))
# At SIGINT, perf stat still waits for the end of its command.
pkill -P "$stat"
wait "$stat" || fail "perf stat: exit status $?: $(cat "$work/stat.said")"
count_again
expect "perf stat's instructions" "$instructions" "$(counted instructions)"
expect "perf stat's cycles" "$cycles" "$(counted cycles)"
mkdir -p /sys/fs/cgroup/called
(echo "$BASHPID" >/sys/fs/cgroup/called/cgroup.procs && exec chrt --idle 0 "$here/sharing" "$work/sharing.json") &
called=$!
# About half of them are in hot functions.
during lbr "$(code_of mem-loads)" 200 perf record --call-graph lbr -B -e cpu/mem-loads,ldlat=30/pp -c 101 -p $called -o "$work/lbr.data" -- sleep 1000
kill $called
pmu usual
await_samples 200
ends large $large
settle

agree 'beside perf'
# agree() has compared lost samples with the books. When perf's events come and go, the kernel may move pebsd's event to
# another counter. One move in $PERIOD falls between an overflow and its record, and loses the sample.
[ "$(figure lost)" -le 3 ] || fail "$(figure lost) samples are lost beside perf"
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

# The same program in the same time, read by both: the ranges that their samples give of a quantile must overlap.
weights mem >"$work/weights"
n=$(wc -l <"$work/weights")
[ "$n" -ge 50 ] || fail "perf mem has $n loads of the chase: $(perf script -i "$work/mem.data" 2>&1 | head -n 5)"
# The upper end of the bucket of each sample. A bucket begins above that of the one before: 8 share an octave.
jq -n -r --slurpfile before "$work/mem.before" --slurpfile after "$work/mem.after" '
	$after[0].histogram | keys[] as $le | range(.[$le] - ($before[0].histogram[$le] // 0)) | $le' | sort -n >"$work/upper"
[ "$(wc -l <"$work/upper")" -ge 50 ] || fail "pebsd has few loads of the chase beside perf mem: $(wc -l <"$work/upper")"
for name in 0.5 0.9; do
	read -r low high < <(around $name <"$work/weights")
	read -r said_low said_high < <(around $name <"$work/upper")
	said_low=$(jq -n "$said_low | if . <= 16 then . - 1 else . - pow(2; (log2 | ceil) - 4) end")
	say "measured: quantile $name of the chase: $low to $high cycles by $n loads of perf's, over $said_low up to $said_high by $(wc -l <"$work/upper") of pebsd's"
	if [ "$said_high" -lt "$low" ] || [ "$said_low" -ge "$high" ]; then
		fail "quantile $name: they differ: $(uniq -c "$work/upper")"
	fi
done

# The same programs in the same time: where the loads were served from, and HITM on the shared line.
by_perf mem pointer-chase >"$work/by_perf"
jq -n -r --slurpfile before "$work/mem.before" --slurpfile after "$work/mem.after" --slurpfile perf "$work/by_perf" '
	($after[0].samples - $before[0].samples) as $all
	| ($perf[0].sources + $after[0].sources | keys[]) as $source
	| "\($source) \($perf[0].sources[$source] // 0) \($perf[0].samples) \(
		($after[0].sources[$source] // 0) - ($before[0].sources[$source] // 0)) \($all)"' >"$work/sources"
while read -r -a share; do
	same_share "loads of the chase from ${share[0]}" "${share[@]:1}"
done <"$work/sources"
by_perf c2c false-sharing >"$work/by_perf"
read -r -a share < <(jq -n -r --slurpfile before "$work/c2c.before" --slurpfile after "$work/c2c.after" \
	--slurpfile perf "$work/by_perf" '
	"\($perf[0].hitm) \($perf[0].samples) \($after[0].hitm - $before[0].hitm) \($after[0].samples - $before[0].samples)"')
[ "${share[0]}" -gt 0 ] || fail "perf c2c has no HITM: $(cat "$work/by_perf")"
same_share 'HITM of the program with the shared line' "${share[@]}"
