#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests how `make test-hardware` evaluates pebsd's output, without any hardware. A stand-in for pebsd answers at
# once with the data that a machine would have given in the requested time.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq
[ "$(id -u)" = 0 ] || skip 'needs root: the report is of a cgroup of its own'

# judged FIGURES: prints the results that judge.jq concludes from these values, in one line
judged() {
	jq -r --argjson expected '["l3", "local_cache"]' --argjson least 100 -f tests/hardware/judge.jq <<<"$1" |
		jq -r '[.[] | .result] | join(" ")'
}

enough='"seconds": 10, "all": 5000, "expected": 5000, "malformed": 0, "main": "l3"'
expect 'enough samples of the right source' 'passed passed passed' \
	"$(judged "{$enough, \"unexplained\": 100, \"samples\": 100, \"sources\": {\"l3\": 50, \"local_cache\": 10, \"l2\": 40}}")"
expect 'the wrong source' 'passed failed passed' \
	"$(judged "{$enough, \"unexplained\": 0, \"samples\": 100, \"sources\": {\"l3\": 59, \"l2\": 41}}")"
expect 'one sample too few' 'undecided passed' \
	"$(judged "{$enough, \"unexplained\": 0, \"samples\": 99, \"sources\": {\"l3\": 99}}")"
expect 'none, where others had many' 'failed passed' "$(judged "{$enough, \"unexplained\": 0, \"samples\": 0}")"
expect 'more than one in fifty lost' 'passed passed failed' \
	"$(judged "{$enough, \"unexplained\": 101, \"samples\": 100, \"sources\": {\"l3\": 100}}")"
expect 'one of few samples lost' 'undecided undecided' \
	"$(judged '{"seconds": 10, "all": 20, "expected": 21, "malformed": 0, "unexplained": 1, "samples": 20}')"

mkdir "$work/bin"
cat >"$work/bin/pebsd" <<'END'
#!/bin/bash
# SAMPLES: samples of the chase in a hundred seconds. WRONG: if set, their source. LOST: samples lost of each 100.
seconds=10
while [ $# -gt 0 ]; do
	case $1 in
	--version) echo 'pebsd 9.8.7' && exit ;;
	--probe) probe=yes ;;
	--json) json=yes ;;
	--config) config=$2 ;;
	--for) seconds=${2%s} ;;
	--once) once=yes ;;
	esac
	shift
done
if [ -n "${probe:-}" ]; then
	# Without --config, the probe shows another period, that of the machine's own configuration.
	[ -z "${json:-}" ] && echo 'loads on PMU cpu' ||
		sed "s/10007/$([ -n "${config:-}" ] && echo 10007 || echo 101)/" "$STAND_IN/probe.json"
	exit
fi
[ -n "${config:-}" ] || exit 0
[ -n "${once:-}" ] || exec sleep 1000
read -r bytes node cgroup <"$STAND_IN/chase"
source=l3
! grep -q -x 'ldlat = 3' "$config" || source=l2
[ "$bytes" -lt 268435456 ] || source=local_dram
[ "$source$node" != local_dram1 ] || source=remote_dram
samples=$((SAMPLES * seconds / 100)) all=$((SAMPLES * seconds / 100 + 7))
echo "$seconds" >>"$STAND_IN/asked"
cgroups="{\"cgroup\": \"/secret.service\", \"events\": {\"loads\": {\"samples\": 7, \"sources\": {\"l1\": {\"samples\": 7}}}}}"
[ $samples = 0 ] || cgroups+=", {\"cgroup\": \"$cgroup\", \"events\": {\"loads\": {\"samples\": $samples,
	\"latency\": {\"mean\": 96, \"p50\": {\"value\": 91.5}, \"p90\": {\"value\": 101.5}, \"p99\": {\"value\": 404.5}},
	\"sources\": {\"${WRONG:-$source}\": {\"samples\": $samples}}}}}"
echo "{\"samples\": {\"seen\": $all, \"lost\": {\"malformed\": 0, \"unexplained\": $((all * LOST / 100))},
	\"unsampled_seconds\": {\"throttled\": 1.5}}, \"total\": {\"events\": {\"loads\": {\"samples\": $all}}},
	\"cgroups\": [$cgroups]}"
