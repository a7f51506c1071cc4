#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 200 short-lived cgroups and 10 scopes come and go while pebsd samples. More than half of the cgroups, and each
# scope, must have samples under their own paths. Nothing may be unattributed, and the sums must be exact.
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

for ((round = 0; round < ROUNDS; round++)); do
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
done
for ((i = 0; i < SCOPES; i++)); do
	systemd-run --quiet --scope --unit="birth-$i.scope" "$here/workload" mix --for 1 &
done
sleep 0.5
note_cgroups
wait
exact "over $((ROUNDS * CGROUPS)) cgroups and $SCOPES scopes"
pebsctl --json top --window all >"$work/top"
lived=$(jq '[.cgroups[] | select(.cgroup | startswith("/births/"))] | length' "$work/top")
scopes=$(jq '[.cgroups[] | select(.cgroup | test("^/system.slice/birth-[0-9]+.scope$"))] | length' "$work/top")
[ "$lived" -gt $((ROUNDS * CGROUPS / 2)) ] || fail "of $((ROUNDS * CGROUPS)) cgroups $lived have samples"
expect 'scopes that have samples' $SCOPES "$scopes"
look
expect 'its restarts' 0 "${unit[NRestarts]}"
figures "$(jq .samples.seen "$work/status") samples, $(jq .samples.unattributed "$work/status") of them unattributed;" \
	"$lived of $((ROUNDS * CGROUPS)) short-lived cgroups and $scopes of $SCOPES scopes have some"
