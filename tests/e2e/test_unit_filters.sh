#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks the system calls that the units' filters allow. None of them may extend a privilege that a unit keeps,
# such as mounting with CAP_SYS_ADMIN, or opening files by handle with CAP_DAC_READ_SEARCH. Calls with which a process
# restricts itself must be allowed: the process does not notice a refused one.
set -eu

command -v systemd-analyze >/dev/null || {
	echo 'needs systemd-analyze'
	exit 77
}
cd "$(dirname "$0")/../.."
wrong=0

# The system calls that are forbidden in all units. `more` has those that are forbidden in one unit.
never='acct chroot delete_module fanotify_init finit_module fsconfig fsmount fsopen init_module iopl kexec_load mount
	mount_setattr move_mount open_by_handle_at open_tree pivot_root ptrace reboot settimeofday swapon umount2'
declare -A more=(
	[pebsd.service]='keyctl process_vm_readv process_vm_writev setfsuid setgroups setuid syslog'
	[pebsd-opener.service]='bpf keyctl memfd_create process_vm_readv process_vm_writev setfsuid setgroups setuid shmget syslog'
	[pebsd-symbols.service]='bpf io_uring_setup keyctl link linkat mkdir perf_event_open process_vm_readv
		process_vm_writev rename setfsuid setgroups setns setuid shmget symlink syslog truncate unlink unlinkat unshare'
	[pebsd-alert@.service]='bpf perf_event_open setfsuid setgroups setuid'
)

# The system calls that a unit must allow.
declare -A needed=(
	[pebsd.service]='capset landlock_add_rule landlock_create_ruleset landlock_restrict_self prlimit64 prctl'
)

declare -A sets=()
while read -r word _; do
	case $word in
	@*) if [ -n "${set:-}" ]; then sets[$set]+=" $word"; else set=$word; fi ;;
	'#'*) ;;
	'') set='' ;;
	*) sets[$set]+=" $word" ;;
	esac
done < <(systemd-analyze --no-pager syscall-filter 2>/dev/null)

# expand NAME...: prints these system calls, one per line. A name with @ stands for a set of calls.
# shellcheck disable=SC2086 # names are words
expand() {
	local name
	for name; do
		case $name in
		@*) expand ${sets[$name]-} ;;
		*) echo "$name" ;;
		esac
	done
}

# allowed UNIT: prints the calls that the unit's SystemCallFilter= lines allow, applied in order.
allowed() {
	local line calls=''
	while read -r line; do
		# shellcheck disable=SC2086 # names are words
		case $line in
		'~'*) calls=$(comm -23 <(sort -u <<<"$calls") <(expand ${line#\~} | sort -u)) ;;
		*) calls+=$'\n'$(expand $line) ;;
		esac
	done < <(sed -n 's/^SystemCallFilter=//p' "units/$1")
	sort -u <<<"$calls"
}

for path in units/*.service; do
	unit=${path##*/}
	calls=$(allowed "$unit")
	grep -qx read <<<"$calls" || {
		echo "$unit: no filter of system calls was understood"
		wrong=1
	}
	for call in $never ${more[$unit]-}; do
		! grep -qx "$call" <<<"$calls" || {
			echo "$unit: $call is allowed"
			wrong=1
		}
	done
	for call in ${needed[$unit]-}; do
		grep -qx "$call" <<<"$calls" || {
			echo "$unit: $call is not allowed"
			wrong=1
		}
	done
	[ -n "${more[$unit]-}" ] || {
		echo "$unit does not stand in the table of this test"
		wrong=1
	}
done
exit "$wrong"
