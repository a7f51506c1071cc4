#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make install` must put all files where a package would, keep an existing configuration, and write the programs' paths
# into the units. systemd must accept the units and journald the catalog. `make uninstall` must keep the configuration.
set -eu

fail() {
	echo "$*"
	exit 1
}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# Installs the programs that the tests run. The settings of the make that runs the tests must not apply.
install=(env -u MAKEFLAGS make --no-print-directory --silent DESTDIR="$root" BUILD="$(dirname "$PEBSD")")

"${install[@]}" install
expected='etc/pebsd/pebsd.conf 644
usr/bin/pebsctl 755
usr/lib/pebsd/pebsd-opener 755
usr/lib/systemd/catalog/pebsd.catalog 644
usr/lib/systemd/system/pebsd-alert@.service 644
usr/lib/systemd/system/pebsd-opener.service 644
usr/lib/systemd/system/pebsd-opener.socket 644
usr/lib/systemd/system/pebsd-symbols.service 644
usr/lib/systemd/system/pebsd-symbols.socket 644
usr/lib/systemd/system/pebsd.service 644
usr/lib/systemd/system/pebsd.socket 644
usr/lib/sysusers.d/pebsd.conf 644
usr/sbin/pebsd 755
usr/share/bash-completion/completions/pebsctl 644
usr/share/bash-completion/completions/pebsd 644
usr/share/doc/pebsd/LICENSE 644
usr/share/doc/pebsd/grafana/README.md 644
usr/share/doc/pebsd/grafana/fleet.json 644
usr/share/doc/pebsd/grafana/host.json 644
usr/share/doc/pebsd/kubernetes/README.md 644
usr/share/doc/pebsd/kubernetes/daemonset.yaml 644
usr/share/doc/pebsd/kubernetes/kustomization.yaml 644
usr/share/doc/pebsd/kubernetes/podmonitor/kustomization.yaml 644
usr/share/doc/pebsd/kubernetes/podmonitor/podmonitor.yaml 644
usr/share/doc/pebsd/mixed-fleet.conf 644
usr/share/doc/pebsd/opentelemetry/README.md 644
usr/share/doc/pebsd/opentelemetry/collector.yaml 644
usr/share/doc/pebsd/prometheus/README.md 644
usr/share/doc/pebsd/prometheus/alerts.rules.yml 644
usr/share/doc/pebsd/prometheus/global.rules.yml 644
usr/share/doc/pebsd/prometheus/global.yml 644
usr/share/doc/pebsd/prometheus/pebsd.rules.yml 644
usr/share/doc/pebsd/prometheus/prometheus.yml 644
usr/share/doc/pebsd/symbols-debuginfod.conf 644
usr/share/fish/vendor_completions.d/pebsctl.fish 644
usr/share/fish/vendor_completions.d/pebsd.fish 644
usr/share/polkit-1/rules.d/pebsd.rules 644
usr/share/zsh/site-functions/_pebsctl 644
usr/share/zsh/site-functions/_pebsd 644'
for page in daemon/man/*.[1-8]; do
	expected+=$'\n'"usr/share/man/man${page##*.}/${page##*/} 644"
done
found=$(find "$root" -type f -printf '%P %m\n' | sort)
[ "$found" = "$(sort <<<"$expected")" ] || fail "installed: $found"
cmp "$PEBSD" "$root/usr/sbin/pebsd"
cmp units/pebsd.service "$root/usr/lib/systemd/system/pebsd.service"
cmp units/pebsd.socket "$root/usr/lib/systemd/system/pebsd.socket"
cmp units/pebsd-alert@.service "$root/usr/lib/systemd/system/pebsd-alert@.service"

echo '# mine' >"$root/etc/pebsd/pebsd.conf"
"${install[@]}" install
[ "$(cat "$root/etc/pebsd/pebsd.conf")" = '# mine' ] || fail "install replaced the configuration"
kept=$("${install[@]}" uninstall)
[ "$kept" = "kept: $root/etc/pebsd/pebsd.conf" ] || fail "uninstall says: $kept"
[ "$(find "$root" -type f)" = "$root/etc/pebsd/pebsd.conf" ] || fail "uninstall left $(find "$root" -type f)"

# Debian 12's own tools look for units in /lib.
read -ra of_debian < <(sed -n '/dh_auto_install -- /,/[^\\]$/p' units/packaging/debian/rules | tr -d '\\\n' |
	sed "s/.*dh_auto_install -- //; s,\$(CURDIR)/debian/pebsd,$root,g") || :
