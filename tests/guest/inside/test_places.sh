#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A service that tells the module what its code does is sampled where it executes, with the data that it touches; its
# books have each sample; and an event of one cgroup gets what that one's tasks do, with their stacks and physical
# addresses, beside an always-on one.
# kernels: 6.12
# takes: 60 s
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/sharing.sh
. "${0%/*}/sharing.sh"

debug=/sys/kernel/debug/$module
# What an always-on event asks for; and IP, TID, TIME, ADDR, CALLCHAIN, WEIGHT, DATA_SRC, PHYS_ADDR, as a zoom does.
types=0xc008
zoom_types=0x8c02f

has_open() {
	[ "$(cat "$debug/open")" = "$1" ]
}

for machine in skylake sapphirerapids haswell; do
	load_module cpu=$machine
	loads=(--config 0x1cd --config1 30 --precise 2 --wakeup 1 --for 5)
	[ $machine != sapphirerapids ] || loads+=(--leader 0x8203)
	start_workload mix others.service --property=CPUSchedulingPolicy=idle -- --threads 2
	share
	"$here/open_event" --config 0xc0 --period 2147483647 --for 1000 >"$work/counts" &
	wait_until 'an event that is open' 60 has_open 1
	kill $!
	wait_until 'its end' 60 has_open 0
	from=$(told .service.start) to=$(told .service.end)
	sleep 1
	echo 1 >"$debug/reset"
	for cpu in 0 1; do
		# One counter can hold it alone: they would take turns.
		[ $machine = haswell ] ||
			"$here/open_event" "${loads[@]}" --cpu $cpu --sample-type $types >"$work/always$cpu" &
		"$here/open_event" "${loads[@]}" --cpu $cpu --sample-type $zoom_types --cgroup "/sys/fs/cgroup$path" \
			--from "$from" --to "$to" >"$work/zoom$cpu" &
	done
	wait
	echo Y >"/sys/module/$module/parameters/paused"
	cp "$debug/touched" "$work/touched"
	cat "$work"/zoom[01] >"$work/zooms"
	tell "$(tr '\n' ' ' <"$work/zooms")"
	expect "$machine: events that stay open" 0 "$(cat "$debug/open")"
	! grep -q full "$work/touched" || wrong "the books are full"
	grep -F '"event":"cgroup:' "$debug/books" | grep -v -F "\"cgroup\":$cgroup," >"$work/strange" || :
	[ ! -s "$work/strange" ] || wrong "samples of other cgroups' tasks: $(cat "$work/strange")"

	[ $machine = haswell ] || judge places.jq --arg event 0x1cd
	judge places.jq --arg event cgroup:0x1cd
	# The ring has what the books have: nothing is lost between two switches of tasks.
	expect "$machine: samples in the rings of the events of the cgroup" "$(touched cgroup:0x1cd)" \
		"$(jq -s 'map(.ring) | add' "$work/zooms")"
	jq -s -e 'all(.through >= .ring * 0.9)' "$work/zooms" >"$work/said" ||
		wrong 'stacks do not lead through service()'
	# The kernel's stacks have none that it tells.
	jq -s -e 'all(.physical >= .ring * 0.5)' "$work/zooms" >"$work/said" || wrong 'samples have no physical address'
	jq -s -e 'all(.running <= .enabled and .running > 0)' "$work/zooms" >"$work/said" || wrong 'times of the events'
	jq -s -e 'all(.stopped == 0 and .early == 0 and .unclaimed == 0 and .broken == 0 and .not_written == 0
		and .full == 0)' "$debug/totals" >"$work/said" || wrong "the driver's work: $(cat "$debug/totals")"
	systemctl stop sharing.service others.service
	unload_module
done
finish
