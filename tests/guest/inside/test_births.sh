#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hundreds of short-lived cgroups and 10 scopes come and go while pebsd samples. Each of them that has samples in the
# books must have them under its own path, and at least 100 cgroups and each scope must have some. Nothing may be
# unattributed, and the sums must be exact.
# long
# kernels: 6.1 7
# takes: 42 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/lifetime.sh
. "${0%/*}/lifetime.sh"

ROUNDS=4
CGROUPS=50
SCOPES=10
LEAST=100 # cgroups with samples
top=/sys/fs/cgroup/births

# shellcheck disable=SC2317 # called by the trap
end_births() {
	end_lifetime
	find "$top" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null || :
	rmdir "$top" 2>/dev/null || :
}
trap end_births EXIT

play
load pointer-chase chase.service
start_pebsd
mkdir "$top"

# busy NAME: enters the cgroup and does some work.
busy() {
	echo "$BASHPID" >"$top/$1/cgroup.procs"
	local i
	for ((i = 0; i < 300; i++)); do :; done
}

# sampled: prints how many of the short-lived cgroups have samples in the books.
sampled() {
	pmu books | jq --slurp --slurpfile cgroups "$cgroups" '
		(reduce $cgroups[] as $one ({}; .[$one[0]] = $one[1])) as $path
		| [.[] | select(.samples > .guarded) | $path[.cgroup | tostring] // "" | select(startswith("/births/"))] | unique | length'
}

# Whether a cgroup has a sample in its short life is a matter of chance, so there are as many rounds as it takes.
round=0
while [ $round -lt $ROUNDS ] || { [ $round -lt $((5 * ROUNDS)) ] && [ "$(sampled)" -lt $LEAST ]; }; do
	names=()
	for ((i = 0; i < CGROUPS; i++)); do
		names+=("$round-$i")
	done
	(cd "$top" && mkdir "${names[@]}")
	note_cgroups
	for name in "${names[@]}"; do
		busy "$name" &
	done
	wait
	(cd "$top" && rmdir "${names[@]}")
	round=$((round + 1))
done
units=()
for ((i = 0; i < SCOPES; i++)); do
	units+=("birth-$i.scope")
	systemd-run --quiet --scope --unit="birth-$i.scope" "$here/workload" mix --rest 50 --touch 1 &
done
workloads+=("${units[@]}")
have_ids() {
	stat --format=%i "${units[@]/#//sys/fs/cgroup/system.slice/}" >"$work/ids" 2>"$work/said"
}
wait_until "$SCOPES scopes" 100 have_ids
mapfile -t ids <"$work/ids"
wait_until 'a sample of each scope' 200 books_have 1 "${ids[@]}"
systemctl stop "${units[@]}"
wait
exact "over $((round * CGROUPS)) cgroups and $SCOPES scopes"
pebsctl --json top --window all >"$work/top"
jq '.cgroups[] | select((.events.loads.samples // 0) > 0) | .cgroup' "$work/top" >"$work/paths"
lived=$(grep -c '^"/births/' "$work/paths" || :)
scopes=$(grep -c '^"/system.slice/birth-[0-9]*\.scope"$' "$work/paths" || :)
[ "$lived" -ge $LEAST ] || fail "of $((round * CGROUPS)) cgroups $lived have samples"
expect 'short-lived cgroups that have samples' "$(sampled)" "$lived"
expect 'scopes that have samples' $SCOPES "$scopes"
look
expect 'its restarts' 0 "${unit[NRestarts]}"
figures "$(jq .samples.seen "$work/status") samples, $(jq .samples.unattributed "$work/status") of them unattributed;" \
	"$lived of $((round * CGROUPS)) short-lived cgroups and $scopes of $SCOPES scopes have some"
