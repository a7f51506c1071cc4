#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests in guests, as many guests at once as there are CPUs, and reports them in the form that tests/run.sh -p
# reads.
#   run.sh "SERIES..." [TEST...]   a TEST is tests/guest/inside/test_TEST.sh, run with every kernel named
#   run.sh "SERIES..." long        every test, with the kernels and machines in its head
#   run.sh "SERIES..." all         every test with every kernel, on every machine in its head
#   run.sh "SERIES..."             the short run: no test marked as long, and each with the first of its kernels
# Lines in a test's head say what it needs:
#   # kernels: 6.1 7            these suffice: others would give the same result; the short run uses the first
#   # long                      not part of the short run
#   # machines: haswell zen3:2  each of these; default skylake-server. With ":2" it has two CPUs there
#   # cpus: 2                   two CPUs; default 1
#   # init: small               inside/small_init.sh as process 1 instead of systemd: boots in a few seconds
#   # root: whole               with perf, apt and dpkg (image.sh)
#   # takes: 180 s              its duration: the longest tests start first, so that the CPUs end together
# A guest has one kernel, machine and number of CPUs, its kind (guest.sh), and runs its tests one after the other. With
# "# machines for 6.12: haswell" that kernel uses only these machines, unless tests are named or `all` is given. With
# "# short machines: haswell" the short run uses only these.
# A SERIES may be a complete kind, "6.12,haswell,1": then its tests run on that machine whatever their heads say.
# GUESTS: how many at once. GUEST_EMULATOR: runs instead of QEMU, for tests of this script.
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

# A further guest of a kind is booted only if its share of the remaining tests takes at least this many seconds.
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
			# boot is first, because it checks an untouched guest.
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

# next_guest: prints the kind of the next guest to boot and counts that guest as running. This is the kind with the most
# work left per guest. Prints nothing if no remaining work is worth a boot.
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
