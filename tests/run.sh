#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests and ends with the line "N passed, N failed, N skipped".
#   tests/run.sh [-s] [-t SECONDS] [-o DIRECTORY] [-j JOBS [-a PATTERN]...] [-c|-p] TEST...
# A TEST is a Criterion program, each of whose tests counts, or a script (*.sh), which counts as one. With -c each
# TEST is a command line, which counts as one. Exit status of scripts and commands: 0 passed, 77 skipped (the last
# line of output tells why), any other failed. If it passed, its lines "measured: TEXT" are shown. With -p each TEST is
# a command line that reports several tests while they run (Test Anything Protocol). The report is shown as it comes:
# "1..N" announces N more tests, "ok - NAME", "ok - NAME # SKIP WHY" or "not ok - NAME" is a result, and "# TEXT"
# explains the result before it.
# -t: time limit of one test, default 600. Logs go to DIRECTORY. -j: number of tests that run at once, default 1;
# the output of each is shown when it ends. -a: tests whose name matches run alone. Tests need that if they measure
# the machine, or count all that happens on it. Exits with 1 if a test failed or none ran. With -s, exits with 0 if
# all tests were skipped.
set -u

usage() {
	sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

seconds=600 directory=build/test-results commands='' reports='' may_skip='' jobs=1 alone=()
while getopts st:o:j:a:cp option; do
	case $option in
	t) seconds=$OPTARG ;;
	o) directory=$OPTARG ;;
	j) jobs=$OPTARG ;;
	a) alone+=("$OPTARG") ;;
	c) commands=yes ;;
	p) reports=yes ;;
	s) may_skip=yes ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
mkdir -p "$directory" || exit 1
# The programs, unless make says otherwise.
export PEBSD="${PEBSD:-$PWD/build/pebsd}" PEBSCTL="${PEBSCTL:-$PWD/build/pebsctl}" TOOLS="${TOOLS:-$PWD/build/tests/tools}"
TMPDIR=$(mktemp -d) || exit 1
# Users other than root must be able to reach the files that a test opens to everybody.
chmod 711 "$TMPDIR"
export TMPDIR
export TEST_SECONDS=$seconds # tests/lib/time_limit.c
# A test takes a TCP port by making a directory named after the port here: no two tests of a run get the same one.
export TEST_PORTS=$TMPDIR/ports
mkdir "$TEST_PORTS"
chmod 711 "$TEST_PORTS"

passed=0 failed=0 skipped=0 group='' timed_out=''
failures=() skips=()

# Processes that a test leaves running end with it: timeout(1) put them into one process group.
end_group() {
	[ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null
	group=''
}

# The processes that run tests at the same time, with the numbers of the tests.
declare -A workers=()
end_workers() {
	[ ${#workers[@]} = 0 ] || { kill -TERM "${!workers[@]}" && wait "${!workers[@]}"; } 2>/dev/null
}
trap 'end_group; end_workers; rm -rf --one-file-system "$TMPDIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start SECONDS LOG COMMAND...: starts the command with this time limit and its output in LOG.
start() {
	limit=$1 begun=$SECONDS
	local log=$2
	shift 2
	# The shell starts background processes with these signals ignored, so set them back.
	env --default-signal=INT,QUIT timeout --kill-after=3 "$limit" "$@" </dev/null >"$log" 2>&1 &
	group=$!
}

# Waits for the program that start() started. Sets `status` and `timed_out`.
finish() {
	wait "$group" 2>/dev/null
	status=$?
	timed_out=''
	case $status in
	124 | 137) [ $((SECONDS - begun)) -lt "$limit" ] || timed_out=yes ;;
	esac
	end_group
}

run() {
	start "$@"
	finish
}

fail() {
	failed=$((failed + 1))
	failures+=("$1")
}

skip() {
	skipped=$((skipped + 1))
	skips+=("$1")
}

show() {
	printf -- '---- %s\n' "$1"
	tail -n 200 "$2"
	printf -- '----\n'
}

# Runs one test whose exit status is the result.
run_single() {
	local name=$1 log=$2
	shift 2
	run "$seconds" "$log" "$@"
	case $status in
	0)
		passed=$((passed + 1))
		printf 'passed   %s\n' "$name"
		sed -n 's/^measured: /         /p' "$log"
		;;
	77)
		skip "$name: $(tail -n 1 "$log")"
		printf 'skipped  %s\n' "$name"
		;;
	*)
		if [ -n "$timed_out" ]; then
			fail "$name: not done after $seconds seconds"
		else
			fail "$name: exit status $status"
		fi
		printf 'FAILED   %s\n' "$name"
		show "$name" "$log"
		;;
	esac
}

# count_report PREFIX [SHOWN]: counts the tests in the report (Test Anything Protocol) on standard input, and adds
# to `planned` and `reported`. PREFIX goes in front of each name. With SHOWN each result is also printed.
count_report() {
	local prefix=$1 shown=${2:-} line name
	while IFS= read -r line; do
		case $line in
		1..*)
			planned=$((planned + ${line#1..}))
			continue
			;;
		'ok - '*'# SKIP'*)
			line=${line#ok - }
			name=${line%%# SKIP*} name=${name%"${name##*[! ]}"}
			skip "$prefix$name:${line##*# SKIP}"
			set -- skipped "$name"
			;;
		'ok - '*)
			passed=$((passed + 1))
			set -- passed "${line#ok - }"
			;;
		'not ok - '*)
			fail "$prefix${line#not ok - }"
			set -- FAILED "${line#not ok - }"
			;;
		'# '*)
			[ -z "$shown" ] || printf '         %s\n' "${line#\# }"
			continue
			;;
		*) continue ;;
		esac
		reported=$((reported + 1))
		[ -z "$shown" ] || printf '%-8s %s\n' "$@"
	done
}

