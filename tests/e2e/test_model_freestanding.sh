#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The hardware model is also built into an emulator: no libc, no floating point, no global state. This test compiles it
# without the headers of a libc and checks its undefined symbols.
set -eu

cd "$(dirname "$0")/../.."
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

for source in daemon/model/*.c; do
	"${CC:-cc}" -std=gnu11 -O2 -ffreestanding -nostdinc -fno-pie -mgeneral-regs-only -Wall -Wextra -Werror \
		-isystem "$("${CC:-cc}" -print-file-name=include)" -isystem /usr/include \
		-isystem "/usr/include/$("${CC:-cc}" -dumpmachine)" \
		-Iinclude -Idaemon -c "$source" -o "$objects/$(basename "$source" .c).o"
done

# The compiler itself may call these four functions.
nm --defined-only "$objects"/*.o | awk 'NF == 3 { print $3 }' | sort -u >"$objects/own"
printf '%s\n' memcpy memset memmove memcmp | sort -u - "$objects/own" >"$objects/allowed"
nm --undefined-only "$objects"/*.o | awk '$1 == "U" { print $2 }' | sort -u >"$objects/wanted"
if foreign=$(comm -23 "$objects/wanted" "$objects/allowed") && [ -n "$foreign" ]; then
	echo "daemon/model/ calls what it does not define: $foreign"
	exit 1
fi

# Writable variables.
if state=$(nm "$objects"/*.o | awk 'NF == 3 && $2 ~ /^[bBcCdDgGsS]$/ { print $3 }') && [ -n "$state" ]; then
	echo "daemon/model/ has global state: $state"
	exit 1
fi

# Headers of libc would compile without libc. So only headers of the compiler and the kernel may be named.
if grep -n '^#include <' daemon/model/*.[ch] | grep -v '<linux/\|<stdbool.h>\|<stddef.h>'; then
	echo "daemon/model/ includes what only a libc has"
	exit 1
fi
