# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests in this folder, which run in the guest as root. When a test ends, its workloads are ended and $work
# is removed.
set -eu

here=/usr/lib/pebsd-tests
work=$(mktemp -d)
workloads=()

# pmu ARGUMENT...: controls the emulated PMU of this guest (tests/guest/pmu.c).
pmu() {
	"$here/pmu" "$@"
}

# The emulated machine, by its name in daemon/model.
# shellcheck disable=SC2034 # used by the files that are sourced after this one
emulated=$(pmu machine)

# shellcheck disable=SC2317 # called by the trap
end() {
	if has_systemd; then
		[ ${#workloads[@]} = 0 ] || systemctl stop "${workloads[@]}" 2>/dev/null || :
	else
		pkill -KILL -f "^$here/workload " || :
	fi
	rm -rf "$work"
}
trap end EXIT

say() {
	printf '%s\n' "$*"
}

fail() {
	say "$*"
	exit 1
}

skip() {
	say "$*"
	exit 77
}

# expect WHAT EXPECTED FOUND
expect() {
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

# wait_until WHAT SECONDS COMMAND...: waits until the command succeeds
wait_until() {
	local what=$1 until=$((SECONDS + $2))
	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || fail "$what: not so in time"
		sleep 0.2
	done
}

# exits WHAT CODE COMMAND...: expects this exit code and leaves the output in $work/said
exits() {
	local what=$1 code=$2 status=0
	shift 2
	"$@" >"$work/said" 2>&1 || status=$?
	[ "$status" = "$code" ] || fail "$what: exit code $status instead of $code: $(head -c 3000 "$work/said")"
}

# Most tests are about loads alone, also those without settings of their own. A test of the default calls
# default_events.
configure_loads() {
	[ -d /etc/pebsd ] || return 0
	mkdir -p /etc/pebsd/pebsd.conf.d
	printf '[sampling]\nevents = loads\n' >/etc/pebsd/pebsd.conf.d/events.conf
}
configure_loads

default_events() {
	rm -f /etc/pebsd/pebsd.conf.d/events.conf
}

# configure: makes standard input (sections and keys) pebsd's settings. leave() in books.sh removes them.
configure() {
	mkdir -p /etc/pebsd/pebsd.conf.d
	cat >/etc/pebsd/pebsd.conf.d/guest.conf
}

# A small guest (small_init.sh) has no systemd. There, each workload is a program in its own cgroup instead of a
# service.
has_systemd() {
	[ -d /run/systemd/system ]
}

# start_workload NAME UNIT [SYSTEMD_RUN_OPTION...] [-- WORKLOAD_OPTION...]: runs the workload in a service of its own,
# which ends with the test. Without systemd the options of systemd-run are ignored.
start_workload() {
	local name=$1 unit=$2
	local -a options=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	workloads+=("$unit")
	if ! has_systemd; then
		mkdir -p "/sys/fs/cgroup/$unit"
		(echo "$BASHPID" >"/sys/fs/cgroup/$unit/cgroup.procs" && exec chrt --idle 0 "$here/workload" "$name" "$@") &
		disown
		return
	fi
	systemd-run --quiet --collect --unit="$unit" "${options[@]}" "$here/workload" "$name" "$@"
}

# cgroup_of UNIT: prints its cgroup, relative to the root of the hierarchy.
cgroup_of() {
	systemctl show --property=ControlGroup --value "$1"
}