# check_report NAME BEFORE SECONDS: checks that a program with several tests ended in time and reported each
# planned test.
check_report() {
	local name=$1 before=$2
	if [ -n "$timed_out" ]; then
		fail "$name: not done after $3 seconds"
	elif [ "$reported" -lt "$planned" ] || [ "$planned" = 0 ]; then
		fail "$name: exit status $status after $reported of $planned tests"
	elif [ "$status" != 0 ] && [ "$failed" = "$before" ]; then
		fail "$name: exit status $status, though no test of it failed"
	fi
}

# Runs a Criterion program. Its report names each test and the number of tests.
run_criterion() {
	local program=$1 name=$2 log=$3 report=$3.tap
	local planned=0 reported=0 before=$failed passed_before=$passed ok
	rm -f "$report"
	run $((seconds * 5)) "$log" "$program" --jobs 1 --color=never --tap="$report"
	[ -e "$report" ] || : >"$report"
	count_report "$name " <"$report"
	ok=$((passed - passed_before))
	check_report "$name" "$before" $((seconds * 5))
	if [ "$failed" = "$before" ]; then
		printf 'passed   %s (%s)\n' "$name" "$ok"
	else
		printf 'FAILED   %s\n' "$name"
		show "$name" "$log"
	fi
}

# Runs a command that reports several tests on its standard output while it runs.
run_reporting() {
	local name=$1 log=$2 planned=0 reported=0 before=$failed counted
	shift 2
	: >"$log"
	start "$seconds" "$log" "$@"
	count_report '' shown < <(tail --pid="$group" --lines=+1 --follow "$log" 2>/dev/null)
	finish
	counted=$failed
	check_report "$name" "$before" "$seconds"
	[ "$failed" = "$counted" ] || show "$name" "$log"
}

run_test() {
	local test=$1 name=${1#build/} program=$1 log
	[ "${test#/}" != "$test" ] || program=./$test
	log=$directory/$(printf '%s' "$name" | tr -c 'A-Za-z0-9._-' '_').log
	if [ -n "$reports" ]; then
		run_reporting "$name" "$log" bash -c "$test"
	elif [ -n "$commands" ]; then
		run_single "$name" "$log" bash -c "$test"
	elif [ "${test%.sh}" != "$test" ]; then
		run_single "$name" "$log" "$program"
	else
		run_criterion "$program" "$name" "$log"
	fi
}

# work NUMBER TEST: runs the test in its own process. Its output and result stay in files under this number, for
# end_work(). The test's own files there are removed.
work() {
	local results=$TMPDIR/$1
	workers=() passed=0 failed=0 failures=() skips=()
	trap 'end_group; rm -rf --one-file-system "$TMPDIR"' EXIT
	TMPDIR=$results.d
	mkdir -m 711 "$TMPDIR"
	run_test "$2" >"$results.shown" 2>&1
	{
		printf 'passed %d\n' "$passed"
		[ ${#skips[@]} = 0 ] || printf 'skip %s\n' "${skips[@]}"
		[ ${#failures[@]} = 0 ] || printf 'fail %s\n' "${failures[@]}"
		printf 'end\n'
	} >"$results"
	exit
}

# Waits until one of the tests ends, then prints and counts the result of that test.
end_work() {
	local pid number what text ended=''
	wait -n -p pid "${!workers[@]}" 2>/dev/null
	# bash may have reported the end of a killed process already. `wait -n` then does not find that process.
	if [ -z "${pid:-}" ]; then
		for pid in "${!workers[@]}"; do
			! kill -0 "$pid" 2>/dev/null || continue
			break
		done
		! kill -0 "$pid" 2>/dev/null || return 0
	fi
	number=${workers[$pid]}
	unset "workers[$pid]"
	cat "$TMPDIR/$number.shown"
	while read -r what text; do
		case $what in
		passed) passed=$((passed + text)) ;;
		skip | fail) "$what" "$text" ;;
		end) ended=yes ;;
		esac
	done <"$TMPDIR/$number"
	[ -n "$ended" ] || fail "${tests[number]#build/}: what ran it is gone"
}

# runs_alone TEST: true if it matches a pattern of -a
runs_alone() {
	local pattern
	for pattern in "${alone[@]}"; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ ${1#build/} != $pattern ]] || return 0
	done
	return 1
}

tests=("$@")
if [ "$jobs" -gt 1 ]; then
	for number in "${!tests[@]}"; do
		most=$jobs
		! runs_alone "${tests[number]}" || most=1
		while [ ${#workers[@]} -ge "$most" ]; do
			end_work
		done
		touch "$TMPDIR/$number" "$TMPDIR/$number.shown"
		work "$number" "${tests[number]}" &
		workers[$!]=$number
		[ "$most" = "$jobs" ] || while [ ${#workers[@]} != 0 ]; do
			end_work
		done
	done
	while [ ${#workers[@]} != 0 ]; do
		end_work
	done
else
	for test; do
		run_test "$test"
	done
fi

[ ${#skips[@]} = 0 ] || printf 'skipped: %s\n' "${skips[@]}"
[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
ran=$((passed + failed))
[ "$ran" != 0 ] || printf 'no test ran\n'
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && { [ "$ran" != 0 ] || { [ -n "$may_skip" ] && [ "$skipped" != 0 ]; }; }
