# SPDX-License-Identifier: GPL-2.0
# Compares the hot tables of the program `sharing` (tests/guest/sharing.c) with the books of the emulated PMU. The
# PMU's counters must be stopped, and pebsd must have collected since.
#   jq --null-input --from-file hot.jq --slurpfile books what `pmu touched` prints --slurpfile said what `sharing` wrote
#      --slurpfile hot pebsctl --json hot --argjson cgroup ID --arg event CODE
# The true values from the books must be within the bounds of each item. Items that are not in the tables must have
# at most the values in `absent`. The functions and variables that the program is known to use most must come
# first, under their names. The output has one line each: "measured TEXT", and "wrong TEXT" for each error.

def number: ltrimstr("0x") | explode | reduce .[] as $digit (0; . * 16 + $digit - (if $digit > 96 then 87 else 48 end));

def sum(stream): reduce stream as $value (0; . + $value);

# The cache line of an address, also in hexadecimal, because numbers in jq have 53 bits only.
def line: .[:-2] + ["00", "40", "80", "c0"][(.[-2:] | number) / 64 | floor];

# Groups by instruction, or by the first address of the cache line.
def by(key): group_by(key) | map({key: (.[0] | key), samples: sum(.[].seen), latency: sum(.[].latency), hitm: sum(.[].hitm),
	hitm_cpus: ([.[] | select(.hitm > 0) | .cpu] | unique | length), cpus: ([.[] | select(.seen > 0) | .cpu] | unique | length)});

def outside(bounds): . < bounds.low or . > bounds.high;

# Printed shares are rounded.
def outside_share(bounds): . < bounds.low - 0.001 or . > bounds.high + 0.001;

def judge($what; $items; $truth; $all; $absent):
	($items[]
	| .address as $address
	| ([$truth[] | select(.key == $address)][0] // {samples: 0, latency: 0, hitm: 0, hitm_cpus: 0, cpus: 0}) as $true
	| . as $item
	| if $true.samples | outside($item.samples) then
		"wrong \($what) \($address): \($true.samples) samples by the books, not in \($item.samples)" else empty end,
	if $true.latency | outside($item.latency) then
		"wrong \($what) \($address): latency \($true.latency) by the books, not in \($item.latency)" else empty end,
	if $true.latency / $all.latency | outside_share($item.share) then
		"wrong \($what) \($address): a share of \($true.latency / $all.latency), not in \($item.share)" else empty end,
	if ($item.hitm // 0) > $true.hitm then
		"wrong \($what) \($address): \($item.hitm) HITM, \($true.hitm) by the books" else empty end),
	($truth[] | .key as $key | select([$items[].address] | index($key) | not)
	| select(.latency > $absent.latency or .samples > $absent.samples)
	| "wrong \($what) \($key): not there with \(.samples) samples, latency \(.latency) by the books, over \($absent)");

[$books[] | select(.cgroup == $cgroup and .event == $event) | .seen = .samples - .guarded | .line = (.address | line)] as $mine
| $said[0] as $said
| $hot[0] as $whole
| $whole.events.loads as $loads
| {samples: sum($mine[].seen), latency: sum($mine[].latency)} as $all
| ($mine | by(.ip)) as $code
| ($mine | by(.line)) as $lines
| ([$lines[] | select(.key == $said.counters)][0]) as $shared
| [$said.functions | to_entries[] | .value + {name: .key}]
	as $functions
| "measured \($all.samples) samples, latency \($all.latency): \([$loads.code[:3][] | "\(.name) \(.share.low) to \(.share.high)"] | join(", ")); line \(
		$loads.lines[0].address) \($loads.lines[0].share.low) to \($loads.lines[0].share.high), HITM \($loads.lines[0].hitm) of \($shared.hitm)",
	if $all.samples < 500 then "wrong \($all.samples) samples are few" else empty end,
	if $loads.weight != "latency" then "wrong weight \($loads.weight)" else empty end,
	if {samples: $loads.samples, latency: $loads.latency} != $all then
		"wrong \($loads.samples) samples, latency \($loads.latency) in the tables, by the books \($all)" else empty end,
	judge("code"; $loads.code; $code; $all; $loads.absent.code),
	judge("line"; $loads.lines; $lines; $all; $loads.absent.lines),
	# Of the program's own functions, the two hot ones must have the most samples. (Those of read_remote are the
	# longest ones.) The items are in the order of their upper bounds, so no item after the first two may have
	# more by the books than their bounds.
	([$loads.code[] | select(.module // "" | endswith("/sharing"))] | sort_by(-.samples.high)) as $own
	| (if ([$own[:2][].name] | sort) != ["hot_first", "hot_second"] then
		"wrong the hot functions do not have the most samples: \([$own[:2][].name])" else empty end),
	(range(2) as $i
	| $loads.code[$i] as $item
	| [$loads.code[:$i + 1][].address] as $before
	| $code[] | .key as $key | select($before | index($key) | not) | select(.latency > $item.latency.high)
	| "wrong the order is not that of the books: \($key) has latency \(.latency) and comes after \($item)"),
	($loads.code[] | . as $item | $functions[] | select(.ip == $item.address)
	| select($item.name != .name or $item.line != .line or ($item.file // "" | endswith("sharing.c") | not)
		or $item.offset != (.ip | number) - (.start | number) or $item.pid != $said.pid or ($item.module // "" | endswith("/sharing") | not))
	| "wrong \(.name), line \(.line), at \(.ip), from \(.start): \($item)"),
	($loads.lines[0]
	| select(.address != $said.counters or .hitm_cpus != 2 or .cpus != 2 or (.object // "" | contains("counters") | not)
		or .pid != $said.pid)
	| "wrong the shared line does not come first: \(.)")
