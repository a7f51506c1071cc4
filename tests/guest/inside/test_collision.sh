#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Before Skylake, the record of two events that overflowed together is dropped, and the kernel leaves their counters
# without a next sample. pebsd must arm them again, report this, and report the missing samples as lost.
# kernels: 6.12
# machines: haswell
# init: small
# takes: 60 s
# time limit: 600 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

# of_event KEY NAME: prints a value of the event from $work/status.
of_event() {
	jq --raw-output --arg key "$1" ".events[\$key] | $2" "$work/status"
}

# of_books CODE NAME: prints the sum over the CPUs in $work/totals.
of_books() {
	jq --slurp --raw-output --arg code "$1" "[.[].events[\$code] // empty | $2] | add // 0" "$work/totals"
}

rearmed() {
	status | tr -d ' \n' | grep -o '"rearmed":[0-9]*' | awk -F : '{ sum += $2 } END { print sum + 0 }'
}

# have_rearmed N: true if pebsd has armed both events again, at least N times in all.
have_rearmed() {
	status | tr -d ' \n' | grep -o '"rearmed":[1-9][0-9]*' |
		awk -F : -v least="$1" '{ sum += $2 } END { exit !(NR == 2 && sum >= least) }'
}

# compare_at_rest: like compare, but the status is from a time when pebsd has armed no event for two collections. The
# losses of a stop are complete one collection after pebsd has armed the event.
compare_at_rest() {
	local before
	for _ in {1..5}; do
		before=$(rearmed)
		await_collections 2
		compare
		[ "$before" != "$(jq '[.events[].rearmed] | add' "$work/status")" ] || return 0
	done
	fail 'events are armed again although nothing counts'
}

pmu interval 4
since=$(date +%s)
play_paused
settings '[sampling]' 'events = loads stores' 'period = 501' 'interval = 500ms' 'budget = off'
sampled=("loads cpu $(code_of mem-loads)" "stores cpu $(code_of mem-stores)")
start_pebsd
load mix mix -- --threads 2
resume
wait_until 'both events are armed again, and again' 300 have_rearmed 4
await_samples 500
settle
compare_at_rest
rearmed_in_all=$(jq '[.events[].rearmed] | add' "$work/status")
for line in "${sampled[@]}"; do
	read -r key _ code <<<"$line"
	seen=$(of_event "$key" .samples.seen) lost=$(of_event "$key" .samples.lost.unexplained)
	again=$(of_event "$key" .rearmed) collisions=$(of_books "$code" .collisions)
	measured "$key: armed $again times, $collisions collisions, $lost lost"
	# The driver also drops a record that is in the buffer when its event is stopped. Its counter then has no next
	# sample either. When pebsd arms one event, the kernel may arm the other one, too, which pebsd does not count.
	# The last such stop may last to the end.
	dropped=$(($(figure delivered "$key") - $(figure guarded "$key") - seen))
	if [ "$dropped" -lt 0 ] || [ "$dropped" -gt $((rearmed_in_all + 1)) ]; then
		fail "$key: $(figure delivered "$key") delivered, $seen seen, armed $again of $rearmed_in_all times"
	fi
	[ "$again" -gt 0 ] || fail "$key was not armed again, after $collisions collisions"
	[ "$again" -le $((collisions + dropped)) ] ||
		fail "$key was armed $again times for $collisions collisions and $dropped records dropped"
	# pebsd must report each whole period that passed without a sample, and each record that the driver dropped. pebsd
	# begins a new period each time that it arms the event, so the last, incomplete period of each stop is in the books'
	# sum only.
	cut=$(figure cut "$key")
	stops=$((collisions + dropped))
	[ "$stops" -le $((rearmed_in_all + 1)) ] || stops=$((rearmed_in_all + 1))
	if [ "$lost" -gt $((cut + dropped)) ] || [ "$lost" -lt $((cut + dropped - stops)) ]; then
		fail "$key lost $lost samples, and $cut were cut and $dropped dropped by the books, in at most $stops stops"
	fi
	[ "$lost" -ge $((again * 2)) ] || fail "$key lost $lost samples, but was armed $again times"
	jq --raw-output '.notes[]' "$work/status" |
		grep -q "^the event $key stopped on CPUs* [-0-9,]* until pebsd armed it again, $again time" ||
		fail "no note tells that $key was armed $again times: $(cat "$work/status")"
	logged=$(pebsd_log "$since" | grep -c "$key stopped on CPU" || :)
	expect "warnings in the journal that $key was armed again" 1 "$logged"
	# The note must say which of pebsd's events collide, and what to do.
	jq --raw-output '.notes[]' "$work/status" | grep "^the event $key stopped on CPU" |
		grep -q 'lost [0-9,]* of [0-9,]* samples .* here loads and stores collide with each other, .* longer periods .* or fewer' ||
		fail "no note says what collides: $(jq '.notes' "$work/status")"
	# The loss is logged immediately, and then at most once per minute.
	logged=$(pebsd_log "$since" | grep -c "lost [0-9]* samples* of $key: unexplained" || :)
	[ "$logged" -ge 1 ] || fail "the journal does not say that $key lost samples"
	[ "$logged" -le $((1 + ($(date +%s) - since) / 60)) ] || fail "the journal says $logged times that $key lost samples"
done

# A run whose only tick is its last. A fifth of the period gives about twenty times as many collisions, so the loads
# stop within two seconds, or rarely the stores before them, which then cannot collide with loads any more. pebsd takes
# an event for stopped after 4,096 events and a period (daemon/origin/perf/perf_stall.h). The loads, at least 1,700 per
# second here, need up to three seconds for that.
stop_pebsd
settings '[sampling]' 'events = loads stores' 'period = 101' 'interval = 10s' 'budget = off'
resume
pebsd --once --json --for 10s --socket "$work/socket" --listen none >"$work/once" 2>"$work/said" ||
	fail "pebsd --once: $(cat "$work/said")"
lost=$(jq .samples.lost.unexplained "$work/once")
say "measured: --once for 10 s: $(jq .samples.seen "$work/once") seen, $lost lost"
[ "$lost" -gt 0 ] || fail "--once reports no loss: $(cat "$work/once" "$work/said")"
grep -q '^pebsd: the event \(loads\|stores\) stopped on CPU' "$work/said" ||
	fail "no line says that an event stopped: $(cat "$work/said")"
