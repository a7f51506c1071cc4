#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `--version --json` must name the parts that run: the libraries that ldd shows and no others, with the build IDs
# that readelf shows, the versions that pkg-config and the libraries report, and the BPF objects that were built.
# Without --json, only name and version are printed.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq readelf ldd pkg-config

build_id() {
	readelf --notes "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p'
}

for program in "$PEBSD" "$PEBSCTL"; do
	name=$(basename "$program")
	exits "$name" 0 "$program" --version
	version=$(sed -n "s/^$name \([0-9.]*\)\$/\1/p" "$work/said")
	expect "$name" "$name $version" "$(cat "$work/said")"
	exits "$name --json" 0 "$program" --version --json
	cp "$work/said" "$work/bill"
	expect "$name: name, version, licence" "$name $version GPL-2.0" "$(jq -r '"\(.name) \(.version) \(.licence)"' "$work/bill")"
	expect "$name: build ID" "$(build_id "$program")" "$(jq -r .build_id "$work/bill")"
	expect "$name: the same with --json first" "$(cat "$work/bill")" "$("$program" --json --version)"
	expect "$name: libraries" "$(ldd "$program" | sed -n 's,.*\(=>\|^\)[[:space:]]*\(/[^ ]*\) (.*,\2,p' | xargs realpath | sort)" \
		"$(jq -r '.libraries[].file' "$work/bill" | sort)"
	while read -r file id; do
		expect "$name: build ID of $file" "$(build_id "$file")" "$id"
	done < <(jq -r '.libraries[] | "\(.file) \(.build_id)"' "$work/bill")
	expect "$name: json-c" "$(pkg-config --modversion json-c) $(pkg-config --modversion json-c)" \
		"$(jq -r '.libraries[] | select(.name | startswith("libjson-c.")) | "\(.compiled_with) \(.loaded)"' "$work/bill")"
done

"$PEBSD" --version --json >"$work/bill"
# The versions of libraries that pebsd calls itself were known when pebsd was compiled, except those of the C
# library and the compiler.
called=$(readelf --dynamic "$PEBSD" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -E '^(libc|libm|ld-linux.*|libasan|libubsan)\.so' | sort)
expect 'compiled with' "$called" "$(jq -r '.libraries[] | select(.compiled_with) | .name' "$work/bill" | sort)"
for library in bpf dw microhttpd protobuf-c sqlite3 z zstd; do
	jq -ne --arg name "lib$library.so." 'input | .libraries[] | select(.name | startswith($name)) | .loaded | test("[0-9]")' \
		"$work/bill" >/dev/null || fail "lib$library does not tell its version"
done
expect 'static' '[{"name":"libiberty"}]' "$(jq -c .static_libraries "$work/bill")"
expect 'no static library in pebsctl' null "$("$PEBSCTL" --version --json | jq .static_libraries)"
objects=$(dirname "$PEBSD")/bpf
if [ -d "$objects" ]; then
	for source in bpf/*.bpf.c; do
		object=$(basename "$source" .bpf.c)
		expect "$object" "$(sha256sum <"$objects/$object.bpf.o" | cut -d ' ' -f 1)" \
			"$(jq -r --arg name "$object" '.bpf_objects[] | select(.name == $name) | .sha256' "$work/bill")"
	done
fi
exits 'with another mode' 2 "$PEBSD" --version --probe
