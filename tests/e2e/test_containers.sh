#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The path of a recorded cgroup contains facts about its container. These facts must be in JSON and in `show`, and
# those that are configured also in metrics. A reload must change which are in metrics. Names of this host must not
# be used for containers of another host.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl pgrep promtool

id=3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8
uid=12fdc709-933e-41d0-917f-cd84de9afa94
path=/kubepods.slice/kubepods-pod${uid//-/_}.slice/cri-containerd-$id.scope
wanted="{\"runtime\":\"containerd\",\"pod_uid\":\"$uid\",\"container_id\":\"$id\"}"
"$TOOLS/make_recording" "$work/pod.perf.data" "$path"

labels_of() {
	jq -c --arg path "$1" 'first(.cgroups[] | select(.cgroup == $path)) | .labels'
}

"$PEBSD" --replay "$work/pod.perf.data" --once --json >"$work/once.json"
expect '--once --json' "$wanted" "$(labels_of "$path" <"$work/once.json")"
"$PEBSD" --replay "$(recording)" --once --json >"$work/once.json"
expect 'a unit' '{"unit":"nginx.service"}' "$(labels_of /system.slice/nginx.service <"$work/once.json")"

printf '[containers]\nlabels = runtime pod_uid\n' >"$work/pebsd.conf"
start --config "$work/pebsd.conf" --replay "$work/pod.perf.data"
replayed
expect 'top' "$wanted" "$(ctl --json top | labels_of "$path")"
expect 'show' "$wanted" "$(ctl --json show "$path" | jq -c .labels)"
ctl show "$path" | tr -s ' \n' ' ' | grep -q "Labels: runtime containerd, pod_uid $uid, container_id $id" ||
	fail "show as text: $(ctl show "$path" | head -n 5)"
get /metrics >"$work/metrics"
series="pebsd_weighted_samples_total{cgroup=\"$path\",runtime=\"containerd\",pod_uid=\"$uid\",event="
grep -qF "$series" "$work/metrics" || fail "no series has the labels: $(grep -F "$id" "$work/metrics" | head -n 1)"
! grep -q 'container_id=' "$work/metrics" || fail 'a label that is not configured is there'
promtool check metrics <"$work/metrics" >"$work/said" 2>&1 || fail "promtool: $(cat "$work/said")"

printf '[containers]\nnames = no\nlabels =\n' >"$work/pebsd.conf"
ctl reload >/dev/null
get /metrics >"$work/metrics"
! grep -q 'pod_uid=' "$work/metrics" || fail 'labels are there after a reload without them'
grep -qF "pebsd_weighted_samples_total{cgroup=\"$path\",event=" "$work/metrics" || fail 'the series is gone'
# No process looked for names.
! pgrep -P "$daemon" -f container-names >/dev/null || fail 'names are looked for'
expect 'an option that is not offered' 0 "$("$PEBSD" --help | grep -c container-names || :)"
exits 'by hand' 2 "$PEBSD" --container-names
