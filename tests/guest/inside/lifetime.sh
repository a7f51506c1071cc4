# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # of lib.sh and books.sh: here, work
# For tests of pebsd's life as a service, after lib.sh and books.sh: what systemd and the journal say of it, and the
# books of one opening of its events after the other. A program takes a third of a second to start in a guest: what the
# shell can do itself it does.

# In the image, for systemd looks into directories alone that were there when it started.
drop_in=/etc/systemd/system/pebsd.service.d/test.conf
openings=/run/pebs-openings
spent=$openings/spent

# shellcheck disable=SC2317 # called by the trap
end_lifetime() {
	leave
	rm -rf "$drop_in" "$openings"
	systemctl reset-failed pebsd.service 2>/dev/null || :
}
trap end_lifetime EXIT

# adapt_unit [LINE...]: these are in pebsd's [Service] until the test ends, besides what is for every such test: nothing
# of a process goes on in the next; the books of an opening, when it is over and before the next, go to $spent and begin
# anew; and systemd's word on how it ended stands in $openings/result. For both it takes what pebsd itself may not. The unit is not running, so that
# systemd reads it anew at the start, without a reload of all that it has.
adapt_unit() {
	mkdir -p "$openings"
	{
		printf '%s\n' '[Service]' FileDescriptorStoreMax=0 \
			"ExecStartPre=+/bin/sh -c '$here/pmu totals >$spent && $here/pmu reset'" \
			"ExecStopPost=+/bin/sh -c 'echo \$SERVICE_RESULT >$openings/result'"
		[ $# = 0 ] || printf '%s\n' "$@"
	} >"$drop_in"
	look
	expect 'drop-ins of the unit' "$drop_in" "${unit[DropInPaths]:-}"
}

# look: the unit's properties are in the array `unit`.
declare -A unit
look() {
	local name value
	unit=()
	while IFS='=' read -r name value; do
		unit[$name]=$value
	done < <(systemctl show pebsd.service)
}

is_active() {
	look
	[ "${unit[ActiveState]}" = active ]
}

# is_another: the unit is active with another main process than $pid. To ask systemd takes so long that it would hold up
# the start that is waited for.
is_another() {
	local now=''
	read -r now 2>/dev/null </sys/fs/cgroup/system.slice/pebsd.service/cgroup.procs || return 1
	[ "$now" != "$pid" ] && [ -S /run/pebsd/control.sock ] && is_active && [ "${unit[MainPID]}" != "$pid" ]
}

# Milliseconds, of the last look: from the main process's start to its READY, and from when the one before it was no
# longer active.
readiness() {
	echo $(((unit[ActiveEnterTimestampMonotonic] - unit[ExecMainStartTimestampMonotonic]) / 1000))
}

absence() {
	echo $(((unit[ActiveEnterTimestampMonotonic] - unit[ActiveExitTimestampMonotonic]) / 1000))
}

# delivered_by [CPU]: what the machine's totals have in all: delivered, or cut off by a stop. delivered_before: the same of
# the opening that ended last.
delivered_by() {
	add_up "${1:-}" < <(pmu totals)
}

delivered_before() {
	add_up '' <"$spent"
}

add_up() {
	local line sum=0
	while read -r line; do
		[[ $line == "{\"cpu\":$1"* ]] || continue
		while [[ $line =~ \"(overflow|cut)\":([0-9]+) ]]; do
			sum=$((sum + BASH_REMATCH[2]))
			line=${line#*"${BASH_REMATCH[0]}"}
		done
	done
	echo "$sum"
}

has_more() {
	[ "$(delivered_by "${2:-}")" -ge "$1" ]
}

# more WHAT [CPU]: the machine delivers some more samples, on a CPU.
more() {
	wait_until "samples, $1" 60 has_more $(($(delivered_by "${2:-}") + 40)) "${2:-}"
}

# The journal of pebsd and of systemd on it, since this test began.
test_begun=$(date +%s)
journal() {
	journalctl --quiet --no-pager --unit=pebsd.service "--since=@$test_begun" "$@"
}

# expect_told TEXT...: stand in the journal.
expect_told() {
	local text said
	journalctl --sync
	said=$(journal --output=cat)
	for text; do
		[[ $said == *"$text"* ]] || fail "the journal does not have \"$text\": $said"
	done
}

# Samples seen and lost by the journal, in all, of the opening that ended last.
last_words() {
	journalctl --sync
	journal --output=json PEBSD_EVENT=loads |
		jq -s 'map(select(.PEBSD_SEEN)) | last | (.PEBSD_SEEN | tonumber) + (.PEBSD_LOST | tonumber)'
}

# exact WHAT: no time passes for the machine's counters any more; of this opening every sample that it delivered on a
# CPU is one that pebsd counts as due there, and all of them are seen in a cgroup, or lost by the guard that the books
# know of; beside them there are those that a stop of the event cut off. The status is in $work/status.
exact() {
	local before last='' changes=-1
	stop_counting
	# Three collections after it: one may be under way, and the next one reports what that one lost.
	while [ $changes -lt 3 ]; do
		status >"$work/status"
		before=$last
		[[ $(<"$work/status") =~ \"taken\":\ *\"([^\"]*)\" ]]
		last=${BASH_REMATCH[1]}
		[ "$last" = "$before" ] || changes=$((changes + 1))
	done
	take_books
	jq -r --slurpfile totals "$work/totals" --slurpfile books "$work/books" '
		def differ(what; due; found):
			if due == found then empty else "\(what): \(due) by the books, \(found) by pebsd" end;
		.events.loads as {$samples, $per_cpu}
		| ($totals[] | .cpu as $cpu
			| differ("CPU \($cpu), due"; [.events[] | .overflow + .cut] | add // 0;
				[$per_cpu[] | select(.cpu == $cpu) | .expected][0])),
		differ("lost"; ([$books[].guarded] | add) + ([$totals[].events[].cut] | add); $samples.lost.unexplained),
		differ("seen"; [$books[] | .samples - .guarded] | add; $samples.seen),
		differ("unattributed"; 0; $samples.unattributed),
		differ("malformed"; 0; $samples.lost.malformed),
		if $samples.seen > 0 then empty else "nothing was sampled" end' "$work/status" >"$work/said"
	[ ! -s "$work/said" ] || fail "$1: $(<"$work/said")"
}

# figures TEXT...: what was measured, to the tester even where the test passes: the kernel's log is kept.
figures() {
	say "measured: $*"
	printf 'guest-tests: %s: measured: %s\n' "${0##*/}" "$*" >/dev/kmsg
}

# The BPF programs in the kernel that a process loaded, each of which holds its maps, by tag and name; but for those that
# systemd makes for its units.
programs() {
	awk '/\[bpf\]$/ && $3 !~ /_sd_/ { print $3 }' /proc/kallsyms | sort
}

# The BPF programs, maps and links in the kernel by kind and name, by bpftool; but for systemd's.
bpf_objects() {
	local what
	for what in prog map link; do
		bpftool --json "$what" show | jq --raw-output --arg what "$what" '.[] | "\($what) \(.type) \(.name // .attach_type)"'
	done | grep -v ' sd_' | sort
}

# All cgroups, by their directories; but for those of the sockets that others wait at, and who answers there.
cgroups() {
	find /sys/fs/cgroup -mindepth 1 -type d | grep -v '/pebsd-\(opener\|symbols\)\.' | sort
}

programs_are() {
	[ "$(programs)" = "$1" ]
}

# The samples, lost or not, that pebsd has of this opening by its last collection.
counted() {
	status | jq '.samples.seen + (.samples.lost.unexplained // 0)'
}
