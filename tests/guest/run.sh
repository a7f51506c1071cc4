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
#   # root: podman              with Podman; docker: Docker and containerd; machines: LXC, Incus and systemd-nspawn
#                               (root.sh)
#   # cpu 1: isolated           with isolcpus=1 on the kernel's command line
#   # takes: 180 s              its duration: the longest tests start first, so that the CPUs end together
# A guest has one kernel, machine and number of CPUs, its kind (guest.sh), and runs its tests one after the other. With
# "# machines for 6.12: haswell" that kernel uses only these machines, unless tests are named or `all` is given. With
# "# short machines: haswell" the short run uses only these.
# A SERIES may be a complete kind, "6.12,haswell,1": then its tests run on that machine whatever their heads say. It may
# also name a kernel of kernels.sh, "6.12@6.18.15+deb13-cloud-amd64,haswell,1", which boots with the root of 6.12.
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

# A further guest of a kind is booted only if each guest of the kind then has tests for at least this many seconds.
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
	release_of "${series%%[,@]*}" >/dev/null
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
		init=$(head_of "$name" init) root=$(head_of "$name" root) isolated=$(head_of "$name" 'cpu 1')
		[ $# != 0 ] || machines=$(head_of "$name" "machines for ${series%%,*}" | grep . || echo "$machines")
		[ $# != 0 ] || [ $length != short ] || machines=$(head_of "$name" 'short machines' | grep . || echo "$machines")
		for machine in ${machines:-skylake-server}; do
			kind=$series,${machine%:*},${cpus:-1}
			[[ $machine != *:* ]] || kind=$series,${machine%:*},${machine#*:}
			kind+=${init:+,$init}${root:+,$root}${isolated:+,$isolated}
			[[ $series != *,* ]] || kind=$series
			[ -e "$queue/$kind.all" ] || kinds+=("$kind")
			# boot is first, because it checks an untouched guest.
			[ "$name" = boot ] && echo "1000000 boot" >>"$queue/$kind.all" ||
				echo "$(takes "$name") $name" >>"$queue/$kind.all"
			[[ $series != *,* ]] || break
		done
	done
done

# divide KIND: distributes the tests of a kind over its guests, the longest first, each to the guest with the least
# work. Writes the names for guest N to $queue/KIND.N, and prints SECONDS KIND N for each guest. This depends on nothing
# but the heads of the tests and $GUESTS. Otherwise a guest could not run the same way twice.
divide() {
	sort -s -k 1,1nr "$queue/$1.all" | sed 's/^1000000 /1 /' | awk -v kind="$1" -v file="$queue/$1" \
		-v guests="$GUESTS" -v worth=$WORTH '
		{ seconds[NR] = $1; name[NR] = $2; total += $1 }
		END {
			if (guests > int(total / worth)) guests = int(total / worth)
			if (guests < 1) guests = 1
			for (i = 1; i <= NR; i++) {
				least = 1
				for (guest = 2; guest <= guests; guest++) if (load[guest] < load[least]) least = guest
				load[least] += seconds[i]
				print name[i] >(file "." least)
			}
			for (guest = 1; guest <= guests; guest++) print load[guest], kind, guest
		}'
}
for kind in "${kinds[@]}"; do
	planned=$((planned + $(wc -l <"$queue/$kind.all")))
	divide "$kind" >>"$queue/divided"
done
sort -s -k 1,1nr "$queue/divided" >"$queue/guests"
report "1..$planned"

# next_guest: prints kind and number of the next guest, and removes it from the list. The longest guest is first.
next_guest() {
	exec {fd}>"$queue/lock"
	flock "$fd"
	sed -n '1s/^[^ ]* //p' "$queue/guests"
	sed -i 1d "$queue/guests"
	exec {fd}>&-
}

work() {
	local kind number
	while read -r kind number < <(next_guest); do
		"$here/guest.sh" --queue "$queue" "$kind" "$number" || break
	done
}

workers=()
for ((i = 0; i < GUESTS; i++)); do
	work &
	workers+=($!)
done
wait "${workers[@]}"
