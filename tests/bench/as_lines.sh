#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs a benchmark, and converts its JSON to lines for bench_report (bench_results.h): one value each, one round.
#   tests/bench/as_lines.sh NAME
# The program is NAME in the directory $BENCHES.
# shellcheck disable=SC2016 # jq's own variables
set -euo pipefail

command -v jq >/dev/null || {
	echo 'jq is not installed (make deps-bench)' >&2
	exit 77
}

# Every filter below uses this. Values that could not be measured are left out.
readonly LINE='def line(group; name; unit; value):
	value as $value | select($value | type == "number" and isnormal) |
	{group: group, name: name, unit: unit, value: $value};'

# A value that could not be measured is `nan`, which is not valid JSON.
as_lines() {
	sed 's/: -\?nan\>/: null/g' | jq -c "$LINE $1"
}

case ${1:-} in
sample_body)
	# Samples that are counted in a loop, without page faults: two CPUs at once into one cgroup, as a ratio to
	# one CPU.
	"$BENCHES/sample_body" 3 | as_lines '
		select(.two_cpus_throughput) | (.program | ltrimstr(" ")) as $what |
		select($what | startswith("latency")) |
		(if $what == "latency, stripes alone" then "pebsd in a loop" else "pebsd in a loop, shared stripe" end) as $name |
		(line("contention"; "\($name): samples a second"; "ratio"; .two_cpus_throughput) + {better: "higher"}),
		line("contention"; "\($name): a sample"; "ratio"; .two_cpus_body)'
	;;
tick_cost)
	"$BENCHES/tick_cost" 5 | as_lines '
		.scenarios[] | .scenario as $scenario |
		line("tick"; $scenario; "us"; .stages.together.median_us),
		(select($scenario == "1,000 cgroups, all active").stages | to_entries[] | select(.key != "together") |
			line("tick"; "\($scenario): \(.key)"; "us"; .value.median_us))'
	;;
start_time)
	"$BENCHES/start_time" 1000 1 | as_lines '
		line("start"; "1,000 cgroups, to the first sample accounted"; "ms"; .ms.all.median),
		line("start"; "1,000 cgroups, of that libbpf and the verifier"; "ms"; .ms.load_alone.median)'
	;;
*)
	sed -n '4,5s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
