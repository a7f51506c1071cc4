#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# go tool pprof and perf must open the profiles of a zoom of the model, with the same totals. pprof shows functions,
# callers, files and lines. perf knows no file of the modelled program, so it shows its addresses, and perf c2c the
# lines that both CPUs contend for.
set -u
# shellcheck source=tests/e2e/daemon.sh
. tests/e2e/daemon.sh
need jq
command -v go >/dev/null || skip 'needs go (Debian: golang-go)'
perf --version >/dev/null 2>&1 || skip 'needs a perf that runs (Debian: linux-perf)'
export HOME=$work PPROF_TMPDIR=$work GOTOOLCHAIN=local

printf '[sampling]\norigin = model\n[model]\nworkloads = false-sharing\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf"
cgroup=model:false-sharing
ctl --json zoom --for 3s $cgroup >"$work/zoom" || fail 'no zoom'
exits 'pprof' 0 ctl profile --last -o "$work/profile.pb.gz" $cgroup
exits 'perf.data' 0 ctl profile --last --perf-data -o "$work/perf.data" $cgroup
samples=$(jq .zoom.samples.taken "$work/zoom")
latency=$(jq .zoom.latency_sum "$work/zoom")
hitm=$(jq '[.lines[].hitm] | add' "$work/zoom")
[ "$samples" -gt 1000 ] || fail "only $samples samples"

# pprof ARGUMENTS...: leaves its output in $work/said
pprof() {
	exits "pprof $*" 0 go tool pprof -symbolize=none "$@" "$work/profile.pb.gz"
}
pprof -top -nodefraction=0 -sample_index=samples
grep -q " of $samples total" "$work/said" || fail "pprof has not $samples samples: $(cat "$work/said")"
grep -Eq ' count_request$' "$work/said" || fail "pprof has no function: $(cat "$work/said")"
pprof -top -lines -nodefraction=0
grep -q " of ${latency}cycles total" "$work/said" || fail "pprof has no latency: $(cat "$work/said")"
grep -Eq ' count_request .*false_sharing.c:21$' "$work/said" || fail "pprof has no line: $(cat "$work/said")"
pprof -traces
tr -s ' \n' ' ' <"$work/said" | grep -q 'count_request serve_request main' || fail "pprof has no callers: $(cat "$work/said")"
pprof -comments
grep -q 'origin: model' "$work/said" || fail "pprof does not say that this is a model: $(cat "$work/said")"

# run ARGUMENTS...: leaves perf's output in $work/said
run() {
	perf "$@" >"$work/said" 2>"$work/complaints" </dev/null || fail "perf $*: $(cat "$work/complaints")"
}
run script -i "$work/perf.data" -G -F comm,event,addr,weight,data_src,ip,sym,dso
expect 'samples in perf script' "$samples" "$(wc -l <"$work/said")"
expect 'their program' "$samples" "$(grep -c '^ *false-sharing .*mem-loads.* (\[model:false-sharing\])' "$work/said")"
expect 'HITM in perf script' "$hitm" "$(grep -c 'SNP HitM' "$work/said")"
run report --mem-mode --stdio -g none -n -i "$work/perf.data" --sort mem,dso
expect 'latency in perf report' "$latency" "$(awk '/^# Total weight/ { print $NF; exit }' "$work/said")"
grep -Fq '[model:false-sharing]' "$work/said" || fail "perf report does not say model: $(cat "$work/said")"
if [ -e /sys/devices/system/node/node0 ]; then
	run c2c report --stdio -i "$work/perf.data"
	expect 'shared lines in perf c2c' 8 \
		"$(awk -F: '$1 ~ "^ *Total Shared Cache Lines *$" { print $2 + 0; exit }' "$work/said")"
else
	echo 'perf c2c was not asked: this kernel tells of no NUMA nodes'
fi
