#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The user pebsd may start the unit that acts on alerts. It may not start another unit, nor stop or change any.
# root needs no permission, and nobody else has any. A unit starts with the facts in its file, whatever they
# contain.
# kernels: 6.12 7
# takes: 19 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"

alerts=/run/pebsd/alerts
dropin=/run/systemd/system/pebsd-alert@.service.d

# shellcheck disable=SC2317 # called by the trap
leave() {
	rm -rf "$dropin" "$alerts"/90[0-9].env /run/polkit-test
	systemctl daemon-reload
	end
}
trap leave EXIT

mkdir -p "$alerts" "$dropin" /run/polkit-test
chmod 1777 /run/polkit-test
cat >"$dropin/test.conf" <<'DROPIN'
[Service]
ExecStart=
ExecStart=/bin/sh -c 'env -0 >/run/polkit-test/%i; id -G >/run/polkit-test/%i.groups'
ReadWritePaths=/run/polkit-test
DROPIN
systemctl daemon-reload
# Write facts in the form of facts_format().
for alert in 901 902 903; do
	cat >"$alerts/$alert.env" <<'FACTS'
PEBSD_RULE="slow"
PEBSD_CGROUP="/a\"
PEBSD_RULE=evil \\ \` \$HOME %i"
FACTS
done

# ask USER METHOD SIGNATURE ARGUMENT...: calls systemd's manager
ask() {
	local user=$1 method=$2
	shift 2
	setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups busctl --system --timeout=20 call \
		org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager "$method" "$@" \
		>"$work/said" 2>&1
}

allowed() {
	ask "$@" || fail "not allowed: $*: $(cat "$work/said")"
}

# systemd 257 checks the name of a transient unit before it checks the permission.
refused() {
	! ask "$@" || fail "allowed: $*"
	grep -qi 'access denied\|interactive authentication\|has a fragment file' "$work/said" ||
		fail "refused for another reason: $*: $(cat "$work/said")"
}

has_run() {
	[ -s "/run/polkit-test/$1.groups" ]
}

allowed root StartUnit ss pebsd-alert@901.service replace
wait_until 'the unit that root started' 60 has_run 901
allowed pebsd StartUnit ss pebsd-alert@902.service replace
wait_until 'the unit that pebsd started' 60 has_run 902
refused nobody StartUnit ss pebsd-alert@903.service replace
for unit in systemd-journald.service emergency.target pebsd.service pebsd-alert@x.service pebsd-alert@1x.service \
	'pebsd-alert@1\x2fx.service' xpebsd-alert@1.service pebsd-alert@1.timer; do
	refused pebsd StartUnit ss "$unit" replace
done
for method in StopUnit RestartUnit; do
	refused pebsd $method ss pebsd-alert@903.service replace
done
refused pebsd Reload
refused pebsd StartTransientUnit 'ssa(sv)a(sa(sv))' pebsd-alert@904.service replace 0 0
! has_run 903 || fail 'what was refused ran'

value=$(tr '\0' '\1' </run/polkit-test/902 | tr '\n\1' '\2\n' | sed -n 's/^PEBSD_CGROUP=//p' | tr '\2' '\n')
expect 'the name of the cgroup' $'/a"\nPEBSD_RULE=evil \\ ` $HOME %i' "$value"
expect 'the rule' slow "$(tr '\0' '\1' </run/polkit-test/902 | tr '\n\1' '\2\n' | sed -n 's/^PEBSD_RULE=//p')"
grep -qw "$(getent group pebsd | cut -d : -f 3)" /run/polkit-test/902.groups || fail "the action is in the groups $(cat /run/polkit-test/902.groups)"
wait_until 'no instance is kept' 60 eval '! systemctl list-units --all --plain --no-legend "pebsd-alert@*" | grep -q .'
