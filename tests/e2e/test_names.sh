#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A cgroup whose name is not UTF-8 must not break any output. Users must be able to request it by the printable
# form of its name.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl

file=$(recording)
# Replaces a name in the recording by one of the same length that is cut within a character.
LC_ALL=C sed 's,/system.slice/nginx.service,/system.slice/nginx.servic\xc3,g' "$file" >"$work/hostile.perf.data"
cmp -s "$file" "$work/hostile.perf.data" && fail 'the recording has no such cgroup any more'
shown=$'/system.slice/nginx.servic\xef\xbf\xbdc3'

"$PEBSD" --replay "$work/hostile.perf.data" --once --json >"$work/once.json"
expect '--once --json' true "$(jq --arg name "$shown" 'any(.cgroups[]; .cgroup == $name)' "$work/once.json")"
start --replay "$work/hostile.perf.data"
replayed
expect 'top' true "$(ctl --json top | jq --arg name "$shown" 'any(.cgroups[]; .cgroup == $name)')"
expect 'show, by the name that is shown' "$shown" "$(ctl --json show "$shown" | jq -r .cgroup)"
expect 'show, by the bytes' "$shown" "$(ctl --json show $'/system.slice/nginx.servic\xc3' | jq -r .cgroup)"
grep -q "cgroup=\"$shown\"" <(get /metrics) || fail 'the endpoint has another name'
ctl top >/dev/null || fail 'top as text'
