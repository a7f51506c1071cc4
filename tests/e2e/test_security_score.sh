#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All points that `systemd-analyze security` counts against each unit must be listed here with a reason, and the
# score must be the one in the manual page. A point that no longer exists must be removed from the list.
set -eu

fail() {
	echo "$*"
	exit 1
}

command -v systemd-analyze >/dev/null || {
	echo 'needs systemd-analyze'
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The points of pebsd.service, each with the reason why it stays.
cat >"$work/pebsd.service" <<'POINTS'
SystemCallFilter_debug			perf_event_open(2) and bpf(2), which it is there for
SystemCallFilter_privileged		bpf(2)
SystemCallFilter_resources		sched_setaffinity(2): an interrupt is timed on a CPU of the PMU
RootDirectoryOrRootImage		cgroups, /sys and the journal's socket are the host's
AmbientCapabilities			a user of its own has its capabilities by these
CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER	reading closed directories of cgroups (CAP_DAC_READ_SEARCH)
CapabilityBoundingSet_CAP_BPF		loading its programs
ProcSubset				/proc/sys/kernel/perf_event_*, /proc/stat
PrivateUsers				capabilities count in the first user namespace alone
RestrictAddressFamilies_AF_UNIX		the control socket, the journal, the service manager
RestrictSUIDSGID			has openat2(2) fail
DeviceAllow				systemd's own doing: ProtectClock= lets the clock's device be read
POINTS
# The points of pebsd-opener.service.
cat >"$work/pebsd-opener.service" <<'POINTS'
SystemCallFilter_debug			perf_event_open(2), which it is there for
RootDirectoryOrRootImage		/sys/bus/event_source is the host's
AmbientCapabilities			a user of its own has its capability by these
CapabilityBoundingSet_CAP_SYS_ADMIN	what Debian's kernel wants for an event
PrivateUsers				capabilities count in the first user namespace alone
RestrictAddressFamilies_AF_UNIX		its socket, the journal
DeviceAllow				systemd's own doing: ProtectClock= lets the clock's device be read
POINTS
# The points of pebsd-symbols.service, which finds names.
cat >"$work/pebsd-symbols.service" <<'POINTS'
RootDirectoryOrRootImage		/proc, and the journal's socket, are the host's
AmbientCapabilities			a user of its own has its capabilities by these
CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER	programs that are closed to others (CAP_DAC_READ_SEARCH)
CapabilityBoundingSet_CAP_SYS_PTRACE	what other users' processes have mapped
CapabilityBoundingSet_CAP_SYSLOG	addresses of the kernel's functions
ProtectKernelLogs			would take CAP_SYSLOG away
ProcSubset				/proc/kallsyms
PrivateUsers				capabilities count in the first user namespace alone
RestrictAddressFamilies_AF_UNIX		its socket, the journal
RestrictSUIDSGID			has openat2(2) fail
DeviceAllow				systemd's own doing: ProtectClock= lets the clock's device be read
POINTS
# The points of the service that acts on alerts.
cat >"$work/pebsd-alert@.service" <<'POINTS'
RootDirectoryOrRootImage		it runs what is put into its drop-ins
SupplementaryGroups			members of the group pebsd may ask pebsd
RestrictAddressFamilies_AF_UNIX		the control socket, the journal
PrivateUsers				pebsd knows who asks by the user's and group's number
DeviceAllow				systemd's own doing: ProtectClock= lets the clock's device be read
IPAddressDeny				it has a network of its own, with nobody in it
POINTS

for unit in "$work"/*.service; do
	name=${unit##*/}
	systemd-analyze security --offline=true --json=short "units/$name" >"$work/json"
	jq -r '.[] | select(.exposure != null and (.exposure | tonumber) > 0) | .json_field' "$work/json" | sort >"$work/found"
	cut -f 1 "$unit" | sort >"$work/known"
	new=$(comm -23 "$work/found" "$work/known")
	[ -z "$new" ] || fail "$name: exposed in what nobody gave a reason for: $new"
	gone=$(comm -13 "$work/found" "$work/known")
	[ -z "$gone" ] || fail "$name: take these off the list, they are no longer so: $gone"
	! grep -nv "$(printf '^[A-Za-z_0-9]*\t\t*[^\t]')" "$unit" || fail "$name: a point without a reason"
	score=$(systemd-analyze security --offline=true --no-pager "units/$name" | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
	sed 's/\\-/-/g' daemon/man/pebsd.8 | grep -qxF ".IR $name : $score" || fail "$name: $score; pebsd(8) says otherwise"
	echo "$name: $score"
done
