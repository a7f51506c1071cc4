#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests in guests with each of several kernels, as many guests at once as there are CPUs, and reports them as
# tests/run.sh -p reads it.
#   run.sh "SERIES..." [TEST...]   a TEST is tests/guest/inside/test_TEST.sh, run with every kernel named; all: each there
#                                  is; without, each kernel runs the tests that are for it
# What a test shows may not depend on the kernel, or on its ends alone: then a line of its head names the kernels that it
# is for, "# kernels: 6.1 7". A guest asks for one test after the other, and gets the longest that is left, of which
# the head may say "# takes: 180 s": so the CPUs end together. A test that failed while its guest stalled runs once more,
# in a guest that is freshly booted; both are told.
# GUESTS: how many at once. GUEST_EMULATOR: what plays a guest in the place of QEMU, for tests of this.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
# shellcheck source=tests/guest/report.sh
. "${0%/*}/report.sh"

[ $# -ge 1 ] || fail "usage: run.sh \"SERIES...\" [all | TEST...]"
: "${GUESTS:=$(nproc)}"
here=${0%/*}
read -r -a kernels <<<"$1"
shift

# What is left for a further guest of a kernel has to be worth its boot, in seconds.
WORTH=45

all=()
for script in "$here"/inside/test_*.sh; do
	script=${script##*/test_}
	all+=("${script%.sh}")
done
[ "$*" != all ] || set -- "${all[@]}"
for name; do
	[ -x "$here/inside/test_$name.sh" ] || fail "there is no test \"$name\": $here/inside/test_$name.sh is not there"
done

tests=("$@")
[ $# != 0 ] || tests=("${all[@]}")

mkdir -p "$guest"
queue=$(mktemp -d "$guest/queue.XXXXXX")
trap 'rm -rf "$queue"' EXIT
planned=0
for series in "${kernels[@]}"; do
	release_of "$series" >/dev/null
	for name in "${tests[@]}"; do
		if [ $# = 0 ]; then
			for_these=$(head_of "$name" kernels)
			[[ " ${for_these:-$series} " == *" $series "* ]] || continue
		fi
		# First, for it looks at what was not touched yet.
		[ "$name" = boot ] && echo "1000000 boot" || echo "$(takes "$name") $name"
	done | sort -s -k 1,1nr | sed 's/^1000000 /1 /' >"$queue/$series"
	: >"$queue/$series.again"
	echo 0 >"$queue/$series.running"
	planned=$((planned + $(wc -l <"$queue/$series")))
done
report "1..$planned"

# next_guest: prints the series of which one more guest is to be booted, and counts it as running: where most is left for
# each. None where nothing is left that is worth it.
next_guest() {
	local series best='' most=0 left running
	exec {fd}>"$queue/lock"
	flock "$fd"
	for series in "${kernels[@]}"; do
		left=$(awk '{ sum += $1 } END { print sum + 0 }' "$queue/$series" "$queue/$series.again")
		running=$(<"$queue/$series.running")
		[ "$running" = 0 ] || [ -s "$queue/$series.again" ] || [ $((left / (running + 1))) -ge $WORTH ] || continue
		left=$((left / (running + 1)))
		[ "$left" -le "$most" ] || best=$series most=$left
	done
	[ -n "$best" ] || return 1
	echo $(($(<"$queue/$best.running") + 1)) >"$queue/$best.running"
	echo "$best"
}

ended() {
	exec {fd}>"$queue/lock"
	flock "$fd"
	echo $(($(<"$queue/$1.running") - 1)) >"$queue/$1.running"
	exec {fd}>&-
}

work() {
	local series
	while series=$(next_guest); do
		"$here/guest.sh" --queue "$queue" "$series" || break
		ended "$series"
	done
}

workers=()
for ((i = 0; i < GUESTS; i++)); do
	work &
	workers+=($!)
done
wait "${workers[@]}"
