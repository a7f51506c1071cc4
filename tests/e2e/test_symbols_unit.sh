#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The process that finds names, with a socket as from systemd and the privileges of its unit. The process must name
# functions of another user's process in a program that others cannot read, answer root only, and have no
# privileges other than the unit's four capabilities.
set -eu

: "${PEBSD:=build/pebsd}" "${TOOLS:=build/tests/tools}"
work=$(mktemp -d)
waiting='' activator=''

end() {
	local pid
	for pid in $waiting $activator; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	rm -rf "$work"
}
trap end EXIT

fail() {
	printf '%s\n' "$*"
	[ ! -s "$work/log" ] || sed 's/^/unit: /' "$work/log"
	exit 1
}

for program in systemd-socket-activate setpriv; do
	command -v $program >/dev/null || {
		echo "needs $program"
		exit 77
	}
done
[ "$(id -u)" = 0 ] || {
	echo 'needs root: it runs what has the rights of the unit'
	exit 77
}

chmod 755 "$work"
install -m 755 "$TOOLS/ask_name" "$PEBSD" "$work"
# A program that only its user can read.
install -d -m 700 -o 65533 "$work/closed"
install -m 700 -o 65533 "$TOOLS/ask_name" "$work/closed/ask_name"
setpriv --reuid=65533 --regid=65533 --clear-groups "$work/closed/ask_name" >"$work/itself" &
waiting=$!
for _ in {1..600}; do
	[ ! -s "$work/itself" ] || break
	sleep 0.1
done
read -r pid address <"$work/itself" || fail 'the process to be asked for did not start'

rights=+sys_ptrace,+dac_read_search,+syslog,+checkpoint_restore
systemd-socket-activate --seqpacket --listen="$work/socket" setpriv --reuid=65534 --regid=65534 --clear-groups \
	--no-new-privs --inh-caps="-all,$rights" --ambient-caps="-all,$rights" --bounding-set="-all,$rights" \
	"$work/pebsd" --symbolizer 2>"$work/log" &
activator=$!
# Retry until systemd-socket-activate has made the socket and listens on it.
for _ in {1..600}; do
	! said=$("$work/ask_name" "$work/socket" "$pid") || break
	sleep 0.1
done

said=$("$work/ask_name" "$work/socket" "$pid" "$address") || fail "no answer: $said"
[ "$said" = "file $work/closed/ask_name function_to_be_found" ] || fail "the name: $said"
said=$("$work/ask_name" "$work/socket" "$pid") || fail "no answer: $said"
[ "$(head -n 1 <<<"$said")" = ask_name ] || fail "the process's name: $said"
grep -q "r-xp .* $work/closed/ask_name$" <<<"$said" || fail "what it executes from: $said"
! grep -q 'rw-p' <<<"$said" || fail "more than what it executes from: $said"

# The socket belongs to root. Therefore only root may send requests, whatever the mode of the socket is.
chmod 666 "$work/socket"
! setpriv --reuid=65533 --regid=65533 --clear-groups "$work/ask_name" "$work/socket" "$pid" >"$work/said" 2>&1 ||
	fail "a stranger was answered: $(cat "$work/said")"
for _ in {1..600}; do
	! grep -q 'refused user 65533: only root, the owner' "$work/log" || break
	sleep 0.1
done
grep -q 'refused user 65533: only root, the owner' "$work/log" || fail 'a stranger is not told of'

# The answering process is not root's and has exactly four capabilities. systemd-socket-activate has become that process
# or has started it. The children of that process are not meant: each serves one client, and ends with the client.
unit=$activator
[ "$(cat "/proc/$activator/comm")" = pebsd ] || unit=$(pgrep -P "$activator" -f symbolizer) || fail 'there is no unit'
of() {
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$unit/status"
}
[ "$(of CapEff)" = 0000010400080004 ] || fail "rights: $(of CapEff)"
[ "$(of CapBnd)" = 0000010400080004 ] || fail "rights that it could get: $(of CapBnd)"
[ "$(of Uid | cut -f 1)" = 65534 ] || fail "user: $(of Uid)"
