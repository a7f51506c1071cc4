#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests in guests, as many guests at once as there are CPUs, and reports them as tests/run.sh -p reads it.
#   run.sh "SERIES..." [TEST...]   a TEST is tests/guest/inside/test_TEST.sh, run with every kernel named
#   run.sh "SERIES..." long        every test, each with the kernels and machines that are named at its head
#   run.sh "SERIES..." all         every test with every kernel, on every machine at its head
#   run.sh "SERIES..."             the short run: no test that is marked as long, and each with the first of its kernels
# Lines at a test's head say what it needs:
#   # kernels: 6.1 7            only these, as what it shows does not depend on the kernel; the first is the short run's
#   # long                      not part of the short run
#   # machines: haswell zen3:2  each of these; default skylake-server. With ":2" it has two CPUs there
#   # cpus: 2                   two CPUs; default 1
#   # init: small               no systemd, but inside/small_init.sh as process 1: boots in a few seconds
#   # root: whole               with perf, apt and dpkg (image.sh)
#   # takes: 180 s              so that the longest is begun first and the CPUs end together
# A guest is of one kernel, machine and number of CPUs, its kind (guest.sh), and runs its tests one after the other.
# With "# machines for 6.12: haswell" that kernel has only these unless tests are named or `all` are asked for; with
# "# short machines: haswell" the short run does.
# A SERIES may be a whole kind, "6.12,haswell,1": then its tests run on that machine whatever their heads say.
# GUESTS: how many at once. GUEST_EMULATOR: what runs instead of QEMU, for tests of this.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
# shellcheck source=tests/guest/report.sh
. "${0%/*}/report.sh"

[ $# -ge 1 ] || fail "usage: run.sh \"SERIES...\" [all | TEST...]"
: "${GUESTS:=$(nproc)}"
export GUESTS
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
length=short
case $* in
all) set -- "${all[@]}" ;;
long)
	length=long
	shift
	;;
esac
for name; do
	[ -x "$here/inside/test_$name.sh" ] || fail "there is no test \"$name\": $here/inside/test_$name.sh is not there"
done

tests=("$@")
[ $# != 0 ] || tests=("${all[@]}")

mkdir -p "$guest"
queue=$(mktemp -d "$guest/queue.XXXXXX")
trap 'rm -rf "$queue"' EXIT
planned=0
kinds=()
for series in "${kernels[@]}"; do
	release_of "${series%%,*}" >/dev/null
	for name in "${tests[@]}"; do
		if [ $# = 0 ]; then
			for_these=$(head_of "$name" kernels)
			if [ $length = short ]; then
				! grep -q -x '# long' "$here/inside/test_$name.sh" || continue
				for_these=${for_these%% *}
			fi
			[[ " ${for_these:-${series%%,*}} " == *" ${series%%,*} "* ]] || continue
		fi
		cpus=$(head_of "$name" cpus) machines=$(head_of "$name" machines)
		init=$(head_of "$name" init) root=$(head_of "$name" root)
		[ $# != 0 ] || machines=$(head_of "$name" "machines for ${series%%,*}" | grep . || echo "$machines")
		[ $# != 0 ] || [ $length != short ] || machines=$(head_of "$name" 'short machines' | grep . || echo "$machines")
		for machine in ${machines:-skylake-server}; do
			kind=$series,${machine%:*},${cpus:-1}
			[[ $machine != *:* ]] || kind=$series,${machine%:*},${machine#*:}
			kind+=${init:+,$init}${root:+,$root}
			[[ $series != *,* ]] || kind=$series
			[ -e "$queue/$kind.all" ] || kinds+=("$kind")
			# First, for it looks at what was not touched yet.
			[ "$name" = boot ] && echo "1000000 boot" >>"$queue/$kind.all" ||
				echo "$(takes "$name") $name" >>"$queue/$kind.all"
			[[ $series != *,* ]] || break
		done
	done
done
for kind in "${kinds[@]}"; do
	sort -s -k 1,1nr "$queue/$kind.all" | sed 's/^1000000 /1 /' >"$queue/$kind"
	cp "$queue/$kind" "$queue/$kind.all"
	echo 0 >"$queue/$kind.running"
	planned=$((planned + $(wc -l <"$queue/$kind")))
done
report "1..$planned"

# next_guest: prints the kind of which one more guest is to be booted, and counts it as running: the one that has most
# left for each of its guests. None if nothing is left that is worth a boot.
next_guest() {
	local kind best='' most=0 left running
	exec {fd}>"$queue/lock"
	flock "$fd"
	for kind in "${kinds[@]}"; do
		left=$(awk '{ sum += $1 } END { print sum + 0 }' "$queue/$kind")
		running=$(<"$queue/$kind.running")
		[ "$running" = 0 ] || [ $((left / (running + 1))) -ge $WORTH ] || continue
		left=$((left / (running + 1)))
		[ "$left" -le "$most" ] || best=$kind most=$left
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
	local kind
	while kind=$(next_guest); do
		"$here/guest.sh" --queue "$queue" "$kind" || break
		ended "$kind"
	done
}

workers=()
for ((i = 0; i < GUESTS; i++)); do
	work &
	workers+=($!)
done
wait "${workers[@]}"
