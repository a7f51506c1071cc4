#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the root that guests boot from: a minimal Debian with systemd and the libraries that pebsd needs, as an archive
# for the kernel to unpack at boot. It contains nothing of this project.
#   root.sh RELEASE [RUNTIMES]
# Leaves $(cached root RELEASE) or $(cached root RELEASE-RUNTIMES). Needs root. RUNTIMES is one of the groups of
# container runtimes below, which are added to the root. The groups are apart because a guest needs a second to copy ten
# megabytes.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"
set -o pipefail

[ $# = 1 ] || [ $# = 2 ] || fail "usage: root.sh RELEASE [RUNTIMES]"
release=$1 runtimes=${2:-}
archive=$(cached root "$release${runtimes:+-$runtimes}")
packages=apt,attr,bpftool,curl,dbus,jq,kmod,polkitd,procps,systemd,systemd-sysv
case $release in
bookworm) packages+=,libdw1,libelf1,libmicrohttpd12 ;;
*) packages+=,libdw1t64,libelf1t64,libmicrohttpd12t64 ;;
esac
packages+=,libbpf1,libinih1,libjson-c5,libprotobuf-c1,libsqlite3-0,libsystemd0,libzstd1,r-mathlib,zlib1g
case $runtimes in
# For tests in which perf samples at the same time as pebsd.
'') packages+=,linux-perf ;;
# With what a user needs to run containers without root.
podman) packages+=,busybox-static,crun,dbus-user-session,libpam-systemd,netavark,nftables,passt,podman,uidmap ;;
docker) packages+=,busybox-static,containerd,docker-cli,docker.io,iproute2,iptables,runc ;;
machines) packages+=,busybox-static,dbus-user-session,incus-base,incus-client,iproute2,libpam-systemd,lxc,systemd-container,uidmap ;;
*) fail "there are no runtimes \"$runtimes\" here: known are podman, docker and machines" ;;
esac
[ -z "$runtimes" ] || [ "$release" != bookworm ] || skip "needs a newer release than Debian $release: its container runtimes are old"

lock "$archive"
! in_cache "$archive" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

tree=$archive.tree
rm -rf --one-file-system "$tree"
mkdir "$tree"
trap 'rm -rf --one-file-system "$tree"' EXIT
make_root "$tree" "$release" --variant=essential --include="$packages" \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/zoneinfo/*' ||
	skip "Debian $release cannot be had from the mirror that apt uses here"
rm -rf --one-file-system "$tree"/var/lib/apt/lists/* "$tree"/var/cache/* "$tree"/usr/share/{doc,man,locale,zoneinfo}
# perf needs the libraries of Perl and Python but none of their modules, which are most of what a guest would unpack.
rm -rf --one-file-system "$tree"/usr/share/{perl,python3,gcc,gdb} "$tree"/usr/lib/python3* "$tree"/usr/lib/x86_64-linux-gnu/perl
# Programs of several megabytes that no test runs.
rm -f "$tree"/usr/libexec/podman/{podman-testing,quadlet} "$tree"/usr/lib/podman/netavark-dhcp-proxy-client \
	"$tree"/usr/bin/containerd-shim "$tree"/usr/bin/containerd-shim-runc-v1 "$tree"/usr/libexec/incus/incus-{agent,user}
# This is not a machine's first boot, which would ask questions and take time.
echo 00000000000000000000000000000001 >"$tree/etc/machine-id"
echo guest >"$tree/etc/hostname"
: >"$tree/etc/fstab"
(cd "$tree" && find . -xdev -print0 | cpio --null --create --format=newc --quiet) | zstd -q -T0 -9 >"$archive.new"
mv "$archive.new" "$archive"
