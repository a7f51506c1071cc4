#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemctl start of the unit as it is installed: pebsd itself says when it is ready, samples flow, its journal has
# nothing to complain of, and who may ask it may ask it.
# kernels: 6.12 6.1 7
# takes: 26 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

# The probe opens events too, and some of its samples may come in a window: nothing counts before it is over.
play_paused
load pointer-chase chase.service
# As on a fleet of which some machines cannot sample: this one can, and the drop-in does not keep it from it.
mkdir -p "${drop_in%/*}"
cp /usr/share/doc/pebsd/mixed-fleet.conf "$drop_in"
start_pebsd
count_again
look
# Nobody else may tell: with Type=notify a start is over at READY=1, which systemd takes of the main process alone.
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

# It has the powers that the unit leaves it, and no more.
expect 'its capabilities, no new privileges, filtered system calls' '000000c000000004 1 2' \
	"$(awk '/^(CapEff|NoNewPrivs|Seccomp):/ { printf "%s%s", separator, $2; separator = " " }' "/proc/$pid/status")"

expect 'its user' pebsd "$(stat -c %U "/proc/$pid")"
# Debian's kernel wants CAP_SYS_ADMIN for an event: the opener has it, and ends when it was not asked for a minute.
expect 'kernel.perf_event_paranoid' 3 "$(cat /proc/sys/kernel/perf_event_paranoid)"
expect 'who opened the events' opener "$(status | jq -r .opened_by)"

# Members of the group may ask, but not change. Others may do neither. A refusal says what to do.
group=$(getent group pebsd)
group=${group#*:*:} group=${group%%:*}
member=(setpriv --reuid=65534 --regid=65534 --groups="$group")
stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups)
exits 'a member asks' 0 "${member[@]}" pebsctl status
[[ $(<"$work/said") == *'Origin: perf since '* ]] || fail "what a member gets: $(<"$work/said")"
exits 'a member reloads' 5 "${member[@]}" pebsctl reload
[[ $(<"$work/said") == *'permits this to root alone'* ]] || fail "the refusal: $(<"$work/said")"
exits 'a stranger asks' 5 "${stranger[@]}" pebsctl status
[[ $(<"$work/said") == *'become root, or a member of the group'* ]] || fail "the refusal: $(<"$work/said")"

# Its messages come with a priority and a place in the source; none is a warning, unless of what the guard cost.
exact 'of the started service'
expect_told 'serving: origin perf, control socket /run/pebsd/control.sock, endpoint http://127.0.0.1:9754'
journal --output=json "_PID=$pid" | jq -s -r '
	if length > 0 then empty else "none" end,
	(.[] | select(.PRIORITY == null or .CODE_FILE == null) | "no priority or place: \(.MESSAGE)"),
	(.[] | select((.PRIORITY | tonumber) < 5 and .PEBSD_REASON != "unexplained") | .MESSAGE)' >"$work/said"
expect 'messages to complain of' '' "$(<"$work/said")"
