# SPDX-License-Identifier: GPL-2.0
# Whether the samples of the program `sharing` are as it executes (tests/guest/sharing.c), by the module's books.
#   jq --null-input --from-file places.jq --slurpfile books pebs_machine/touched --slurpfile said what `sharing` wrote
#      --argjson cgroup ID --arg event CODE
# What comes out, a line each: "measured TEXT", and "wrong TEXT" for what is not as it must be.

def number: ltrimstr("0x") | explode | reduce .[] as $digit (0; . * 16 + $digit - (if $digit > 96 then 87 else 48 end));

def sum(stream): reduce stream as $value (0; . + $value);

[$books[] | select(.cgroup == $cgroup and .event == $event)] as $mine
| $said[0] as $said
| sum($mine[].samples) as $all
| [$said.functions | to_entries[] | .value.ip as $ip | {name: .key, samples: sum($mine[] | select(.ip == $ip) | .samples),
	latency: sum($mine[] | select(.ip == $ip) | .latency)}]
| sort_by(-.latency) as $functions
| "measured \($event), \($all) samples, \(sum($mine[].hitm)) of them HITM, \(sum($mine[].guarded)) guarded: \([
		$functions[] | "\(.name) \(.samples)"] | join(", "))",
	if $all < 100 then "wrong \($event): \($all) samples are few" else empty end,
	if ([$functions[:2][].name] | sort) != ["hot_first", "hot_second"] then "wrong \($event): the hot functions do not come first"
		else empty end,
	if sum($functions[].samples) < $all * 0.5 then
		"wrong \($event): too few samples are of functions that the program told of" else empty end,
	(($said.counters | number) as $line
	| $mine[]
	| select(.ip == ($said.functions.hot_first.ip, $said.functions.hot_second.ip))
	| (if .ip == $said.functions.hot_first.ip then {cpu: 0, offset: 0} else {cpu: 1, offset: 40} end) as $due
	| select(.cpu != $due.cpu or (.address | number) != $line + $due.offset or .hitm != .samples - .guarded)
	| "wrong not as the program does: \(.)")
