#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The emulator's last samples, one by one, must add up to its books, and each with a source must have its addresses. If two
# events have overflowed, the next instruction of either makes one record of both. It may be without an access.
# long
# kernels: 6.12
# machines: skylake-server zen5 skylake-server:2 sapphirerapids:2 zen5:2
# init: small
# takes: 60 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

settings '[sampling]' 'events = loads stores instructions' 'period = 1009' 'instructions-period = 1000003' 'budget = off'
[[ $emulated != zen5 ]] || settings '[sampling]' 'events = loads' 'period = 20011' 'budget = off'

# A guest runs the same way in each run, so one run has several rounds.
for round in 1 2 3 4; do
	play_paused
	start_pebsd
	load mix mixed
	load false-sharing sharing -- --threads "$(nproc)"
	count_again
	await_samples 200
	settle
	take_books
	pmu records >"$work/records"
	say "measured: round $round: $(wc -l <"$work/records") samples"
	[ -s "$work/records" ] || fail 'the emulator has kept no sample'
	! grep -F forgotten "$work/records" || fail 'the emulator has not kept all samples'
	wrong=$(jq -nc --slurpfile books "$work/books" '
		def sums: group_by([.cpu, .event, .cgroup, .pid, .comm]) | map({
			cpu: .[0].cpu, event: .[0].event, cgroup: .[0].cgroup, pid: .[0].pid, comm: .[0].comm,
			samples: (map(.samples // 1) | add), latency: (map(.latency) | add), period: (map(.period) | add)
		});
		[inputs] as $records | ($books | sums) as $in_books | ($records | sums) as $one_by_one
		| ($in_books - $one_by_one, $one_by_one - $in_books)[:3][],
			($records[] | select(.ip == "0x0")),
			($records | group_by([.cpu, .clock])[] | select(length == 1) | .[0] | select(.source and .address == "0x0"))
		' "$work/records")
	[ -z "$wrong" ] || fail "round $round: the records, one by one, are not the books: $(head -n 8 <<<"$wrong")"
	pkill -KILL -f "^$here/workload " || :
done
