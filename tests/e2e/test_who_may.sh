#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The permission to use each verb of pebsctl, tested as real users: root, a user that `detail` names, a user that
# may connect, and a user that is neither. Every user tries every verb. A new verb fails this test until it is in
# the table. A user with read access only must not see any address.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq setpriv

# Who may use each verb besides root (detail: users that the configuration names; ask: everybody who may connect).
declare -A may=([status]=ask [top]=ask [show]=ask [rules]=ask [alerts]=ask [explain]=ask [neighbours]=ask [compare]=ask [watch]=ask
	[zoom]=detail [hot]=detail [profile]=detail [pause]=detail [resume]=detail [reload]=root)
declare -A arguments=([show]=CGROUP [explain]='slow CGROUP' [neighbours]=CGROUP [compare]='CGROUP CGROUP' [zoom]=CGROUP [hot]=CGROUP
	[profile]='--last -o - CGROUP' [pause]='--for 1ms')

# `daemon` and `adm` are groups on every Debian system.
printf '%s\n' '[sampling]' 'origin = model' 'interval = 200ms' '[control]' 'group = daemon' 'detail = adm' \
	'[rule slow]' 'cgroup = /**' 'metric = mean' 'above = 40' >"$work/pebsd.conf"
chmod 755 "$work"
install -m 755 "$PEBSCTL" "$work/pebsctl"
start --config "$work/pebsd.conf"
expect 'the socket' '660 root daemon' "$(stat -c '%a %U %G' "$socket")"
for _ in {1..300}; do
	cgroup=$(ctl --json top | jq -r '.cgroups[0].cgroup // empty')
	[ -z "$cgroup" ] || break
	sleep 0.2
done
[ -n "$cgroup" ] || fail 'no cgroup has samples'

id_of() {
	getent group "$1" | cut -d : -f 3
}

# as WHO COMMAND...: runs the command as this user
as() {
	case $1 in
	root) "${@:2}" ;;
	detail) setpriv --reuid=65534 --regid=65534 --groups="$(id_of daemon),$(id_of adm)" "${@:2}" ;;
	reader) setpriv --reuid=65534 --regid=65534 --groups="$(id_of daemon)" "${@:2}" ;;
	stranger) setpriv --reuid=65534 --regid=65534 --clear-groups "${@:2}" ;;
	esac
}

# asked WHO SECONDS ARGUMENT...: runs pebsctl as this user with this time limit, and leaves $status and $work/said. A
# daemon may get no CPU for longer than pebsctl waits, so the request is repeated then, as by ctl.
asked() {
	for _ in 1 2 3 4 5 6; do
		status=0
		as "$1" timeout "$2" "$work/pebsctl" --socket "$socket" "${@:3}" >"$work/said" 2>&1 || status=$?
		grep -q 'has not answered for' "$work/said" || break
	done
}

permitted() {
	case $1:$2 in
	root:* | *:ask | detail:detail) ;;
	*) false ;;
	esac
}

verbs=$(ctl --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$verbs")" -ge 14 ] || fail "the verbs that --help tells: $verbs"
for verb in $verbs; do
	[ -n "${may[$verb]:-}" ] || fail "$verb does not stand in the table of this test"
	words=${arguments[$verb]:-}
	words=${words//CGROUP/$cgroup}
	for who in root detail reader stranger; do
		# If they are permitted, hot and watch do not end by themselves, so they get two seconds.
		patience=60
		case $who:$verb in
		stranger:*) ;;
		*:hot | *:watch) ! permitted $who "${may[$verb]}" || patience=2 ;;
		esac
		# shellcheck disable=SC2086 # arguments are words
		asked $who $patience "$verb" $words
		if [ $who = stranger ]; then
			expect "$verb by a stranger" 5 "$status"
			grep -q 'not permitted\|permission\|may' "$work/said" || fail "a stranger is told: $(cat "$work/said")"
		elif permitted $who "${may[$verb]}"; then
			[ "$status" != 5 ] || fail "$verb is refused to $who: $(cat "$work/said")"
			# 1: the model has no data for the answer, which has nothing to do with rights. 124: the
			# time limit ended hot, which waits, or watch, which continues.
			case $verb:$status in
			*:0 | zoom:1 | profile:1 | hot:124 | watch:124) ;;
			*) fail "$verb by $who: exit code $status: $(cat "$work/said")" ;;
			esac
		else
			expect "$verb by $who" 5 "$status"
			grep -q 'root' "$work/said" || fail "$verb does not say to $who whom it is permitted to: $(cat "$work/said")"
		fi
	done
done

# No reply to a reader contains an address. Root's reply does, so there is one to find.
for verb in status top show compare rules alerts explain neighbours; do
	words=${arguments[$verb]:-}
	# shellcheck disable=SC2086
	asked reader 60 --json "$verb" ${words//CGROUP/$cgroup}
	expect "$verb as JSON by a reader" 0 "$status"
	! grep -E '0x[0-9a-f]{6,}|"(address|function|symbol|module|comm)":' "$work/said" ||
		fail "$verb shows a reader what is others'"
done
exits 'hot by root' 0 ctl --json hot "$cgroup"
grep -qE '0x[0-9a-f]{6,}|"address"' "$work/said" || fail "root sees no address: $(head -c 2000 "$work/said")"
