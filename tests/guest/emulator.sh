#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gets QEMU from Debian's backports, unpacked into a root of its own: bookworm's 7.2 takes three times as long to start
# a program in a guest, and that is what most of a guest's time goes to. It runs by the loader and the libraries of that
# root, whatever this system's are.
#   emulator.sh
# Leaves $BUILD/guest/emulator, and emulator.run beside it, which runs it. Needs root. 77: it cannot be had.
# shellcheck source=tests/guest/common.sh
. "${0%/*}/common.sh"

root=$guest/emulator
run=$root.run

lock "$root"
hash=$(hash_of "$0" "${0%/*}/common.sh" -- "$root")
! made "$run" "$hash" || exit 0
[ "$(id -u)" = 0 ] || skip "needs root: it makes a Debian root"

rm -rf --one-file-system "$root"
make_root "$root" 'bookworm bookworm-backports' --variant=extract --include=qemu-system-x86 ||
	skip "Debian's suite bookworm-backports cannot be had from the mirror that apt uses here"
libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
cat >"$run.new" <<END
#!/bin/sh
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" "$root/usr/bin/qemu-system-x86_64" \\
	-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "\$@"
END
chmod +x "$run.new"
mv "$run.new" "$run"
remember "$run" "$hash"
