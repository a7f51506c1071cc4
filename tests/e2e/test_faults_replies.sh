#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Large replies that clients do not read, on a machine with 2,500 cgroups. Each client asks for the trends of all
# cgroups in 3,600 parts, which are 100 MB of text. pebsd's own memory must stay within the limits in MEMORY of
# pebsd(8), another client must be answered, and the memory must be given back.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
need flock mkfifo socat
own_cgroup
alone_with_cgroups

cgroups=2500
# The daemon's own memory according to pebsd(8), in KiB: 10 MB, and 2,500 bytes for each cgroup with samples. Before the
# first large reply it is less than half of that. Later, free parts of its heap may stay between small allocations.
own_most=$(((10000000 + 2500 * cgroups) / 1024))
[ "$memory_slack" -lt 1000000 ] || own_most=$memory_slack # of the address sanitizer
call='{"method":"io.pebsd.GetTop","parameters":{"trend":3600}}'

# limit ROW: prints this limit of the table in pebsd(8), in KiB.
limit() {
	awk -F '\t' -v row="$1" '$1 == row && split($2, number, " ") == 2 && number[2] == "MiB" { print number[1] * 1024 }' \
		daemon/man/pebsd.8
}

# ask PARAMETERS: prints the reply of GetTop.
ask() {
	printf '{"method":"io.pebsd.GetTop","parameters":%s}\0' "$1" | socat -t 60 - "UNIX-CONNECT:$socket" | tr -d '\0'
}

sampled_cgroups() {
	ask '{"limit":0,"offset":0,"filter":"'"/${cgroup##*/}/"'"}' | jq .parameters.matching
}

# of_pebsd KEY: prints a value of the process's status, in KiB.
of_pebsd() {
	awk -v key="$1:" '$1 == key { print $2 }' "$proc/$daemon/status"
}

# unread CLIENTS: this many clients send 20 calls and read nothing. Waits until a reply to each has been made.
unread() {
	local client
	rm -f "$work/input"
	mkfifo "$work/input"
	for client in $(seq "$1"); do
		"$TOOLS/crowd" "$socket" deaf 20 "$call" <"$work/input" >"$work/unread.$client" &
		others="${others:-} $!"
	done
	exec 5>"$work/input"
	for client in $(seq "$1"); do
		until_true "client $client has called" [ -s "$work/unread.$client" ]
		grep -q 'answered=1$' "$work/unread.$client" || fail "client $client: $(cat "$work/unread.$client")"
	done
}

ended() {
	local pid
	exec 5>&-
	for pid in $others; do
		wait "$pid" || :
	done
	others=''
}

unread_most=$(limit 'Replies of one user') made_most=$(limit 'A reply while it is made')
[ -n "$unread_most" ] || fail 'pebsd(8) has no limit of unread replies'
[ -n "$made_most" ] || fail 'pebsd(8) has no limit of a reply that is made'

configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = %s\n' $((2 * cgroups)))
start --config "$work/pebsd.conf"
"$TOOLS/fault_in_cgroups" "$cgroup" "$cgroups" 300
until_is 'cgroups with samples' "$cgroups" sampled_cgroups

# One page is as large as a reply gets, and has only some of the cgroups.
ask '{"trend":3600}' >"$work/page"
[ "$(wc -c <"$work/page")" -gt 400000 ] || fail "a page has $(wc -c <"$work/page") bytes only"
expect 'the parts of a trend' 3600 "$(jq '[.parameters.cgroups[0].events[].trend.samples | length] | max' "$work/page")"
expect 'a page is not everything' true "$(jq '.parameters.next < 100' "$work/page")"

# given_back allows for less than what free parts of the heap may take.
back() {
	[ "$(memory)" -le "$own_most" ] && [ "$(descriptors)" -le "$descriptors_before" ]
}

# The replies to 12 clients nearly fill the memory for those of one user. Those to 40 would take three times as much.
for clients in 12 40; do
	what="$clients clients that do not read"
	remember
	# From here on the kernel keeps the most memory that the process has.
	echo 5 >"$proc/$daemon/clear_refs"
	files=$(($(of_pebsd VmHWM) - $(memory)))
	unread "$clients"
	held=$(memory)
	still_samples "beside $what"
	ctl top -n 3 >"$work/top" || fail "top is not answered beside $what"
	ask '{"trend":3600}' >"$work/page"
	expect "a page beside $what" true "$(jq '.parameters.cgroups | length > 5' "$work/page")"
	peak=$(($(of_pebsd VmHWM) - files))
	[ "$held" -le $((own_most + unread_most)) ] ||
		fail "beside $what, pebsd has $held KiB: $memory_before before, and more than $unread_most for replies"
	[ "$peak" -le $((own_most + unread_most + made_most)) ] ||
		fail "beside $what, pebsd had $peak KiB: $memory_before before, more than $unread_most for replies and $made_most for one that was made"
	ended
	until_true "after $what, memory and descriptors are given back" back
	quiet "$what" 1
	echo "$what: $memory_before KiB before, $held beside them, at most $peak with a reply that was made, $(memory) after"
done
