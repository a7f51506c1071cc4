#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `pebsctl zoom` and `pebsctl profile` on the model: functions, callers, lines, nodes and the cache lines that CPUs
# contend for, in every format. Also the limit of the rate, several zooms, and the ends of a zoom: by request, by a
# pause, and by a replay, which refuses it.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl gzip

printf '[sampling]\norigin = model\ninterval = 200ms\n[model]\nworkloads = all\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf"
cgroup=model:false-sharing

# zoom_is WHAT EXPECTED FILTER: of the zoom in $work/zoom
zoom_is() {
	expect "$1" "$2" "$(jq -c "$3" "$work/zoom")"
}

exits 'a zoom' 0 ctl zoom --for 2s $cgroup
cp "$work/said" "$work/text"
for line in 'Origin: model (no measurement)' \
	'Note: the program exists only in the model, and so do its functions, source files and lines' \
	'0.0% of [0-9,]* user stacks end early' \
	' count_request  false_sharing.c:21 model:false-sharing$' \
	' serve_request  false_sharing.c:34 model:false-sharing$' \
	' request_counters (in model:false-sharing)$' \
	'  2/2 0x7f[0-9a-f]*$' 'false sharing (candidate): CPUs at different offsets' \
	'^ *0x00 .* 1 count_request  false_sharing.c:21$' '^ *0x08 .* 1 count_request  false_sharing.c:21$'; do
	grep -q -- "$line" "$work/text" || fail "the zoom has no '$line': $(cat "$work/text")"
done
ctl --json zoom --last $cgroup >"$work/zoom" || fail 'the zoom as JSON'
zoom_is 'where it comes from' '["model","done",["loads"],true]' '[.origin, .zoom.state, .zoom.events, .zoom.latency]'
zoom_is 'nothing is lost' '[0,0,0,0]' '.zoom.samples | [.lost, .dropped, .malformed, .seen - .taken - .limited]'
# The default limit is 1,000 samples a second. A busy machine ends the zoom late.
zoom_is 'the limit' 'true' '.zoom | .samples.taken > 0 and .samples.taken <= 1000 * .ran_s + 100'
zoom_is 'each stack begins in main()' '[0,true]' '[.zoom.stacks.early, .zoom.stacks.user == .zoom.samples.taken]'
zoom_is 'the function' '["count_request","model:false-sharing","false_sharing.c",21]' '.functions[0] | [.name, .module, .file, .line]'
zoom_is 'main() has every sample' 'true' \
	'[.functions[] | select(.name == "main") | .total_samples] == [.zoom.samples.taken]'
zoom_is 'the lines' '[true,[0,8],true,true]' \
	'[.lines[] | select(.sharing)] | [(length == 8 and all(.sharing == "false" and .cpus == 2 and .hitm_cpus == 2)),
	([.[].accesses[].offset] | unique), all(.accesses | all(.cpus == 1 and .line == 21)),
	all(.object | startswith("request_counters+0x"))]'
zoom_is 'no name is missing' 0 .unnamed
samples=$(jq .zoom.samples.taken "$work/zoom")
for verb in "profile --last -o $work/profile" "profile --last --folded -o $work/folded" "profile --last --perf-data -o $work/perf.data"; do
	# shellcheck disable=SC2086 # words
	exits "$verb" 0 ctl $verb $cgroup
done
grep -q '^main;serve_request;count_request [0-9]*$' "$work/folded" || fail "folded stacks: $(cat "$work/folded")"
expect 'folded: all samples' "$samples" "$(awk '{ sum += $NF } END { print sum }' "$work/folded")"
gzip -dc "$work/profile" >"$work/profile.raw" || fail 'the profile is not compressed'
for text in count_request serve_request false_sharing.c model:false-sharing; do
	grep -aq "$text" "$work/profile.raw" || fail "the profile has no $text"
done
expect 'perf.data' PERFILE2 "$(head -c 8 "$work/perf.data")"

# The model's CPUs are on node 0, and these nodes on the other.
ctl --json zoom --for 1s model:remote-numa >"$work/zoom" || fail 'a zoom of remote memory'
zoom_is 'nodes of the model, not of this machine' '[true,true]' \
	'[(.nodes | map(select(.node == 1)) | length == 1 and (.[0] | .remote == .samples and .pages > 100)),
	(.nodes | map(.node) | all(. == 0 or . == 1))]'

# Several at a time, a rate, and what is refused.
exits 'a rate' 0 ctl --json zoom --for 2s --rate 100 model:streaming
jq -ne 'input.zoom | .samples.taken <= 100 * .ran_s + 20 and .samples.limited > .samples.taken' "$work/said" >/dev/null || fail "100 a second for 2 s: $(cat "$work/said")"
for name in mix streaming tlb-thrash pointer-chase; do
	exits "a zoom of $name" 0 ctl zoom --no-wait --for 60s "model:$name"
done
exits 'a fifth zoom' 1 ctl zoom --no-wait $cgroup
grep -q '4 zooms are running, which is the maximum' "$work/said" || fail "too many: $(cat "$work/said")"
exits 'the end of one' 0 ctl zoom --stop model:mix
zoom_of_mix() {
	ctl --json zoom --last model:mix | jq -r .zoom.state
}
until_is 'a zoom that was ended' 'done' zoom_of_mix
exits 'a zoom of no workload' 4 ctl zoom --for 1s model:none
exits 'a zoom of a cgroup of this machine' 4 ctl zoom --for 1s /
exits 'a pause' 0 ctl pause
expect 'a pause ends zooms' 0 "$(ctl --json status | jq .detail.zooms_running)"
exits 'a zoom in a pause' 1 ctl zoom --for 1s model:mix
grep -q 'pebsd is paused, so the model stands still; run .pebsctl resume. to end the pause' "$work/said" || fail "in a pause: $(cat "$work/said")"
exits 'the end of the pause' 0 ctl resume
exits 'a zoom after the pause' 0 ctl zoom --for 1s model:mix
grep -q ' look_up  mix.c:24 model:mix$' "$work/said" || fail "after the pause: $(cat "$work/said")"
kill "$daemon"
wait "$daemon" || fail 'pebsd did not end well'

# A replay has no tasks that could be zoomed.
start --replay "$(recording)"
exits 'a zoom of a replay' 1 ctl zoom --for 1s /system.slice
grep -q 'the origin is replay, which has no running tasks' "$work/said" || fail "a zoom of a replay: $(cat "$work/said")"
