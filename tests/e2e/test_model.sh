#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `pebsd --origin model` in the running kernel. Its report of each workload must agree with the output of
# tools/model_truth, which covers all loads of that workload, within the confidence that the number of samples
# allows. No sample may be missing, and every output must say that the samples are a model's.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl

# once NAME SECONDS: runs pebsd with $work/NAME.conf and leaves $work/NAME.json.
once() {
	"$PEBSD" --config "$work/$1.conf" --origin model --once --for "$2s" --json >"$work/$1.json" 2>"$work/log" ||
		fail "--once with $1.conf"
}

accounted() {
	expect "$1: origin" '"model"' "$(jq .origin "$work/$1.json")"
	expect "$1: losses" '{"malformed":0,"unexplained":0}' "$(jq -c .samples.lost "$work/$1.json")"
	expect "$1: all samples are a workload's" true \
		"$(jq '.samples | .seen > 0 and .unattributed == 0 and .attributed == .seen' "$work/$1.json")"
	expect "$1: the cgroups have them all" "$(jq .samples.seen "$work/$1.json")" \
		"$(jq '[.cgroups[].events[].samples] | add' "$work/$1.json")"
	expect "$1: only the model's cgroups, and no id of this machine's" true \
		"$(jq 'all(.cgroups[]; (.cgroup | startswith("model:")) and .id == 0)' "$work/$1.json")"
	expect "$1: a note says what it is" true "$(jq 'any(.notes[]; contains("no measurement"))' "$work/$1.json")"
}

# The report (x of n) and the true values (X of N) are samples of one population. They may differ by $z standard
# deviations. The last term is for counts that are too small to be normal. Samples of a workload are nearly
# independent, except those of `mix`, which does one thing for a while. The variance of `mix` is up to three times
# as high, so a factor of 4 is allowed for it.
cat >"$work/compare.jq" <<'J'
def spread($cgroup): if $cgroup == "mix" then 4 else 1 end;
def far($x; $n; $X; $N; $d): ($X / $N) as $p |
	($x / $n - $p | fabs) > $z * ($d * $p * (1 - $p) * (1 / $n + 1 / $N) | sqrt) + $z * $z / 2 * (1 / $n + 1 / $N);
