#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Names come from a separate unit with four privileges, which is not root. Of these, pebsd has only
# CAP_DAC_READ_SEARCH. A killed process of the unit must be started again, and one that hangs must be given up.
# Accounting must continue.
# takes: 60 s
# time limit: 400 s
# long
# cpus: 2
# kernels: 6.12 6.1 7
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/sharing.sh
. "${0%/*}/sharing.sh"

# zoom SECONDS: writes a zoom to $work/zoom.
zoom() {
	pebsctl --json zoom --for "$1" --rate 2000 "$path" >"$work/zoom" 2>"$work/said" ||
		fail "pebsctl zoom: $(cat "$work/said")"
}

named() {
	grep -q hot_first "$work/zoom"
}

unit_is() {
	[ "$(systemctl is-active pebsd-symbols.service || :)" = "$1" ]
}

# of PID KEY: prints the value from /proc/PID/status
of() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

play_paused
share
start_pebsd
resume
await_samples 200
expect 'the socket' active "$(systemctl is-active pebsd-symbols.socket || :)"
expect 'who may connect' '660 pebsd root' "$(stat -c '%a %U %G' /run/pebsd-symbols/socket)"
expect 'whose directory it is' '755 root root' "$(stat -c '%a %U %G' /run/pebsd-symbols)"
zoom 3s
named || wrong "no names: $(journalctl -b -u pebsd-symbols -u pebsd -o cat | tail -n 5)"
wait_until 'the unit' 60 unit_is active
pebsd=$(systemctl show --property=MainPID --value pebsd.service)
unit=$(systemctl show --property=MainPID --value pebsd-symbols.service)
expect 'symbolizers that pebsd runs itself' '' "$(pgrep -P "$pebsd" -f symbolizer || :)"
worker=$(pgrep -P "$unit" || :)
[ -n "$worker" ] || fail 'the unit runs no symbolizer'
expect 'whose it is' pebsd-symbols "$(stat -c %U "/proc/$unit")"
# CAP_DAC_READ_SEARCH 2, CAP_SYS_PTRACE 19, CAP_SYSLOG 34, CAP_CHECKPOINT_RESTORE 40
expect 'what it may' 0000010400080004 "$(of "$worker" CapEff)"
expect 'what it may ever' 0000010400080004 "$(of "$worker" CapBnd)"
expect 'its user' 1 "$(($(of "$worker" Uid | cut -f 1) > 0))"
expect 'new privileges' 1 "$(of "$worker" NoNewPrivs)"
expect 'a filter of system calls' 2 "$(of "$worker" Seccomp)"
expect 'interfaces of its network' 1 "$(grep -c : "/proc/$unit/net/dev")"
tell "exposure $(systemd-analyze security --no-pager pebsd-symbols.service | tail -n 1)"

# A killed process is started again.
kill -9 "$worker"
zoom 3s
named || wrong 'no names after the symbolizer was killed'

# A hanging process is given up after ten seconds, which is logged at most once.
systemctl kill --signal=STOP pebsd-symbols.service
zoom 3s
await_samples 200
zoom 3s
systemctl kill --signal=KILL pebsd-symbols.service
said=$(journalctl -b -u pebsd -o cat | grep -c 'the symbolizer took too long' || :)
[ "$said" -le 1 ] || wrong "said $said times: $(journalctl -b -u pebsd -o cat | tail -n 5)"

settle_sharing
# The unit ran twice under one path, so the books have two cgroups. Only the sums can be compared.
seen=$(status | jq .samples.seen)
expect 'samples malformed' 0 "$(status | jq .samples.lost.malformed)"
lost=$(status | jq .samples.lost.unexplained)
# The zooms' own events are not accounted.
take_books
code=$(code_of mem-loads)
due=$(jq -s --arg code "$code" 'map(.events[$code].overflow // 0) | add' "$work/totals")
cut=$(jq -s --arg code "$code" 'map(.events[$code].cut // 0) | add' "$work/totals")
guarded=$(jq -s --arg code "$code" 'map(select(.event == $code) | .guarded) | add // 0' "$work/books")
expect 'samples seen while names came and went' $((due - guarded)) "$seen"
# The kernel's guard kept some samples from the program. The others were due, but had no record.
expect 'samples lost while names came and went' $((cut + guarded)) "$lost"
finish
