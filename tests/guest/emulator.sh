#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gets QEMU from Debian's backports. It is unpacked into its own root and runs with the loader and the libraries of
# that root, so that this system's do not matter. The emulated PMU needs version 7 of QEMU's plugin interface,
# which trixie-backports has (QEMU 11.1) and trixie does not have (10.0). Leaves the directory $(cached emulator),
# whose script `qemu` runs the emulator. Exits with 77 without root, or if the mirror does not have the packages.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

release=trixie
root=$(cached emulator)

lock "$root"
! in_cache "$root" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

rm -rf --one-file-system "$root.new"
from=$release-backports
make_root "$root.new" "$release $from" --variant=extract --aptopt='APT::Install-Recommends "false"' \
	--include="qemu-system-x86/$from,qemu-system-common/$from,qemu-system-data/$from,seabios/$from" ||
	skip "Debian's suite $from cannot be had from the mirror that apt uses here"
cat >"$root.new/qemu" <<END
#!/bin/sh
root=\$(dirname "\$0")
exec "\$root/lib64/ld-linux-x86-64.so.2" --library-path "\$root/usr/lib/x86_64-linux-gnu:\$root/lib/x86_64-linux-gnu" \\
	"\$root/usr/bin/qemu-system-x86_64" \\
	-L "\$root/usr/share/qemu" -L "\$root/usr/share/seabios" "\$@"
END
chmod +x "$root.new/qemu"
mv -T "$root.new" "$root"
