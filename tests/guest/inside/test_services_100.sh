#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 100 services start and stop at once. Each service must be listed by its path, with all its samples and no others.
# long
# kernels: 6.12
# takes: 80 s
# time limit: 400 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

SERVICES=100

# shellcheck disable=SC2317 # called by the trap
end_services() {
	systemctl stop 'burst@*.service' 2>/dev/null || :
	leave
	rm -f /run/systemd/system/burst@.service
}
trap end_services EXIT

# running: prints how many cgroups of these services exist.
running() {
	find /sys/fs/cgroup -type d -name 'burst@*.service' | wc -l
}

are_running() {
	[ "$(running)" = "$1" ]
}

# The services wait at a gate. Without it, the first services would take the CPU time that the others need to
# start.
gate=$work/gate
mkfifo "$gate"
cat >/run/systemd/system/burst@.service <<UNIT
[Service]
Slice=burst.slice
ExecStart=/bin/sh -c 'read -r go <$gate; exec $here/workload mix --rest 300 --touch 1'
UNIT
# Nothing is sampled while the services start and end, which takes long enough already.
play_paused
start_pebsd
mapfile -t units < <(seq -f 'burst@%g.service' $SERVICES)
systemctl start "${units[@]}"
wait_until "$SERVICES services" 100 are_running $SERVICES
mapfile -t ids < <(find /sys/fs/cgroup -type d -name 'burst@*.service' -printf '%i\n')
note_cgroups
count_again
# A line for each service, which stays in the pipe for a service that is not at the gate yet.
exec {open_gate}<>"$gate"
printf '%.0s\n' "${units[@]}" >&"$open_gate"
await_samples 6000
wait_until 'a sample of each service' 200 books_have 1 "${ids[@]}"
stop_counting
systemctl stop "${units[@]}"
expect 'services that are left' 0 "$(running)"
settle
agree "$SERVICES services"
# The table must still have services that ended, by their paths.
tr -d '\134' <"$work/top" | grep -o '"cgroup": *"[^"]*"' >"$work/paths"
least=
for unit in "${units[@]}"; do
	samples=$(samples_of "/burst.slice/$unit")
	[ "$samples" -gt 0 ] || fail "$unit has no sample"
	[ -n "$least" ] && [ "$least" -le "$samples" ] || least=$samples
	grep -qF "\"/burst.slice/$unit\"" "$work/paths" || fail "$unit is not named"
done
say "$least samples in the least of them"