def shares($what; $found; $true; $cgroup; $n; $N):
	(($found + $true) | keys[]) as $key | ($found[$key] // 0) as $x | ($true[$key] // 0) as $X |
	select(far($x; $n; $X; $N; spread($cgroup))) | "\($cgroup): \($what) \($key): \($x) of \($n), not \($X) of \($N)";
def variance: .latency_squares / .above - (.latency_sum / .above | . * .);
def error($true; $n): $z * (spread($true.workload) * ($true | variance) * (1 / $n + 1 / $true.above) | sqrt);

($truth[0].workloads | map({(.workload): .}) | add) as $true |
($found[0].cgroups | map({(.cgroup | ltrimstr("model:")): .events.loads}) | add) as $seen |
if ($true | keys) != ($seen | keys) then "workloads \($seen | keys), not \($true | keys)" else empty end,
($true | keys[] | . as $name | $true[$name] as $t | $seen[$name] as $s |
	shares("source"; $s.sources | map_values(.samples); $t.sources; $name; $s.samples; $t.above),
	shares("snoop"; $s.snoop; $t.snoops; $name; $s.samples; $t.above),
	shares("tlb"; $s.tlb; $t.tlbs; $name; $s.samples; $t.above),
	shares("flag"; {locked: $s.locked}; {locked: $t.locked}; $name; $s.samples; $t.above),
	if ($s.latency.sum / $s.samples - $t.latency_mean | fabs) > error($t; $s.samples) then
		"\($name): mean latency \($s.latency.sum / $s.samples), not \($t.latency_mean)" else empty end),
# The order: takes each pair of workloads whose true means differ by more than chance can explain.
([($true | keys) as $names | $names[] as $a | $names[] as $b | select($a < $b) |
	($true[$a].latency_mean - $true[$b].latency_mean) as $apart |
	([error($true[$a]; $seen[$a].samples), error($true[$b]; $seen[$b].samples)] | map(. * .) | add | sqrt) as $error |
	select(($apart | fabs) > $error) |
	{a: $a, b: $b, right: (($apart > 0) == ($seen[$a].latency.mean > $seen[$b].latency.mean))}]) as $pairs |
(if ($pairs | length) < $pairs_least then "only \($pairs | length) pairs have an order" else empty end),
($pairs[] | select(.right | not) | "\(.a) and \(.b) are in the wrong order")
J

# differences NAME CPU LDLAT PAIRS Z LOADS: compares the report with the true values of LOADS loads of each workload,
# for another seed, and prints the differences. Expects at least PAIRS pairs of workloads with an order.
differences() {
	"$TOOLS/model_truth" "$2" all 20261 "$3" "$6" >"$work/truth.json" &&
		jq -rn --slurpfile truth "$work/truth.json" --slurpfile found "$work/$1.json" --argjson pairs_least "$4" \
			--argjson z "$5" -f "$work/compare.jq"
}

# sampled_enough NAME SECONDS SAMPLES: runs pebsd for this time, and expects SAMPLES samples of each workload. On a busy
# machine the model does not keep up with the clock: then it runs again, for twice as long each time.
sampled_enough() {
	local seconds
	for seconds in "$2" $((2 * $2)) $((4 * $2)) $((8 * $2)) $((16 * $2)); do
		once "$1" "$seconds"
		accounted "$1"
		[ "$(jq '[.cgroups[].events.loads.samples] | min' "$work/$1.json")" -lt "$3" ] || return 0
	done
	fail "$1: in $seconds s, some workload has fewer than $3 samples"
}

# agrees NAME SECONDS CPU LDLAT SAMPLES PAIRS: runs pebsd for this time and expects no differences. 3.29 standard
# deviations are 99.9 %, and about a hundred values are compared. The number of samples depends on the real duration of
# the run, so one value may differ by chance. Then pebsd runs again for four times as long, and is compared with four
# times as many loads. The same difference is then 6.58 standard deviations, which has a chance of 5e-11.
agrees() {
	local found
	sampled_enough "$1" "$2" "$5"
	found=$(differences "$1" "$3" "$4" "$6" 3.2905 2000000) || fail "$1: cannot be compared"
	[ -n "$found" ] || return 0
	echo "$1: run again for longer: $found"
	sampled_enough "$1" $((4 * $2)) $((4 * $5))
	found=$(differences "$1" "$3" "$4" "$6" 6.581 8000000) || fail "$1: cannot be compared"
	[ -z "$found" ] || fail "$1: $found"
}

sed 's/^workloads = .*/workloads = all/' config/pebsd.conf >"$work/default.conf"
agrees default 10 skylake 31 3000 15
expect 'the PMU is named for what it is' '"model-skylake"' "$(jq '.total.events.loads.pmu' "$work/default.json")"
# By default the model counts, too, so each cgroup has lost time.
expect 'events by default' '["cycles","instructions","loads","misses","stalls"]' \
	"$(jq -c '.total.events | keys | sort' "$work/default.json")"
expect 'wait of each workload' true "$(jq 'all(.cgroups[].waits.wait.value; . >= 0 and . <= 1)' "$work/default.json")"
expect 'cores lost on the whole' true \
	"$(jq '.waits | .wait.value > 0.5 and (.cores_lost.value / (.cores_used.value * .wait.value) - 1 | fabs) < 0.001' \
		"$work/default.json")"

# Another CPU: adaptive records, two latencies, the threshold on the second one, another encoding.
printf '[model]\ncpu = sapphirerapids\nseed = 7\nworkloads = all\n' >"$work/split.conf"
agrees split 4 sapphirerapids 31 1000 15
expect 'which latency it is' '"cache"' "$(jq .total.events.loads.latency_kind "$work/split.json")"

# ldlat, period and workloads are respected.
printf '[sampling]\nldlat = 100\nperiod = 5003\n[model]\ncpu = nehalem\nworkloads = pointer-chase false-sharing\n' \
	>"$work/few.conf"
once few 3
accounted few
expect 'the workloads asked for' '["model:false-sharing","model:pointer-chase"]' \
	"$(jq -c '[.cgroups[].cgroup] | sort' "$work/few.json")"
expect 'ldlat' 100 "$(jq .total.events.loads.ldlat "$work/few.json")"
expect 'all loads took longer' true "$(jq 'all(.cgroups[].events.loads.latency.p50; .low >= 100 - 4)' "$work/few.json")"
expect 'weights are periods' 5003 "$(jq '.total.events.loads | .weighted.samples / .samples' "$work/few.json")"

# A running daemon.
printf '%s\n' '[sampling]' 'origin = model' 'interval = 200ms' '[rule sharing]' 'cgroup = model:false-sharing' \
	'metric = mean' 'above = 60' 'window = 2s' 'for = 1s' 'min-samples = 200' 'action = log zoom:30s hot:10m' \
	'[model]' 'workloads = all' \
	>"$work/live.conf"
exits 'a configuration of the model' 0 "$PEBSD" --check-config --config "$work/live.conf"
start --config "$work/live.conf"
workloads() {
	ctl --json top | jq '.cgroups | length'
}
until_is 'workloads with samples' 7 workloads
for output in 'status' 'top' 'show model:mix' '--json status' '--json top' '--json show model:mix'; do
	# shellcheck disable=SC2086 # words
	ctl $output >"$work/output" || fail "pebsctl $output"
	case $output in
	--json*) expect "pebsctl $output: origin" model "$(jq -r .origin "$work/output")" ;;
	*) grep -q 'Origin: model (no measurement)' "$work/output" ||
		fail "pebsctl $output does not say model: $(cat "$work/output")" ;;
	esac
