#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf must open the perf.data file of a zoom and count its contents: samples and latency of each event, of each
# function by its name, and of each process.
set -eu

: "${TOOLS:=build/tests/tools}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# perf keeps a cache below this directory.
export HOME=$work

fail() {
	printf '%s\n' "$*"
	exit 1
}

expect() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', perf has '$3'"
}

# run WHAT ARGUMENT...: leaves perf's output in $work/said.
run() {
	local what=$1
	shift
	perf "$@" >"$work/said" 2>"$work/complaints" </dev/null ||
		fail "perf $what failed: $(cat "$work/complaints")"
}

command -v perf >/dev/null || {
	echo 'needs perf (Debian: linux-perf)'
	exit 77
}
perf --version >/dev/null 2>&1 || {
	echo 'needs a perf that runs'
	exit 77
}

data=$work/perf.data
"$TOOLS/make_zoom" "$data" >"$work/truth" || fail 'make_zoom failed'
truth() {
	awk -v kind="$1" -v name="${2:-}" -v field="$3" \
		'$1 == kind && (name == "" || $2 == name) { sum += $field } END { print sum + 0 }' "$work/truth"
}

run 'script' script -i "$data" -G -F comm,tid,cpu,time,event,addr,weight,data_src,ip,sym
expect 'samples in perf script' "$(truth samples '' 3)" "$(wc -l <"$work/said")"
for event in mem-loads mem-stores; do
	expect "$event in perf script" "$(truth samples $event 3)" "$(grep -c "cpu/$event" "$work/said")"
done
for function in scan_rows probe_index serve_request; do
	expect "loads of $function in perf script" "$(truth function $function 3)" \
		"$(grep 'mem-loads' "$work/said" | grep -c " $function *$")"
done
for comm in zoomed forked; do
	expect "samples of $comm in perf script" "$(truth comm $comm 3)" "$(grep -c "^ *$comm " "$work/said")"
done
expect 'HITM in perf script' "$(truth hitm '' 2)" "$(grep -c 'SNP HitM' "$work/said")"

# The weight of a load is its latency. perf report --mem-mode (below) must have the same sum.
run 'script' script -i "$data" -G -F event,weight
expect 'latency in perf script' "$(truth samples mem-loads 4)" \
	"$(awk '/mem-loads/ { sum += $NF } END { print sum }' "$work/said")"
sorted=1
run 'script' script -i "$data" -G -F time
sort -c -n "$work/said" 2>/dev/null || sorted=0
expect 'samples in order of their times' 1 "$sorted"

run 'report --mem-mode' report --mem-mode --stdio -g none -n -i "$data" --sort mem,sym,snoop
expect 'latency in perf report --mem-mode' "$(truth samples mem-loads 4)" \
	"$(awk '/^# Total weight/ { print $NF; exit }' "$work/said")"
expect 'HITM in perf report --mem-mode' "$(truth hitm '' 2)" \
	"$(awk '/^# Samples.*mem-stores/ { exit } !/^#/ && /HitM/ { sum += $2 } END { print sum }' "$work/said")"
for function in scan_rows probe_index serve_request; do
	expect "samples of $function in perf report --mem-mode" "$(truth function $function 3)" \
		"$(awk -v name=$function '/^# Samples.*mem-stores/ { exit }
			!/^#/ && index($0, "[.] " name " ") { sum += $2 } END { print sum }' "$work/said")"
done

# perf must find the caller serve_request in the stacks.
run 'report' report --stdio -g none -n -i "$data" --no-children --sort parent,sym -p '^serve_request$'
expect 'samples below serve_request' "$(truth samples '' 3)" \
	"$(awk '!/^#/ && /serve_request/ { sum += $2 } END { print sum }' "$work/said")"

run 'mem report' mem -i "$data" report --stdio
expect 'latency in perf mem report' "$(truth samples mem-loads 4)" \
	"$(awk '/^# Total weight/ { print $NF; exit }' "$work/said")"

if [ -e /sys/devices/system/node/node0 ]; then
	run 'c2c report' c2c report --stdio -i "$data"
	for pair in "Total records:$(truth samples '' 3)" "Load Operations:$(truth samples mem-loads 3)" \
		"Load Local HITM:$(truth hitm '' 2)" "Store Operations:$(truth samples mem-stores 3)" \
		'Total Shared Cache Lines:1'; do
		expect "${pair%:*} of perf c2c" "${pair#*:}" \
			"$(awk -F: -v what="${pair%:*}" '$1 ~ "^ *" what " *$" { print $2 + 0; exit }' "$work/said")"
	done
	grep -q 'scan_rows' "$work/said" || fail 'perf c2c does not name the code'
else
	echo 'perf c2c was not asked: this kernel tells of no NUMA nodes'
fi
