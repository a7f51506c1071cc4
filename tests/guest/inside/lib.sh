# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests beside it, which run in the guest as root: nothing that they started outlives them.
set -eu

here=/usr/lib/pebsd-tests
work=$(mktemp -d)
workloads=()

# The emulated PMU of this guest: tests/guest/pmu.c.
pmu() {
	"$here/pmu" "$@"
}

# The machine that it is, by its name in daemon/model.
# shellcheck disable=SC2034 # of those that come after
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

# wait_until WHAT SECONDS COMMAND...
wait_until() {
	local what=$1 until=$((SECONDS + $2))
	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || fail "$what: not so in time"
		sleep 0.2
	done
}

# exits WHAT CODE COMMAND...: its output is left in $work/said
exits() {
	local what=$1 code=$2 status=0
	shift 2
	"$@" >"$work/said" 2>&1 || status=$?
	[ "$status" = "$code" ] || fail "$what: exit code $status instead of $code: $(head -c 3000 "$work/said")"
}

# Has pebsd's settings be what stands on standard input (sections and keys), for this guest's later tests too.
configure() {
	mkdir -p /etc/pebsd/pebsd.conf.d
	cat >/etc/pebsd/pebsd.conf.d/guest.conf
}

# In a small guest (small_init.sh) there is no systemd: what would be a service is a program in a cgroup of its own.
has_systemd() {
	[ -d /run/systemd/system ]
}

# start_workload NAME UNIT [SYSTEMD_RUN_OPTION...] [-- WORKLOAD_OPTION...]: a service of its own that runs the
# workload, gone when the test ends. Without systemd its options are ignored.
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

# The cgroup of a unit, below the root of the hierarchy.
cgroup_of() {
	systemctl show --property=ControlGroup --value "$1"
}
