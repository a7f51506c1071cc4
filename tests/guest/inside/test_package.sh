#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Debian package on a machine that never had pebsd. After apt, and no other step, pebsd must sample, answer
# pebsctl and serve metrics. An upgrade must restart pebsd in one job, so that no sample is lost and scrapes wait,
# and must leave the opener's socket alone. Changed configuration must be kept. Removal must stop pebsd, and a
# purge must leave nothing.
# long
# root: whole
# kernels: 6.1
# takes: 250 s
# time limit: 600 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

package=$(find "$here" -name 'pebsd_*.deb' -print -quit)
[ -n "$package" ] || skip "needs the package that \`make deb\` leaves"
export DEBIAN_FRONTEND=noninteractive

for name in pebsd.service pebsd.socket pebsd-opener.{socket,service} pebsd-symbols.{socket,service}; do
	systemctl stop "$name" 2>/dev/null || :
done

# named_after_it [FIND_OPTION...]: prints all files and directories with "pebs" in their names, except systemd's
# notes about units that ran and the tests' own files.
named_after_it() {
	find / /run -xdev \( -path "$here" -o -path /run/systemd -o -path "$openings" -o -path "$work" \) -prune \
		-o -name '*pebs*' "$@" -print | sort
}

# Removes the result of `make install` for this test and puts it back for later tests.
installed=$here/installed.tar
mapfile -t places < <(named_after_it -prune)

# shellcheck disable=SC2317 # called by the trap
end_package() {
	# Removes the remains of a failed test: a purge leaves nothing.
	dpkg --purge pebsd >/dev/null 2>&1 || :
	end_lifetime
	tar -C / -xf "$installed"
	rm -f "$installed"
	mkdir -p /etc/systemd/system/pebsd.service.d
	systemd-sysusers pebsd.conf
	systemctl daemon-reload
}
tar -C / -cf "$installed" "${places[@]#/}"
trap end_package EXIT
rm -rf "${places[@]}"
expect 'what is left of an installation' '' "$(named_after_it)"
for name in pebsd-symbols pebsd; do
	userdel $name 2>/dev/null || :
	groupdel $name 2>/dev/null || :
done
systemctl daemon-reload
bpf_before=$(programs)

play
load pointer-chase chase.service
# apt installs the package with all its dependencies, and without a network.
exits 'apt-get install' 0 apt-get install --yes --no-install-recommends "$package"
for name in pebsd.service pebsd.socket pebsd-opener.socket pebsd-symbols.socket; do
	expect "$name after the installation" active/enabled \
		"$(systemctl is-active $name || :)/$(systemctl is-enabled $name || :)"
done
exits 'systemctl start' 0 systemctl start pebsd
more 'of the installed service'
await_collections 2
# The workload gets the CPU time that others leave of the only CPU.
has_workload() {
	exits 'pebsctl top' 0 pebsctl top --full
	[[ $(<"$work/said") == *chase.service* ]]
}
wait_until 'pebsctl top has the workload' 60 has_workload
exits 'curl' 0 curl --silent --fail --max-time 20 localhost:9754/metrics
grep -q '^pebsd_samples_seen_total{.*} [1-9]' "$work/said" || fail "no sample is in the metrics: $(head -n 40 "$work/said")"
expect 'who opened the events' opener "$(status | jq -r .opened_by)"

# For a package, installing the same version again is an upgrade.
echo '# mine' >>/etc/pebsd/pebsd.conf
look
pid=${unit[MainPID]}
counted_before=$(counted)
socket_since=$(systemctl show --property=ActiveEnterTimestampMonotonic --value pebsd-opener.socket)
health() {
	curl --silent --max-time 60 http://127.0.0.1:9754/healthz || :
}
apt-get install --yes --reinstall "$package" >"$work/upgrade" 2>&1 &
upgrade=$!
while kill -0 $upgrade 2>/dev/null; do
	expect 'healthz during an upgrade' ok "$(health)"
done
wait $upgrade || fail "apt-get install --reinstall: $(<"$work/upgrade")"
look
expect 'the service after an upgrade' active "${unit[ActiveState]}"
[ "${unit[MainPID]}" != "$pid" ] || fail 'an upgrade leaves the old process'
expect_told 'sampled without a gap on'
[ "$(counted)" -ge "$counted_before" ] || fail "samples before the upgrade: $counted_before, after it: $(counted)"
expect "since when the opener's socket is open" "$socket_since" \
	"$(systemctl show --property=ActiveEnterTimestampMonotonic --value pebsd-opener.socket)"
expect 'what was configured' '# mine' "$(tail -n 1 /etc/pebsd/pebsd.conf)"
figures "upgrade: nobody answered for $(absence) ms"

exits 'apt-get remove' 0 apt-get remove --yes pebsd
for name in pebsd.service pebsd.socket pebsd-opener.{socket,service} pebsd-symbols.{socket,service}; do
	expect "$name when it is removed" inactive "$(systemctl is-active "$name" || :)"
done
expect 'processes' '' "$(pgrep --list-name '^pebsd' || :)"
wait_until 'BPF programs are gone' 30 programs_are "$bpf_before"
expect 'what was configured, when it is removed' '# mine' "$(tail -n 1 /etc/pebsd/pebsd.conf)"
exits 'apt-get purge' 0 apt-get purge --yes pebsd
expect 'what a purge leaves' '' "$(named_after_it)"
# The package can remove its user and group only if userdel exists.
! command -v userdel >/dev/null ||
	expect 'users and groups' '' "$(grep -h '^pebsd' /etc/passwd /etc/group || :)"
expect 'failed units' '' "$(systemctl list-units --failed --plain --no-legend 'pebsd*')"