done
# After four collections, figures of a window have bounds.
has_bounds() {
	ctl --json show --window 30s model:false-sharing |
		jq -ne 'input.events.loads | .confidence == 0.95 and (.latency.p50 | .bounds.low <= .low and .bounds.high >= .high)'
}
until_true 'the median has bounds' has_bounds
ctl show --window 30s model:false-sharing >"$work/output"
grep -q 'p50 [0-9]* (bounds [0-9]*-[0-9]*)' "$work/output" || fail "pebsctl show has no bounds: $(cat "$work/output")"
grep -q '^     Bounds: each at 95% confidence' "$work/output" || fail "what the bounds are: $(cat "$work/output")"
grep -Eq '^SOURCE +SAMPLES +SHARE +BOUNDS ' "$work/output" || fail "shares have no bounds: $(cat "$work/output")"
ctl show --window all model:false-sharing | grep -q 'p50 [0-9]* (bucket [0-9]*-[0-9]*)' || fail 'the whole time has bounds'
ctl status | grep -q 'Note: .*no measurement' || fail 'status has no note'
# Code runs at few addresses, so each is counted exactly. There are more cache lines than a table holds, so their counts
# are bounds. The names are the model's own, because no process of this machine ran the code.
ctl --json hot --for 1s -n 1000 model:mix >"$work/hot" || fail 'pebsctl hot'
expect 'hot: origin' model "$(jq -r .origin "$work/hot")"
expect 'hot: chosen' '["model:mix","request"]' "$(jq -c '[.cgroup, .chosen.by]' "$work/hot")"
expect 'hot: code' '{"exact":true,"samples":true,"latency":true,"named":true,"absent":[0,0]}' "$(jq -c \
	'.events.loads as $loads | $loads.code | {exact: (length > 0 and all(.latency.low == .latency.high)),
		samples: (([.[].samples.high] | add) == $loads.samples), latency: (([.[].latency.high] | add) == $loads.latency),
		named: (all(.pid == null and .module == "model:mix" and (.address | startswith("0x"))) and
			([.[].name] | unique) == ["look_up", "main", "update"] and .[0].name == "look_up"),
		absent: ($loads.absent.code | [.latency, .samples])}' "$work/hot")"
expect 'hot: lines' '{"bounds":true,"named":true,"no_more_than_there_is":true,"order":true}' "$(jq -c \
	'.events.loads as $loads | $loads.lines | {bounds: (length > 50 and all(.latency.low <= .latency.high and
			.samples.low <= .samples.high and .share.low <= .share.high)),
		named: (([.[].object] | unique) - ["[stack]", "cold", "cool", "hot", "remote", "shared", "warm"] == []),
		no_more_than_there_is: (([.[].latency.low] | add) <= $loads.latency and ([.[].samples.low] | add) <= $loads.samples),
		order: ([.[].latency.high] | . == (sort | reverse))}' "$work/hot")"
