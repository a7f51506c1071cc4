#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A node that grows: pebsd starts with few cgroups and adds slots while it samples, for hundreds of new cgroups at
# once. The log reports this, and warns before the limit on memory is reached. Cgroups beyond the limit are
# reported as having no slot.
mounts=${mounts:-yes}
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
stand_in_pmu
need flock
own_cgroup
alone_with_cgroups
configure perf < <(printf 'period = 100\nbudget = off\n[cgroups]\nmax = auto\nmax-memory = 12M\n')

status() {
	ctl --json status | jq "$@"
}

start --config "$work/pebsd.conf"
remember
first=$(status .slots) limit=$(status .slots_limit)
[ "$limit" -gt "$first" ] || fail "no slot can be added: $(ctl status)"
expect 'no cgroup is without one' 0 "$(status .without_slot)"

# More cgroups than slots: the newest of them is sampled by name, once the table has grown.
n=$((first + 300)) others_have=$(find "${cgroup%/*}" -type d | wc -l)
[ $((n + others_have)) -lt $((limit * 3 / 4)) ] || skip "the limit of $limit is too near to $first slots on this machine"
seq "$n" | (cd "$cgroup" && xargs mkdir)
until_is 'every cgroup has a slot' '[0,false,true]' status -c "[.without_slot, .slots_missing, .slots > $n]"
before=$(status .samples.unattributed)
work_in "$n"
sampled "/${cgroup##*/}/$n"
expect 'nothing more is unattributed' "$before" "$(status .samples.unattributed)"
expect 'malformed' 0 "$(status .samples.lost.malformed)"
named 'growth' 'added slots for cgroups: ' 9
! grep -q 'cgroup slots are in use, and the limit is' "$work/log" || fail 'a limit that is far is told'

# The table grows up to the limit, and the log has a warning when seven of eight slots are in use. A burst up to the
# limit may be faster than pebsd, which then could not warn before.
last=$((limit * 7 / 8 - others_have))
seq $((n + 1)) $last | (cd "$cgroup" && xargs mkdir)
until_is 'the table has grown to the limit' true status ".slots == $limit"
named 'the limit' 'cgroup slots are in use, and the limit is'

# Cgroups beyond the limit are named.
known='.without_slot >= 50 and (.no_slot | length) >= 50'
seq $((last + 1)) $((limit + 50)) | (cd "$cgroup" && xargs mkdir)
until_is 'the limit is reached, and those beyond it are known' true status ".slots == $limit and $known"
expect 'the limit holds' true "$(status ".slots == $limit and .map_bytes <= .map_bytes_max")"
named 'the limit' 'cgroup slots are in use, and the limit is'
# The warning about the limit also has the text `raise max-memory in [cgroups]`. So does the message `no slot is
# free`, at most once for each size of the table, because a burst may find no free slot before the table has grown.
named 'no free slot' 'raise max-memory in \[cgroups\]' $(($(times_named 'added slots for cgroups: ') + 2))
repeated=$(grep -o 'no slot is free for new cgroups: all [0-9]*' "$work/log" | sort | uniq -d)
[ -z "$repeated" ] || fail "logged again: $repeated"
# One of the slots is for unattributed samples, so the log does not count it.
expect 'the limit for cgroups' $((limit - 1)) \
	"$(sed -n 's/.*cgroup slots are in use, and the limit is \([0-9]*\) .*/\1/p' "$work/log" | head -n 1)"
expect 'the slots for cgroups' $((limit - 1)) \
	"$(sed -n 's/.*added slots for cgroups: \([0-9]*\) in total.*/\1/p' "$work/log" | tail -n 1)"
# A burst may find no free slot before the table has grown to the limit; that does not count.
expect 'before it was reached' true "$(awk -v full="all $((limit - 1)) are in use" '
	/cgroup slots are in use, and the limit is/ && !told { told = NR }
	index($0, full) && !reached { reached = NR }
	END { print told && (!reached || told < reached) ? "true" : "false" }' "$work/log")"
still_samples 'at the limit'
