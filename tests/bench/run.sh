#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs each measurement once per round, and makes one result from the lines that they print (tests/lib/bench_results.h).
#   tests/bench/run.sh [-r ROUNDS] [-n NAME] -b DIRECTORY -o DIRECTORY COMMAND...
# A COMMAND is a program of the -b directory, or a script in this folder, with its arguments. The word ROUND in a
# COMMAND is replaced by the number of the round. A command that exits with 77 is left out, and the last line of its
# standard error is the reason. Failed commands are reported at the end, and the exit status is then 1.
#
# -n: the result is NAME.json in the -o directory; default: the commit. -r: default 7 rounds.
set -u

usage() {
	sed -n '4,4s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

rounds=7 name='' programs='' output=''
while getopts r:n:b:o: option; do
	case $option in
	r) rounds=$OPTARG ;;
	n) name=$OPTARG ;;
	b) programs=$OPTARG ;;
	o) output=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
if [ -z "$programs" ] || [ -z "$output" ] || [ $# = 0 ] || ! [ "$rounds" -gt 0 ] 2>/dev/null; then
	usage
fi
mkdir -p "$output" || exit 1
here=$(dirname "$0")
export BENCHES=$programs

commit() {
	local changes
	git rev-parse --short=12 HEAD 2>/dev/null || {
		echo unknown
		return
	}
	changes=$(git status --porcelain --untracked-files=no 2>/dev/null)
	[ -z "$changes" ] || echo changed
}
[ -n "$name" ] || name=$(commit | paste -sd-)

lines=$(mktemp) || exit 1
said=$(mktemp) || exit 1
trap 'rm -f "$lines" "$said"' EXIT
trap 'exit 130' INT

# fact NAME VALUE: writes nothing if the value is unknown.
fact() {
	local value=${2//\\/} line
	line=${value//$'\n'/ }
	[ -z "$line" ] || printf '{"fact": "%s", "value": "%s"}\n' "$1" "${line//\"/}" >>"$lines"
}

# version PACKAGE PROGRAM: prints the version of the Debian package or, if that package is not installed, the
# version that the program prints.
version() {
	local found
	# shellcheck disable=SC2016 # dpkg-query's own variable
	found=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || found=$("$2" --version 2>/dev/null | head -n 1)
	printf '%s' "${found:-not installed}"
}

machine() {
	local cpus memory model hypervisor
	model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	cpus=$(getconf _NPROCESSORS_ONLN)
	memory=$(awk '$1 == "MemTotal:" {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)
	hypervisor=$(systemd-detect-virt --vm 2>/dev/null)
	grep -q '^flags.* hypervisor' /proc/cpuinfo && [ "${hypervisor:-none}" = none ] && hypervisor=yes
	[ "$hypervisor" != none ] || hypervisor=no
	printf '%s, %s CPUs, %s, virtual machine: %s' "${model:-unknown CPU}" "$cpus" "$memory" "${hypervisor:-no}"
}

fact commit "$name"
fact date "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
fact machine "$(machine)"
fact kernel "$(uname -sr)"
fact 'load average at the start' "$(cut -d' ' -f1-3 /proc/loadavg)"
fact 'frequency governor' "$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
fact compilers "gcc $(version gcc cc), clang $(version clang clang), libbpf $(version libbpf-dev false)"
fact peers "bpftrace $(version bpftrace bpftrace), linux-perf $(version linux-perf perf), \
prometheus-node-exporter $(version prometheus-node-exporter prometheus-node-exporter), \
python3-prometheus-client $(version python3-prometheus-client false)"
fact method "interleaved rounds of all measurements, pinned; medians; ratios are made of values of one round. \
Page faults stand for samples, with synthetic latencies and sources: no PMU, no non-maskable interrupt, no PEBS. \
pebsd was tuned on such a machine, its peers were not."

failures=()
begun=$SECONDS
for ((round = 1; round <= rounds; round++)); do
	printf '{"round": %d}\n' "$round" >>"$lines"
	for command; do
		read -r -a words <<<"${command//ROUND/$round}"
		[ ! -t 2 ] || printf '\r\033[Kround %d of %d: %s' "$round" "$rounds" "${words[0]}" >&2
		program=$programs/${words[0]}
		[ "${words[0]%.sh}" = "${words[0]}" ] || program=$here/${words[0]}
		timeout --kill-after=3 120 "$program" "${words[@]:1}" </dev/null >"$said" 2>"$said.error"
		status=$?
		case $status in
		0) cat "$said" >>"$lines" ;;
		77) printf '{"group": "%s", "name": "all", "left_out": "%s"}\n' "${words[0]}" \
			"$(tail -n 1 "$said.error" | sed 's/["\\]//g')" >>"$lines" ;;
		*)
			failures+=("round $round: $command: exit status $status: $(tail -n 1 "$said.error")")
			# Values that a command measured before it failed are valid.
			grep '^{.*}$' "$said" >>"$lines"
			;;
		esac
	done
done
[ ! -t 2 ] || printf '\r\033[K' >&2
rm -f "$said.error"
fact seconds $((SECONDS - begun))

"$programs/bench_report" make <"$lines" >"$output/$name.json.new" || exit 1
mv "$output/$name.json.new" "$output/$name.json" || exit 1
"$programs/bench_report" table "$output/$name.json" || exit 1
printf '\nkept as %s\n' "$output/$name.json"
[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
[ ${#failures[@]} = 0 ]
