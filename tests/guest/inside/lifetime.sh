# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # of lib.sh and books.sh: here, work
# For tests of pebsd's life as a service, after lib.sh and books.sh: reads what systemd and the journal say about it,
# and the books of each opening of its events. A program takes a third of a second to start in a guest, so these
# functions use the shell where they can.

# The directory is in the image, because systemd reads only directories that existed when it started.
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

# adapt_unit [LINE...]: adds these lines to pebsd's [Service] until the test ends, besides those that every such
# test needs: systemd keeps nothing for the next process, the books of the previous opening go to $spent before
# each start and begin again at 0, and systemd's result of the service goes to $openings/result. The two commands
# for this need privileges that pebsd does not have. The unit must not be running, so that systemd reads its file
# again at the start without a reload of all units.
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

# look: reads the unit's properties into the array `unit`.
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

# is_another: the unit is active with another main process than $pid. systemd is queried last, because the query takes
# long and would delay the awaited start.
is_another() {
	local now=''
	read -r now 2>/dev/null </sys/fs/cgroup/system.slice/pebsd.service/cgroup.procs || return 1
	[ "$now" != "$pid" ] && [ -S /run/pebsd/control.sock ] && is_active && [ "${unit[MainPID]}" != "$pid" ]
}

# readiness and absence print milliseconds, from the last look(). readiness: from the start of the main process to
# its READY. absence: from the end of the previous process's activity to this READY.
readiness() {
	echo $(((unit[ActiveEnterTimestampMonotonic] - unit[ExecMainStartTimestampMonotonic]) / 1000))
}

absence() {
	echo $(((unit[ActiveEnterTimestampMonotonic] - unit[ActiveExitTimestampMonotonic]) / 1000))
}

# delivered_by [CPU]: prints the number of samples, by the machine's totals, that were delivered or cut off.
# delivered_before: the same for the opening that ended last.
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

# more WHAT [CPU]: waits until the machine, or this CPU alone, has delivered 40 more samples.
more() {
	wait_until "samples, $1" 60 has_more $(($(delivered_by "${2:-}") + 40)) "${2:-}"
}

# journal: prints the journal of pebsd, and systemd's entries about it, since this test began.
test_begun=$(date +%s)
journal() {
	journalctl --quiet --no-pager --unit=pebsd.service "--since=@$test_begun" "$@"
}

# expect_told TEXT...: waits until these texts are in the journal.
expect_told() {
	local text said
	for text; do
		for _ in {1..20}; do
			journalctl --sync
			said=$(journal --output=cat)
			[[ $said != *"$text"* ]] || break
			sleep 1
		done
		[[ $said == *"$text"* ]] || fail "the journal does not have \"$text\": $said"
	done
}

# last_words: prints the sum of the seen and the lost samples that the journal has for the opening that ended last.
last_words() {
	journalctl --sync
	journal --output=json PEBSD_EVENT=loads |
		jq -s 'map(select(.PEBSD_SEEN)) | last | (.PEBSD_SEEN | tonumber) + (.PEBSD_LOST | tonumber)'
}

# exact WHAT: stops the counters and compares this opening with the books. pebsd must expect as many samples on each CPU
# as that CPU delivered. All of them must be seen in a cgroup, or lost by the guard as in the books. Samples that a stop
# of the event cut off must be expected and lost, too. Leaves the status in $work/status.
exact() {
	local before last='' changes=-1
	stop_counting
	# Waits for three collections: the first may have begun before the stop, the second begins after it, and
	# the third reports the losses of the second.
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

# figures TEXT...: prints the measurements. The text also goes to the kernel's log, which is kept even if the test
# passes.
figures() {
	say "measured: $*"
	printf 'guest-tests: %s: measured: %s\n' "${0##*/}" "$*" >/dev/kmsg
}

# programs: prints the BPF programs in the kernel that a process loaded, by tag and name, without those that systemd
# makes for its units. Each program holds its maps, so only the programs are listed.
programs() {
	awk '/\[bpf\]$/ && $3 !~ /_sd_/ { print $3 }' /proc/kallsyms | sort
}

# bpf_objects: prints the BPF programs, maps and links in the kernel by kind and name, from bpftool, without systemd's.
bpf_objects() {
	local what
	for what in prog map link; do
		bpftool --json "$what" show | jq --raw-output --arg what "$what" '.[] | "\($what) \(.type) \(.name // .attach_type)"'
	done | grep -v ' sd_' | sort
}

# cgroups: prints the directories of all cgroups, except those of the socket-activated services.
cgroups() {
	find /sys/fs/cgroup -mindepth 1 -type d | grep -v '/pebsd-\(opener\|symbols\)\.' | sort
}

programs_are() {
	[ "$(programs)" = "$1" ]
}

# counted: prints the number of samples that pebsd saw or lost, as of its last collection.
counted() {
	status | jq '.samples.seen + (.samples.lost.unexplained // 0)'
}