[ ${#of_debian[@]} -ge 3 ] || fail "the package gives make install no settings: ${of_debian[*]}"
"${install[@]}" "${of_debian[@]}" install
found=$(find "$root" -path '*/systemd/system/*' -printf '%h\n' | sort | uniq -c)
[ "$(tr -s ' ' <<<"$found")" = " 7 $root/lib/systemd/system" ] || fail "the package has its units in $found"
[ -e "$root/usr/share/zsh/vendor-completions/_pebsctl" ] || fail 'the package has no completions of zsh'
"${install[@]}" "${of_debian[@]}" uninstall >"$root/said"
rm "$root/said"
[ "$(find "$root" -type f)" = "$root/etc/pebsd/pebsd.conf" ] || fail "uninstall left $(find "$root" -type f)"

"${install[@]}" PREFIX=/usr/local install
unit=$root/usr/local/lib/systemd/system/pebsd.service
started=$(grep -E '^Exec(Start|Reload)=' "$unit")
[ "$started" = $'ExecStart=/usr/local/sbin/pebsd\nExecReload=+/usr/local/bin/pebsctl reload' ] ||
	fail "with PREFIX=/usr/local the unit has $started"
started=$(grep -E '^ExecStart=' "${unit/pebsd.service/pebsd-opener.service}")
[ "$started" = ExecStart=/usr/local/lib/pebsd/pebsd-opener ] || fail "with PREFIX=/usr/local the opener's unit has $started"
started=$(grep -E '^ExecStart=' "${unit/pebsd.service/pebsd-alert@.service}")
[ "$started" = $'ExecStart=-/usr/local/bin/pebsctl explain -- ${PEBSD_RULE} ${PEBSD_CGROUP}\nExecStart=-/usr/local/bin/pebsctl neighbours -- ${PEBSD_CGROUP}' ] ||
	fail "with PREFIX=/usr/local the alerts' unit has $started"
started=$(grep -E '^ExecStart=' "${unit/pebsd.service/pebsd-symbols.service}")
[ "$started" = 'ExecStart=/usr/local/sbin/pebsd --symbolizer' ] ||
	fail "with PREFIX=/usr/local the unit that finds names has $started"
condition=$(sed -n "s/^ExecCondition=//p" "$root/usr/local/share/doc/pebsd/mixed-fleet.conf")
[ "$condition" = "/bin/sh -c '/usr/local/sbin/pebsd --probe || [ \$\$? -ne 3 ]'" ] ||
	fail "with PREFIX=/usr/local the drop-in has $condition"
# Only a machine that cannot sample is skipped: systemd skips a unit whose ExecCondition= exits with 1 to 254.
for status in 0 1 3 139; do
	printf '#!/bin/sh\nexit %s\n' $status >"$root/probe"
	chmod +x "$root/probe"
	skipped=''
	command=${condition//\/usr\/local\/sbin\/pebsd/$root\/probe}
	eval "${command//\$\$/\$}" || skipped=yes
	[ "$skipped" = "$([ $status != 3 ] || echo yes)" ] || fail "after exit status $status: skipped '$skipped'"
done
rm "$root/probe"

command -v systemd-analyze >/dev/null || {
	echo 'needs systemd-analyze to check the units'
	exit 77
}
"${install[@]}" install
units=$root/usr/lib/systemd/system
mkdir -p "$units/pebsd.service.d"
cp "$root/usr/share/doc/pebsd/mixed-fleet.conf" "$units/pebsd.service.d/"
# The targets and sockets that every service depends on, and the shell for the drop-in.
install -D /bin/sh "$root/bin/sh"
cp -a /lib/systemd/system/*.target /lib/systemd/system/*.socket /lib/systemd/system/*.slice "$units/"
complaints=$(systemd-analyze verify --man=no --root="$root" pebsd.service pebsd.socket pebsd-alert@1.service pebsd-symbols.service \
	pebsd-opener.service pebsd-opener.socket \
	pebsd-symbols.socket 2>&1 | grep pebsd || :)
[ -z "$complaints" ] || fail "systemd-analyze verify: $complaints"

systemctl --root="$root" enable pebsd 2>"$root/enabled" || fail "systemctl enable: $(cat "$root/enabled")"
for unit in multi-user.target.wants/pebsd.service sockets.target.wants/pebsd.socket; do
	[ -L "$root/etc/systemd/system/$unit" ] || fail "systemctl enable pebsd makes no $unit: $(cat "$root/enabled")"
done

journalctl --root="$root" --update-catalog
explained=$(journalctl --root="$root" --list-catalog | grep -c ' pebsd: The memory latency rule @PEBSD_RULE@ ')
[ "$explained" = 2 ] || fail "the catalog explains $explained messages of pebsd's, not 2"

mkdir -p "$root/etc"
echo 'pebsd:x:985:operator' >"$root/etc/group"
systemd-sysusers --root="$root" 2>"$root/sysusers" || fail "systemd-sysusers: $(cat "$root/sysusers")"
grep -q '^pebsd:x:985:operator$' "$root/etc/group" || fail "a group that was there is not kept: $(cat "$root/etc/group")"
grep -q '^pebsd-symbols:' "$root/etc/passwd" || fail "no user pebsd-symbols: $(cat "$root/etc/passwd")"
grep -q '^pebsd:x:[0-9]*:985:' "$root/etc/passwd" || fail "the user is not of the group: $(cat "$root/etc/passwd")"
