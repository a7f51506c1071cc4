#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A service that tells the module what its code does is sampled where it executes, with the data that it touches; its
# books have each sample; and an event of one cgroup gets what that one's tasks do, with their stacks and physical
# addresses, beside an always-on one.
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

debug=/sys/kernel/debug/$module
# What an always-on event asks for; and IP, TID, TIME, ADDR, CALLCHAIN, WEIGHT, DATA_SRC, PHYS_ADDR, as a zoom does.
types=0xc008
zoom_types=0x8c02f
failed=''

# wrong TEXT...: all that is, not the first alone.
wrong() {
	failed=yes
	say "$machine: $*"
}

# told FILTER: of what the program said of itself.
told() {
	jq --raw-output "$1" "$work/sharing.json"
}

# judge EVENT: leaves how many samples the books have of it in $samples.
judge() {
	local what text
	jq --null-input --raw-output --from-file "$here/places.jq" --slurpfile books "$work/touched" \
		--slurpfile said "$work/sharing.json" --argjson cgroup "$cgroup" --arg event "$1" >"$work/judged"
	while read -r what text; do
		case $what in
		samples) samples=$text ;;
		measured) say "measured: $machine: $text" ;;
		*) wrong "$text" ;;
		esac
	done <"$work/judged"
}

samples=0
for machine in skylake sapphirerapids haswell; do
	load_module cpu=$machine
	loads=(--config 0x1cd --config1 30 --precise 2 --wakeup 1 --for 5)
	[ $machine != sapphirerapids ] || loads+=(--leader 0x8203)
	start_workload mix others.service --property=CPUSchedulingPolicy=idle -- --threads 2
	rm -f "$work/sharing.json"
	systemd-run --quiet --collect --unit=sharing.service --property=CPUSchedulingPolicy=idle \
		"$here/sharing" "$work/sharing.json"
	workloads+=(sharing.service)
	wait_until 'what the program says of itself' 30 test -s "$work/sharing.json"
	directory=/sys/fs/cgroup$(cgroup_of sharing.service)
	cgroup=$(stat --format=%i "$directory")
	from=$(told .service.start) to=$(told .service.end)
	sleep 1
	echo 1 >"$debug/reset"
	for cpu in 0 1; do
		# One counter can hold it alone: they would take turns.
		[ $machine = haswell ] ||
			"$here/open_event" "${loads[@]}" --cpu $cpu --sample-type $types >"$work/always$cpu" &
		"$here/open_event" "${loads[@]}" --cpu $cpu --sample-type $zoom_types --cgroup "$directory" \
			--from "$from" --to "$to" >"$work/zoom$cpu" &
	done
	sleep 2
	[ "$(cat "$debug/open")" -ge 2 ] || wrong "$(cat "$debug/open") events are open"
	wait
	echo Y >"/sys/module/$module/parameters/paused"
	cp "$debug/touched" "$work/touched"
	cat "$work"/zoom[01] >"$work/zooms"
	expect "$machine: events that stay open" 0 "$(cat "$debug/open")"
	! grep -q full "$work/touched" || wrong "the books are full"
	jq -c -s --arg id "$cgroup" 'map(select(.event == "cgroup:0x1cd") | select((.cgroup | tostring) != $id))[]' "$debug/books" >"$work/strange"
	[ ! -s "$work/strange" ] || wrong "samples of other cgroups' tasks: $(cat "$work/strange")"

	[ $machine = haswell ] || judge 0x1cd
	judge cgroup:0x1cd
	# The ring has what the books have: nothing is lost between two switches of tasks.
	expect "$machine: samples in the rings of the events of the cgroup" "$samples" "$(jq -s 'map(.ring) | add' "$work/zooms")"
	jq -s -e 'all(.through >= .ring * 0.9)' "$work/zooms" >/dev/null || wrong 'stacks that do not lead through service()'
	jq -s -e 'all(.physical >= .ring * 0.9)' "$work/zooms" >/dev/null || wrong 'samples without physical addresses'
	jq -s -e 'all(.running <= .enabled and .running > 0)' "$work/zooms" >/dev/null || wrong 'times of the events'
	jq -s -e 'all(.[]; .stopped == 0 and .early == 0 and .unclaimed == 0 and .broken == 0 and .not_written == 0 and .full == 0)' \
		"$debug/totals" >/dev/null || wrong "the driver's work: $(cat "$debug/totals")"
	systemctl stop sharing.service others.service
	unload_module
done
[ -z "$failed" ]
