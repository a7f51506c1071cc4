#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the Debian package in a minimal Debian 12 root. apt must install it with its files, users, units and
# configuration. pebsd must run on the model and answer. An upgrade must keep what an administrator configured, and
# a purge must leave only the files that the administrator added. systemd does not run in such a root:
# tests/guest/inside/test_package.sh tests that part.
#   package_root.sh PACKAGE
# Needs root, mmdebstrap and a minute.
# shellcheck source=tests/tools/roots.sh
. "${0%/*}/roots.sh"

[ $# = 1 ] || fail "usage: package_root.sh PACKAGE"
package=$(realpath "$1")
[ -f "$package" ] || fail "$package is not there: make deb makes it"
begin_roots "$@"
make_root machine
root=$work/machine
port=$((20000 + $$ % 10000))
version=$(dpkg-deb --field "$package" Version)

# expect WHAT EXPECTED FOUND
expect() {
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

# does COMMAND_LINE: runs it in the root, where it must succeed. Its output is left in $work/said.
does() {
	inside machine "export DEBIAN_FRONTEND=noninteractive; $1" >"$work/said" 2>&1 || fail "\"$1\" failed: $(cat "$work/said")"
}

# next_version NUMBER COMMAND...: makes a package of a higher version, changed by the command in its directory.
next_version() {
	local number=$1
	shift
	dpkg-deb --raw-extract "$package" "$work/next"
	sed -i "s/^Version: .*/Version: $version+$number/" "$work/next/DEBIAN/control"
	(cd "$work/next" && "$@")
	dpkg-deb --root-owner-group -Znone --build "$work/next" "$root/tmp/next-$number.deb" >/dev/null
	rm -r "$work/next"
}

# Lists all files, except those in which apt, dpkg and the tools for users record their own work.
files() {
	(cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/lib/apt \
		-o -path ./var/cache/apt -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o ! -name '*-' -print) | sort
}

does 'apt-get update'
# shellcheck disable=SC2046 # words
does "apt-get install -y --no-install-recommends curl $(dpkg-deb --field "$package" Depends | tr ',' '\n' |
	sed 's/|.*//; s/(.*//' | tr '\n' ' ')"
files >"$work/before"
accounts() {
	grep -h '^pebsd' "$root/etc/passwd" "$root/etc/group" || :
}
expect 'users before' '' "$(accounts)"

cp "$package" "$root/tmp/"
does "apt-get install -y --no-install-recommends /tmp/${package##*/}"
! grep -i -E 'warning|error|fail' "$work/said" || fail "apt complains: $(cat "$work/said")"
does 'dpkg --verify pebsd'
expect 'dpkg --verify' '' "$(cat "$work/said")"
for file in /usr/sbin/pebsd /usr/bin/pebsctl /usr/lib/pebsd/pebsd-opener /lib/systemd/system/pebsd.service \
	/lib/systemd/system/pebsd.socket /lib/systemd/system/pebsd-alert@.service /lib/systemd/system/pebsd-opener.socket \
	/lib/systemd/system/pebsd-opener.service /lib/systemd/system/pebsd-symbols.socket \
	/lib/systemd/system/pebsd-symbols.service /usr/lib/sysusers.d/pebsd.conf /usr/lib/systemd/catalog/pebsd.catalog \
	/usr/share/polkit-1/rules.d/pebsd.rules /usr/share/bash-completion/completions/pebsctl \
	/usr/share/zsh/vendor-completions/_pebsctl /usr/share/fish/vendor_completions.d/pebsctl.fish \
	/usr/share/doc/pebsd/copyright /usr/share/doc/pebsd/mixed-fleet.conf /usr/share/doc/pebsd/grafana/host.json \
	/usr/share/doc/pebsd/opentelemetry/collector.yaml /usr/share/doc/pebsd/prometheus/README.md /usr/share/man/man8/pebsd.8.gz \
	/usr/share/man/man1/pebsctl.1.gz /usr/share/man/man5/pebsd.conf.5.gz /usr/share/man/man7/io.pebsd.7.gz; do
	[ -f "$root$file" ] || fail "the package lacks $file"
done
for page in daemon/man/*.[1-8]; do
	[ -f "$root/usr/share/man/man${page##*.}/${page##*/}.gz" ] || fail "the package lacks the manual page ${page##*/}"
done
expect 'conffiles' /etc/pebsd/pebsd.conf "$(dpkg-deb --info "$package" conffiles)"
for wanted in multi-user.target.wants/pebsd.service sockets.target.wants/pebsd.socket \
	sockets.target.wants/pebsd-opener.socket sockets.target.wants/pebsd-symbols.socket; do
	[ -L "$root/etc/systemd/system/$wanted" ] || fail "not enabled: $wanted"
done
does 'getent passwd pebsd pebsd-symbols && getent group pebsd && id -gn pebsd'
expect 'the group of the user pebsd' pebsd "$(tail -n 1 "$work/said")"

does 'pebsd --version'
expect 'pebsd --version' "pebsd $version" "$(cat "$work/said")"
does 'pebsd --check-config'
does "pebsd --origin model --socket /tmp/control.sock --listen 127.0.0.1:$port 2>/tmp/pebsd.log & daemon=\$!
	for _ in \$(seq 100); do pebsctl --socket /tmp/control.sock status >/dev/null 2>&1 && break; sleep 0.2; done; sleep 3
	pebsctl --socket /tmp/control.sock top --full -n 5 >/tmp/top || cat /tmp/pebsd.log
	curl --silent --fail http://127.0.0.1:$port/metrics >/tmp/metrics; kill \$daemon; wait \$daemon; rm -f /tmp/control.sock"
expect 'cgroups of pebsctl top -n 5' 5 "$(grep -o '^model:[a-z]*' "$root/tmp/top" | sort -u | wc -l)"
grep -q '^pebsd_samples_seen_total{.*} [1-9]' "$root/tmp/metrics" ||
	fail "no sample is in the metrics: $(head -n 40 "$root/tmp/metrics")"
say_time "it is installed, and runs"

# An administrator's changes must stay, both if the new package has the same file as before and if it has a
# different one, which is stored next to it.
echo '# mine' >>"$root/etc/pebsd/pebsd.conf"
mkdir "$root/etc/pebsd/pebsd.conf.d"
echo '# mine' >"$root/etc/pebsd/pebsd.conf.d/mine.conf"
next_version 1 true
does 'apt-get install -y --no-install-recommends /tmp/next-1.deb'
next_version 2 sed -i '1i# Of the next version.' etc/pebsd/pebsd.conf
does 'apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold /tmp/next-2.deb'
does "dpkg-query --show --showformat '\${Version}' pebsd"
expect 'the version after two upgrades' "$version+2" "$(cat "$work/said")"
expect 'what was configured' '# mine' "$(tail -n 1 "$root/etc/pebsd/pebsd.conf")"
expect 'what the package has' '# Of the next version.' "$(head -n 1 "$root/etc/pebsd/pebsd.conf.dpkg-dist")"

does 'apt-get remove -y pebsd'
[ ! -e "$root/usr/sbin/pebsd" ] || fail 'removed, the program is still there'
expect 'what was configured, when it is removed' '# mine' "$(tail -n 1 "$root/etc/pebsd/pebsd.conf")"
# Files that the package's services would have left.
mkdir -p "$root"/var/cache/pebsd/debuginfod "$root"/run/pebsd/alerts "$root"/var/lib/pebsd
does 'apt-get purge -y pebsd'
files >"$work/after"
expect 'what a purge leaves' './etc/pebsd ./etc/pebsd/pebsd.conf.d ./etc/pebsd/pebsd.conf.d/mine.conf' \
	"$(comm -13 "$work/before" "$work/after" | tr '\n' ' ' | sed 's/ $//')"
expect 'what a purge takes of others' '' "$(comm -23 "$work/before" "$work/after")"
expect 'users and groups after a purge' '' "$(accounts)"
say_time "it is purged"
