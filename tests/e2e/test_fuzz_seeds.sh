#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each fuzzer must run its seeds, including everything that fuzzing ever found.
set -eu

cd "$(dirname "$0")/../.."
programs=$(dirname "$PEBSD")/tests/seeds
output=$(mktemp)
trap 'rm -f "$output"' EXIT

for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	seeds=("tests/fuzz/seeds/$name"/*)
	[ -e "${seeds[0]}" ] || seeds=()
	status=0
	"$programs/$name" "${seeds[@]}" >"$output" 2>&1 || status=$?
	[ "$status" = 0 ] || {
		echo "$name ended with status $status after:"
		tail -n 20 "$output"
		exit 1
	}
	echo "$name: ${#seeds[@]} seeds"
done
# Each folder of seeds must have a fuzzer of its name: otherwise no program would run these seeds.
for seeds in tests/fuzz/seeds/*/; do
	name=$(basename "$seeds")
	[ -e "tests/fuzz/$name.c" ] || {
		echo "$seeds: there is no tests/fuzz/$name.c"
		exit 1
	}
done
