#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A pause must free the hardware: no event of pebsd is open, another tool can pin its counter, and nothing is sampled,
# but cgroups are still followed. It ends by itself or by `pebsctl resume`. Over the whole time every sample of the
# books must be in pebsd's counters, and the unsampled time must be reported.
# cpus: 2
# kernels: 6.12
# takes: 60 s
# time limit: 500 s
# long
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

events_of() {
	find "/proc/$1/fd" -lname 'anon_inode:\[perf_event\]' | wc -l
}

pebsd_events() {
	events_of "$pid"
}

has_events() {
	[ "$(pebsd_events)" = "$1" ]
}

paused_us() {
	scrape
	metric pebsd_unsampled_seconds_total 'reason="paused"' | awk '{ printf "%.0f\n", $1 * 1e6 }'
}

now_us() {
	echo "${EPOCHREALTIME//[.,]/}"
}

play_paused
load pointer-chase chase.service -- --threads 2
start_pebsd
pid=$(systemctl show --property=MainPID --value pebsd.service)
resume
await_samples 500
expect 'events of pebsd, one on each CPU' 2 "$(pebsd_events)"
expect 'time paused before' 0 "$(paused_us)"

# A pause until `pebsctl resume`.
begin_us=$(now_us)
exits 'pause' 0 pebsctl pause
after_us=$(now_us)
expect 'events of pebsd while paused' 0 "$(pebsd_events)"
expect 'healthz while paused' ok "$(curl --silent --max-time 10 http://127.0.0.1:9754/healthz)"
expect 'readyz while paused' 503 \
	"$(curl --silent --output "$work/ready" --write-out '%{http_code}' http://127.0.0.1:9754/readyz)"
grep -q '^paused until' "$work/ready" || fail "readyz does not say why: $(cat "$work/ready")"
systemctl show --property=StatusText pebsd.service >"$work/text"
grep -q 'paused until' "$work/text" || fail "the unit's status does not say it: $(cat "$work/text")"
before=$(delivered)
# The other event has another latency threshold, so the two events cannot have the hardware at the same time.
"$here/open_event" --config "$(code_of mem-loads)" --config1 100 --precise 2 --sample-type "$((1 << 14))" --wakeup 1 \
	--period $((0x7fffffff)) --pinned 1 --for 3 >"$work/other"
grep -q '"count":[1-9]' "$work/other" || fail "another pinned event did not count: $(cat "$work/other")"
expect 'samples delivered while paused' "$before" "$(delivered)"
load mix born.service
note_cgroups
await_collections 2
systemctl reload pebsd.service
expect 'events of pebsd after a reload' 0 "$(pebsd_events)"
resume_us=$(now_us)
exits 'resume' 0 pebsctl resume
end_us=$(now_us)
expect 'events of pebsd after' 2 "$(pebsd_events)"
await_samples 500
took_us=$(paused_us)
# Both CPUs were paused.
[ "$took_us" -ge $((2 * (resume_us - after_us))) ] || fail "$took_us us paused are too few for two CPUs"
[ "$took_us" -le $((2 * (end_us - begin_us))) ] || fail "$took_us us paused are too many for two CPUs"
settle
agree "paused once, $took_us us"
[ "$(samples_of "$(cgroup_of born.service)")" -gt 0 ] || fail 'the service born during the pause has no sample'
resume

# A pause that ends by itself. The second one replaces the first.
exits 'a long pause' 0 pebsctl pause --for 1h
# 15 s are enough for the checks in between, which are slow on an emulated CPU.
exits 'a short one' 0 pebsctl pause --for 15s
expect 'events of pebsd while paused again' 0 "$(pebsd_events)"
wait_until 'it goes on by itself' 100 has_events 2
await_samples 500

# Another user who takes the counter in the meantime keeps it, and pebsd reports that as usual.
exits 'a third pause' 0 pebsctl pause
systemd-run --quiet --collect --unit=holder.service "$here/open_event" --config "$(code_of mem-loads)" --config1 100 \
	--precise 2 --sample-type "$((1 << 14))" --wakeup 1 --period $((0x7fffffff)) --pinned 1 --for 1000
workloads+=(holder.service)
holder=$(systemctl show --property=MainPID --value holder.service)
holds() {
	[ "$(events_of "$holder")" -gt 0 ]
}
wait_until 'the event of the other tool' 30 holds
exits 'resume' 0 pebsctl resume
names_cpu_0() {
	pebsctl status | tr -s '[:space:]' ' ' | grep -q 'loads does not count on CPU 0: its counter is held by another pinned event'
}
wait_until 'a note on the CPU whose counter is taken' 30 names_cpu_0
systemctl stop holder.service
counts_again() {
	! names_cpu_0
}
wait_until 'it counts again' 30 counts_again
await_samples 500
settle
took_us=$(paused_us)
agree "paused four times, $took_us us"

# A pause continues over a restart, and nothing takes a counter during it. The time of an interrupt is measured after
# the pause, or reported as not measurable here.
interrupt_tried() {
	status >"$work/tried"
	[ "$(jq '.events.loads.cost.interrupt_ns != null' "$work/tried")" = true ] ||
		grep -q 'cannot measure how long an interrupt' "$work/tried"
}
resume
settings '[sampling]' 'budget = 100%' 'period = 10007'
exits 'a pause with a restart' 0 pebsctl pause
systemctl restart pebsd.service
pid=$(systemctl show --property=MainPID --value pebsd.service)
for _ in 1 2 3 4; do
	await_collections 1
	expect 'events of pebsd after a restart' 0 "$(pebsd_events)"
done
! interrupt_tried || fail 'it was tried to measure an interrupt in the pause'
exits 'resume' 0 pebsctl resume
wait_until 'an interrupt is measured' 100 interrupt_tried

# A paused pebsd can be stopped.
exits 'a last pause' 0 pebsctl pause
systemctl stop pebsd.service
expect 'how it ended' success "$(systemctl show --property=Result --value pebsd.service)"