END
cat >"$work/bin/pebsctl" <<'END'
#!/bin/sh
echo '{"notes": [], "events": {"loads": {"period": 10007, "cost": {"interrupt_ns": 1234.5, "dense_interrupt": {"ns": 1100.5, "per_second": 25000}, "sparse_interrupt": {"ns": 2900.5, "per_second": 100}, "program_ns": 67.8}}}}'
END
cat >"$work/bin/chase" <<'END'
#!/bin/bash
trap 'echo "{\"bytes\":$2,\"ns_a_load\":95.25}"; exit 0' TERM
echo "$2 $6 $(sed -n 's/^0:://p' /proc/self/cgroup)" >"$STAND_IN/chase"
echo ready
while :; do sleep 0.1; done
END
printf '#!/bin/sh\nexit 1\n' >"$work/bin/perf"
chmod +x "$work"/bin/*
echo '{"events": [{"role": "loads", "pmu": "cpu", "cpus": "0", "period": 10007}], "refused": []}' >"$work/probe.json"

# run SAMPLES LOST [SOURCE]: leaves $status, $work/said and $work/report
run() {
	: >"$work/asked"
	status=0
	env PATH="$work/bin:$PATH" STAND_IN="$work" SAMPLES="$1" LOST="$2" WRONG="${3:-}" PEBSD="$work/bin/pebsd" \
		CHASE="$work/bin/chase" REPORT="$work/report" PEBSCTL="$work/bin/pebsctl" \
		unshare --uts sh -c 'hostname zq-nobody-elses-host && exec tests/hardware/run.sh 10' >"$work/said" 2>&1 || status=$?
}

# has LINE: expects this line in the report
has() {
	grep -q -x -- " *$1" "$work/report" || fail "the report has no line \"$1\": $(<"$work/report")"
}

run 20000 0
expect 'exit code where all is well' 0 "$status"
expect 'its verdict' 'pebsd on this hardware: PASSED' "$(head -n 1 "$work/report")"
for line in 'pebsd 9.8.7' 'Linux .*' 'cpu family.*' 'model name.*' 'stepping.*' \
	'sampled for 10 s, period 10007; 2000 samples of the chase, 2007 of loads in all' \
	'expected 2007, seen 2007; lost: malformed 0, unexplained 0' 'unsampled: throttled 1.5 s' \
	'latency: mean 96, p50 91.5, p90 101.5, p99 404.5 cycles' \
	'sources: local_dram 100 %; expected 60 % and more: local_dram, lfb, pmem, msc' 'the chase itself: 95.25 ns a load' \
	'cost of a sample of loads: interrupt 1234.5 ns, program 67.8 ns; period 10007' \
	'its interrupt at 25000 samples a second: 1100.5 ns; at 100: 2900.5 ns' \
	'passed: local DRAM (cpu): served by local_dram lfb pmem msc' 'loads on PMU cpu'; do
	has "$line"
done
! grep -q -e zq-nobody -e secret "$work/report" || fail "the report names what is private: $(<"$work/report")"
grep -q "^# the report, one file to mail .*: $work/report\$" "$work/said" || fail "its name is not told: $(<"$work/said")"
[ "$(sort -u "$work/asked")" = 10 ] || fail "asked for $(<"$work/asked") s, though there were enough"

# 94 samples in 10 s are too few, and 150 in 16 s are enough.
run 940 0
expect 'exit code of a slow machine' 0 "$status"
expect 'its verdict' 'pebsd on this hardware: PASSED' "$(head -n 1 "$work/report")"
has '94 samples in 10 s are too few: measured again for longer, the time number 1'
has 'passed: local DRAM (cpu): pebsd sees the chase'
expect 'the times that it asked for' '10 16' "$(sort -nu "$work/asked" | paste -s -d ' ')"

# 5 samples in 10 s are too few, and so are 30 in the maximum of 60 s.
run 50 0
expect 'exit code of a machine that is too slow' 0 "$status"
expect 'its verdict' 'pebsd on this hardware: UNDECIDED' "$(head -n 1 "$work/report" | grep -o '^[^:]*: [A-Z]*')"
head -n 1 "$work/report" | grep -q 'make test-hardware HARDWARE_SECONDS=60' || fail 'it does not say what to do'
has 'undecided: local DRAM (cpu): pebsd sees the chase: 30 samples of it in 60 s, of 37 in all, and 100 are needed'
grep -q -x 'ok - local DRAM (cpu): pebsd sees the chase # SKIP undecided: 30 samples .*' "$work/said" ||
	fail "the result is none of its own: $(<"$work/said")"
expect 'the times that it asked for' '10 60' "$(sort -nu "$work/asked" | paste -s -d ' ')"

run 20000 0 remote_cache
expect 'exit code with a wrong source' 1 "$status"
has 'failed: local DRAM (cpu): served by local_dram lfb pmem msc: 0 % of its samples are, most are remote_cache'
expect 'its verdict' 'pebsd on this hardware: FAILED' "$(head -n 1 "$work/report" | grep -o '^[^:]*: [A-Z]*')"

run 20000 3
expect 'exit code with losses' 1 "$status"
has 'failed: local DRAM (cpu): what was counted was seen: 60 of 2067 samples were lost'

echo '{"events": [], "refused": [{"role": "loads", "pmu": "cpu", "reason": "there is none"}]}' >"$work/probe.json"
run 0 0
expect 'exit code without a PMU' 0 "$status"
has 'skipped: pebsd on this hardware: loads cannot be sampled here. cpu: there is none'
expect 'its verdict' 'pebsd on this hardware: NOT TRIED' "$(head -n 1 "$work/report" | grep -o '^[^:]*: [A-Z ]*')"
