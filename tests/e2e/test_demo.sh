#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo in the model's own time, which is exact: the model with config/demo.conf, as `make run` starts it, for two
# cycles of 240 s of its scenario, and the end of the last alert. Each alert fires and resolves in its phase.
# tests/outside/test_demo.sh runs it in real time.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq

"$PEBSD" --test-rules --origin model --for 500s --config config/demo.conf --json >"$work/trial" 2>/dev/null || fail 'the trial'
# shellcheck disable=SC2016 # jq's variables
expect 'alerts of two cycles' '[]' "$(jq -c "$(cat "$(dirname "$0")/demo_phases.jq")"'
	[.transitions[] | select(.state == "firing" or .state == "resolved") | {name: "\(.rule) \(.cgroup)", state, at: .at_s}] as $seen |
	[(phases | keys[]) as $name | ($seen | map(select(.name == $name))) as $own |
		if ($own | map(.state)) != ["firing", "resolved", "firing", "resolved"] then {$name, $own} else
			($own | to_entries[] | .key as $i | .value | (.at - 240 * ($i / 2 | floor)) as $at |
			phases[$name][$i % 2] as [$from, $to] | select($at < $from or $at > $to)) end] +
	($seen | map(select(.name as $name | phases | has($name) | not)))' "$work/trial")"
