#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The hottest code and cache lines of a chosen cgroup must be those of the program that runs there, with their names.
# The values in the emulated PMU's books must be within the shown bounds. The cgroup is chosen by the configuration or
# by a request. A cgroup that is not chosen has no hot tables.
# takes: 60 s
# time limit: 500 s
# long
# cpus: 2
# kernels: 6.12 6.1 7
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"
# shellcheck source=tests/guest/inside/sharing.sh
. "${0%/*}/sharing.sh"

# has_names: true if every name is there. Names are requested, and arrive a little later.
has_names() {
	pebsctl --json hot --for 1s -n 1000 "$path" >"$work/hot" 2>"$work/said" || fail "pebsctl hot: $(cat "$work/said")"
	[ "$(jq .unnamed "$work/hot")" = 0 ]
}

# has_chosen TEXT: true if exactly the cgroups in TEXT have tables.
has_chosen() {
	[ "$(status | jq --compact-output .detail.hot)" = "$1" ]
}

# compare_hot BY: compares the tables with the books
compare_hot() {
	wait_until 'names' 60 has_names
	judge hot.jq --slurpfile hot "$work/hot" --arg event "$(code_of mem-loads)"
	[ "$(jq --raw-output '.cgroup, .chosen.by' "$work/hot" | tr '\n' ' ')" = "$path $1 " ] ||
		wrong "of another cgroup, or chosen by another: $(jq --compact-output '{cgroup, chosen}' "$work/hot")"
}

play_paused
share
load mix others.service
others=$(cgroup_of others.service)

# Chosen by the configuration: the tables have each sample from the first one on.
settings '[cgroups]' "hot = $path"
start_pebsd
wait_until 'the cgroup is chosen' 60 has_chosen "[\"$path\"]"
resume_sharing
await_touched "$(code_of mem-loads)" 800
settle_sharing
agree 'one chosen by the configuration'
compare_hot configuration

# A request chooses a cgroup: its tables have no earlier samples.
pebsctl --json hot --for 1s "$others" >"$work/hot"
jq -ne --arg path "$others" 'input | .cgroup == $path and .chosen.by == "request" and (.events.loads.samples // 0) == 0' "$work/hot" \
	>"$work/said" || wrong "of a cgroup that was not chosen: $(cat "$work/hot")"
systemctl stop pebsd.service

# A request chooses the cgroup that the configuration chose before.
settings '[cgroups]' 'hot ='
start_pebsd
wait_until 'none is chosen' 60 has_chosen '[]'
exits 'the first question' 0 pebsctl --json hot --for 1s "$path"
wait_until 'the cgroup is chosen' 60 has_chosen "[\"$path\"]"
pmu reset
resume_sharing
await_touched "$(code_of mem-loads)" 800
settle_sharing
agree 'one chosen by a request'
compare_hot request

# The output for people.
exits 'hot' 0 pebsctl hot "$path"
for word in hot_first hot_second sharing.c counters; do
	grep -q "$word" "$work/said" || wrong "pebsctl hot does not say $word: $(cat "$work/said")"
done
exits 'a cgroup that is not there' 4 pebsctl hot --for 1s /not/there
finish