ctl --json status | jq -ne 'input | .detail.hot | index("model:mix")' >"$work/said" || fail 'status does not say who has hot tables'
ctl hot model:mix >"$work/output" || fail 'pebsctl hot as text'
grep -q 'Origin: model (no measurement)' "$work/output" || fail "pebsctl hot does not say model: $(cat "$work/output")"
grep -q ' look_up+0x0  mix.c:24 model:mix 0x[0-9a-f]*$' "$work/output" || fail "pebsctl hot has no function: $(cat "$work/output")"
expect 'hot: nothing is waited for' 0 "$(jq .unnamed "$work/hot")"
exits 'hot code of none of the workloads' 4 ctl hot model:none
# A rule that fires starts a zoom of its cgroup, and the cgroup's hot tables.
logged 'tracking hot code and data of model:false-sharing for rule sharing, alert 1'
logged 'zoom 1 on model:false-sharing begins, for 30s (rule sharing, alert 1)'
ctl --json status | jq -ne 'input | .detail.hot | index("model:false-sharing")' >"$work/said" || fail 'a rule chose no cgroup'
expect 'the interval in force' 0.2 "$(ctl --json status | jq .interval_s)"
expect 'healthz' ok "$(get /healthz)"
get / | grep -q 'model (not a measurement)' || fail 'the page does not say model'
grep -q 'serving: origin model' "$work/log" || fail 'the log does not say model'
get /metrics >"$work/metrics"
grep -q '^pebsd_sampler_info{origin="model",pmu="model-skylake",' "$work/metrics" || fail 'sampler_info does not say model'
expect 'series that do not say model' '' "$(grep 'event="' "$work/metrics" | grep -v 'pmu="model-skylake"' || :)"
expect 'lost samples' 0 "$(awk '/^pebsd_samples_lost_total/ { sum += $2 } END { print sum + 0 }' "$work/metrics")"
expect 'series of each workload' 7 \
	"$(sed -n 's/^pebsd_weighted_samples_total{cgroup="model:\([^"]*\)".*/\1/p' "$work/metrics" | sort -u | wc -l)"
before=$(ctl --json top | jq .samples.seen)
more_seen() {
	[ "$(ctl --json top | jq .samples.seen)" -gt "$before" ]
}
until_true 'more samples come' more_seen

# A reload applies the settings that it can change, reports those that wait for a restart, and refuses impossible
# ones.
printf '[sampling]\norigin = model\ninterval = 300ms\n[model]\ncpu = icelake\nworkloads = mix\n' >"$work/live.conf"
exits 'reload' 0 ctl reload
grep -q 'applied: interval' "$work/said" || fail "what changed is not told: $(cat "$work/said")"
grep -q 'waiting for a restart: cpu, workloads' "$work/said" || fail "what waits is not told: $(cat "$work/said")"
printf '[sampling]\norigin = model\ninterval = 300ms\nperiod = 4001\n' >"$work/live.conf"
exits 'reload of the period' 0 ctl reload
grep -q 'the model keeps its period of 10007: restart pebsd to change it' "$work/said" ||
	fail "that the period stays is not told: $(cat "$work/said")"
! grep -q 'applied:.*period' "$work/said" || fail "the period is told as taken over: $(cat "$work/said")"
expect 'the period in force' 10007 "$(ctl --json status | jq .events.loads.period)"
printf '[sampling]\norigin = model\n[model]\ncpu = goldmont\n' >"$work/live.conf"
exits 'reload with a CPU that cannot' 1 ctl reload
grep -q ':4: cpu = goldmont: .*no latency' "$work/said" || fail "why it cannot is not told: $(cat "$work/said")"
expect 'still the old one' '"model-skylake"' "$(ctl --json status | jq .events.loads.pmu)"
printf '[sampling]\norigin = model\nevents = loads stores\n' >"$work/stores.conf"
exits 'events that the model does not play' 0 "$PEBSD" --config "$work/stores.conf" --once --for 100ms
grep -q 'the model .* loads.*events. in \[sampling\]' "$work/said" || fail "what the model plays is not told: $(cat "$work/said")"
exits 'the same at the start' 2 "$PEBSD" --config "$work/live.conf" --once
printf '[model]\ncpu = skylaek\nworkloads = steraming\n' >"$work/live.conf"
exits 'names that there are not' 2 "$PEBSD" --check-config --config "$work/live.conf"
grep -q 'did you mean skylake?' "$work/said" || fail "no CPU is suggested: $(cat "$work/said")"
grep -q 'did you mean streaming?' "$work/said" || fail "no workload is suggested: $(cat "$work/said")"
exits 'a recording beside it' 2 "$PEBSD" --origin model --replay "$work/x"

kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=''
expect 'exit code after SIGTERM' 0 "$status"

# pebsd must not use the model unless it is requested.
if [ "$("$PEBSD" --probe --json | jq .usable)" = false ]; then
	exits 'auto never is the model' 3 "$PEBSD" --once --for 1s
	grep -q -- '--origin model' "$work/said" || fail "the way out is not told: $(cat "$work/said")"
fi
