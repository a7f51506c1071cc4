#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each BPF program that pebsd loads on such a machine must pass the kernel's verifier, be attached, and run. Prints the
# instructions of each: those in the kernel after the load, and those that the verifier walked. They depend on the
# settings, because the verifier drops code that these settings do not reach. `make test-kernels` runs this test with
# every kernel of Debian's archive, and compares the instructions.
# kernels: 6.12 6.1 7
# machines: skylake-server zen3
# long
# init: small
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

case $emulated in
zen*) events='loads cycles' period=200011 zoom=zoom_selected offcore=() ;;
*)
	events='loads stores instructions cycles stalls misses offcore' period=1009 zoom=zoom_all
	offcore=(offcore_switched offcore_collect)
	;;
esac
sampled=() number=0
for event in ${events% offcore}; do
	sampled+=("event_$number")
	number=$((number + 1))
done

# The kernel counts runs of programs only if this is set.
echo 1 >/proc/sys/kernel/bpf_stats_enabled

# list_programs: writes "NAME INSTRUCTIONS VERIFIED RUNS" of each program that pebsd holds to $work/programs. bpftool
# knows the first two, and /proc the other two.
list_programs() {
	local -a held
	mapfile -t held < <(find "/proc/$pebsd_pid/fd" -lname anon_inode:bpf-prog -printf "/proc/$pebsd_pid/fdinfo/%f\n")
	bpftool prog show >"$work/loaded"
	# "7: perf_event  name event_0  tag ...", and further lines with "xlated 6760B".
	awk '/^[0-9]+:/ { id = $1 + 0; name[id] = $4; next }
		/^\t.*xlated / { sub(/.*xlated /, ""); size[id] = $1 / 8; next }
		/^prog_id:/ { held = $2 }
		/^run_cnt:/ { runs[held] = $2 }
		/^verified_insns:/ { verified[held] = $2 }
		END { for (id in verified) print name[id], size[id], verified[id], runs[id] }' "$work/loaded" "${held[@]}" |
		sort >"$work/programs"
}

# have_run NAME...: true if each of these programs is there and has run. Sets `missing`.
have_run() {
	local name
	list_programs
	missing=''
	for name; do
		grep -q -E "^$name [1-9][0-9]* [1-9][0-9]* [1-9][0-9]*\$" "$work/programs" || missing+=" $name"
	done
	[ -z "$missing" ]
}

# await_runs NAME...: waits until these programs have run, and prints their instructions.
await_runs() {
	local name
	for _ in {1..20}; do
		! have_run "$@" || break
		sleep 1
	done
	[ -z "$missing" ] || fail "not loaded, or not run:$missing; of these:" "$(<"$work/programs")" "$(cat "$work/said" 2>/dev/null)"
	for name; do
		say "measured: program $(sed -n "s/^\($name [0-9]* [0-9]*\) .*/\1/p" "$work/programs")"
	done
}

play
settings '[sampling]' "events = $events" "period = $period" 'instructions-period = 4000037' 'cycles-period = 4000037' \
	'stalls-period = 50021' 'misses-period = 503' 'budget = 100%' 'interval = 1s' '[cgroups]' 'hot = /mixed'
# A zoom opens events of a cgroup, which Linux permits once any controller is enabled.
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
load mix mixed
start_pebsd
mkdir /sys/fs/cgroup/born
rmdir /sys/fs/cgroup/born
await_runs "${sampled[@]}" "${offcore[@]}" cgroup_born cgroup_died slot_table guest_cgroups empty
case $(uname -r):$emulated in
6.1.*:zen*)
	# Linux has IBS events of cgroups since 6.2.
	! pebsctl --json zoom --for 1s /mixed >"$work/zoom" 2>"$work/said" || fail "a zoom with IBS: $(<"$work/zoom")"
	say "$(<"$work/said")"
	;;
*)
	pebsctl --json zoom --for 15s /mixed >"$work/zoom" 2>"$work/said" &
	zooming=$!
	await_runs $zoom
	wait $zooming || fail "pebsctl zoom: $(<"$work/said")"
	jq -ne 'input | .zoom.samples.taken > 0' "$work/zoom" >/dev/null || fail "a zoom without samples: $(<"$work/zoom")"
	;;
esac
stop_pebsd

# Recordings and the model use another program.
settings '[sampling]' 'origin = model'
start_pebsd
await_runs inject
