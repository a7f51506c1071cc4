#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pebsd --probe on the sysfs tree of each machine in the corpus: the text must fit, the JSON must say the same, and the
# exit code must agree with both. test_sysfs_corpus.c tests which events each machine gives.
set -eu
: "${PEBSD:=build/pebsd}"
[ -n "${CORPUS:-}" ] || {
	echo 'CORPUS does not say where the recordings are: make test-corpus CORPUS=DIR'
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	printf '%s\n' "$*"
	exit 1
}

found=0
printf '[sampling]\nevents = loads\n' >"$work/pebsd.conf"
for tree in "$CORPUS"/sysfs/*/; do
	name=$(basename "$tree")
	probe=("$PEBSD" --probe --sysfs-root "${tree%/}" --config "$work/pebsd.conf")
	status=0
	"${probe[@]}" >"$work/text" 2>"$work/said" || status=$?
	case $status in
	0) verdict='can sample memory accesses on the machine of this tree' usable=true ;;
	3) verdict='cannot \(sample\|use\)' usable=false ;;
	*) fail "$name: exit code $status: $(cat "$work/said")" ;;
	esac
	head -n 1 "$work/text" | grep -q "^pebsd $verdict" || fail "$name: exit code $status, but: $(cat "$work/text")"
	! grep -n '.\{101\}' "$work/text" || fail "$name: lines of more than 100 columns"
	"${probe[@]}" --json >"$work/json" || [ $? = "$status" ] || fail "$name: another exit code with --json"
	jq -ne --argjson usable $usable 'input | .usable == $usable and ((.events | length) + (.refused | length) > 0) and
		(.notes | length) > 0 and (.cost == null) == (.events == []) and
		all(.refused[]; (.reason | length) > 30) and all(.events[]; .period > 0 and (.samples_of | length) > 0)' \
		"$work/json" >/dev/null || fail "$name: $(cat "$work/json")"
	found=$((found + 1))
done
[ $found -gt 20 ] || fail "$found trees only"
