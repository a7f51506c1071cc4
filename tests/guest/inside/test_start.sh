#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemctl start of the unit as installed: pebsd itself must report when it is ready, samples must come, its journal
# must have no complaints, and exactly the permitted users may use pebsctl.
# kernels: 6.12 6.1 7
# takes: 26 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

# The drop-in below runs pebsd --probe, which opens events, too. Some of their samples may come in a window, so
# nothing may count before the probe is over.
play_paused
load pointer-chase chase.service
# The drop-in is for a fleet in which some machines cannot sample. This machine can sample, and the drop-in must
# not prevent that.
mkdir -p "${drop_in%/*}"
cp /usr/share/doc/pebsd/mixed-fleet.conf "$drop_in"
start_pebsd
count_again
look
# Nobody else may report readiness: with Type=notify a start ends at READY=1, which systemd accepts from the main
# process only.
expect 'the unit' "active/running/notify/main/0/$drop_in/" \
	"${unit[ActiveState]}/${unit[SubState]}/${unit[Type]}/${unit[NotifyAccess]}/${unit[NRestarts]}/${unit[DropInPaths]:-}/"
expect 'its restarts and watchdog' on-failure/5s/30s "${unit[Restart]}/${unit[RestartUSec]}/${unit[WatchdogUSec]}"
pid=${unit[MainPID]}
expect 'the main process' /usr/sbin/pebsd "$(readlink "/proc/$pid/exe")"
[[ ${unit[StatusText]} =~ ^Origin\ perf:\ loads\ of\ [0-9]+\ cgroups,\ every\ 1\ s$ ]] ||
	fail "the status text: ${unit[StatusText]}"
figures "$(readiness) ms from its start to READY"

more 'of the started service'
expect 'healthz' ok "$(curl --silent --max-time 10 http://127.0.0.1:9754/healthz)"
systemctl status --no-pager --full pebsd.service >"$work/said"
[[ $(<"$work/said") == *'Status: "Origin perf: loads of '* ]] || fail "systemctl status: $(<"$work/said")"

# pebsd must have exactly the capabilities that its unit leaves it.
expect 'its capabilities, no new privileges, filtered system calls' '000000c000000004 1 2' \
	"$(awk '/^(CapEff|NoNewPrivs|Seccomp):/ { printf "%s%s", separator, $2; separator = " " }' "/proc/$pid/status")"

expect 'its user' pebsd "$(stat -c %U "/proc/$pid")"
# Debian's kernel requires CAP_SYS_ADMIN for an event. pebsd-opener has it, and ends after a minute without requests.
expect 'kernel.perf_event_paranoid' 3 "$(cat /proc/sys/kernel/perf_event_paranoid)"
expect 'who opened the events' opener "$(status | jq -r .opened_by)"

# Members of the group may query, but not change anything. Others may do neither. A refusal says what to do.
group=$(getent group pebsd)
group=${group#*:*:} group=${group%%:*}
member=(setpriv --reuid=65534 --regid=65534 --groups="$group")
stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups)
exits 'a member asks' 0 "${member[@]}" pebsctl status
[[ $(<"$work/said") == *'Origin: perf since '* ]] || fail "what a member gets: $(<"$work/said")"
exits 'a member reloads' 5 "${member[@]}" pebsctl reload
[[ $(<"$work/said") == *'permits this to root alone'* ]] || fail "the refusal: $(<"$work/said")"
exits 'a stranger asks' 5 "${stranger[@]}" pebsctl status
[[ $(<"$work/said") == *'become root, or join the group'* ]] || fail "the refusal: $(<"$work/said")"

# pebsd's messages must have a priority and a place in the source. None may be a warning, except about the guard's
# losses.
exact 'of the started service'
expect_told 'serving: origin perf, control socket /run/pebsd/control.sock, HTTP endpoint http://127.0.0.1:9754'
journal --output=json "_PID=$pid" | jq -s -r '
	if length > 0 then empty else "none" end,
	(.[] | select(.PRIORITY == null or .CODE_FILE == null) | "no priority or place: \(.MESSAGE)"),
	(.[] | select((.PRIORITY | tonumber) < 5 and .PEBSD_REASON != "unexplained") | .MESSAGE)' >"$work/said"
expect 'messages to complain of' '' "$(<"$work/said")"
