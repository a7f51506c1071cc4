#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The result of `make install`: systemd must accept the unit, the group and the user must exist, and the configuration
# must be valid.
# takes: 4 s
# kernels: 6.12 6.1 7
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

exits 'systemd-analyze verify' 0 systemd-analyze verify --man=no pebsd.service pebsd-alert@1.service
expect 'what it says' '' "$(cat "$work/said")"
expect 'where the unit comes from' /lib/systemd/system/pebsd.service \
	"$(systemctl show --property=FragmentPath --value pebsd.service | sed 's,^/usr/,/,')"
expect 'the unit is enabled by its install' disabled "$(systemctl is-enabled pebsd.service || :)"
getent group pebsd >/dev/null || fail 'systemd-sysusers did not make the group pebsd'
getent passwd pebsd >/dev/null || fail 'systemd-sysusers did not make the user pebsd'
exits 'pebsd --check-config' 0 pebsd --check-config
exits 'systemd-analyze security' 0 systemd-analyze security --no-pager pebsd.service
score=$(sed -n 's/.*Overall exposure level for pebsd.service: \([0-9.]*\).*/\1/p' "$work/said")
[ -n "$score" ] || fail "no score: $(tail -n 3 "$work/said")"
figures "systemd $(systemctl --version | awk 'NR == 1 { print $2 }'), exposure $score of 10"
# The exposure score of a service without any hardening is above 9.
[ "${score%.*}" -lt 4 ] || fail "the unit's hardening is gone: $score"
