# SPDX-License-Identifier: GPL-2.0
# Compares a finished zoom of the program `sharing` (tests/guest/sharing.c) with the emulated PMU's books of the events
# that the zoom opened for the cgroup.
#   jq --null-input --from-file zoom.jq --slurpfile books BOOKS --slurpfile said SAID --slurpfile zoom ZOOM
#      --arg event CODE --argjson rate N
# BOOKS is the output of `pmu touched`, SAID that of `sharing`, and ZOOM that of `pebsctl --json zoom`.
# Every sample that the hardware delivered must be taken or reported as left out. The program's functions, and the
# HITM of its shared line, must have the values of the books, short by no more than what was left out. The
# functions and variables that the program is known to use most must come first, with their names and source lines.
# The line whose parts its two threads write separately must be a false sharing candidate. The line that both write
# must be true sharing. The output has one line each: "measured TEXT", and "wrong TEXT" for each error.

def number: ltrimstr("0x") | explode | reduce .[] as $digit (0; . * 16 + $digit - (if $digit > 96 then 87 else 48 end));

def sum(stream): reduce stream as $value (0; . + $value);

def differ($what; $expected; $found): if $expected == $found then empty else "wrong \($what): \($expected) expected, \($found)" end;

# $true is from the books, and $found may be at most $left lower.
def within($what; $true; $found; $left):
	if $found > $true or $found < $true - $left then "wrong \($what): \($true) by the books, \($found), \($left) left out" else empty end;

# There is one zoom at a time, so all samples of its event belong to it. The books have some of them under another
# cgroup, because they come during a switch from a task of that cgroup.
[$books[] | select(.event == $event) | .seen = .samples - .guarded] as $mine
| $said[0] as $said
| $zoom[0] as $whole
| $whole.zoom as $about
| $about.samples as $samples
| ($samples.limited + $samples.lost + $samples.dropped) as $left
| {samples: sum($mine[].seen), latency: sum($mine[].latency)} as $all
| ([$said.functions[].start, $said.service.start] | map(number)) as $starts
# A function ends where the next one begins.
| [$said.functions | to_entries[] | .value + {name: .key}
	| (.start | number) as $from | ([$starts[] | select(. > $from)] | min) as $to
	| [$mine[] | (.ip | number) as $ip | select($ip >= $from and $ip < $to)] as $in
	| .samples = sum($in[].seen) | .latency = sum($in[].latency)] as $functions
# Functions of the program only.
| [$whole.functions[] | select(.module // "" | endswith("/sharing"))] as $own
| ($own[:2] | map(.name)) as $first
| [$whole.lines[] | select(.address == $said.counters)][0] as $shared
| [$whole.lines[] | select(.address == $said.both)][0] as $both
| "measured \($samples | to_entries | map("\(.value) \(.key)") | join(", ")), in \($about.ran_s) s, \($about.throttles) throttles, running \(
		$about.running_ratio): \([$whole.functions[:5][] | "\(.name) \(.samples) of \(.latency) cycles"] | join(", ")); stacks \($about.stacks.early) of \(
		$about.stacks.user) early; nodes \([$whole.nodes[]? | "\(.node): \(.remote) of \(
		.samples) remote"] | join(", ")); line HITM \($shared.hitm), \([$shared.accesses[]? | "\(.function) at \(.offset)"] | join(", "))",

	differ("its cgroup's rate"; $rate; $about.rate),
	differ("its state"; "done"; $about.state),
	differ("its events"; ["loads"]; $about.events),
	differ("latency"; true; $about.latency),
	differ("samples seen"; $all.samples; $samples.seen),
	differ("samples taken, limited, lost and dropped"; $samples.seen; $samples.taken + $left),
	differ("samples malformed"; 0; $samples.malformed),
	differ("names that are still under way"; 0; $whole.unnamed),
	within("latency"; $all.latency; $about.latency_sum; $left * 400),
	if $all.samples < 300 then "wrong \($all.samples) samples are few" else empty end,

	# Of the 200 samples that a limit leaves, so few are long remote loads that the order is a matter of chance.
	if $left == 0 then
		differ("the functions that come first"; [$functions | sort_by(-.latency)[:2][].name]; $first),
		differ("the hottest function is one that shares"; true; $first[0] | startswith("hot_"))
	else empty end,
	differ("functions by latency"; [$own[].latency] | sort | reverse; [$own[].latency]),
	($functions[] | . as $true
	| [$whole.functions[] | select(.name == $true.name)] as $found
	# The 200 samples are from the first second of a limited zoom, in which a function may not have run.
	| if $found == [] and $true.samples <= $left then empty else
		differ("how often \(.name) is there"; 1; $found | length) end,
		($found[0] // empty
		| within("samples of \(.name)"; $true.samples; .samples; $left),
			within("latency of \(.name)"; $true.latency; .latency; $left * 400),
			differ("source line of \(.name)"; $true.line; .line),
			if (.file // "" | endswith("sharing.c")) and (.module // "" | endswith("/sharing")) then empty else
				"wrong file of \(.name): \(.file), \(.module)" end)),
	([$whole.functions[] | select(.name == "service")][0].total_samples // 0) as $through
	| if $through < sum($own[].samples) * 0.8 then "wrong only \($through) samples lead through service()" else empty end,

	# The few samples that a limit leaves may have HITM on one CPU only, which shows no sharing.
	if $left == 0 then
		differ("the line that comes first"; $said.counters; $whole.lines[0].address),
		differ("sharing of it"; "false"; $shared.sharing),
		differ("CPUs that met HITM on it"; 2; $shared.hitm_cpus)
	else empty end,
	within("HITM of it"; sum($mine[] | select(.ip == ($functions[] | select(.name | startswith("hot_")) | .ip)) | .hitm); $shared.hitm;
		$left),
	differ("accesses to it"; [["hot_first", 0], ["hot_second", 40]];
		[$shared.accesses[]? | [.function, .offset]] | sort),
	($shared.accesses[]? | . as $access | $functions[] | select(.name == $access.function)
	| differ("source line of the access of \(.name)"; .line; $access.line)),
	if $shared.object // "" | contains("counters") then empty else "wrong name of it: \($shared.object)" end,
	if $left == 0 then differ("sharing of the line that both write"; "true"; $both.sharing) else empty end,
	if [$whole.objects[]? | select(.name | contains("counters"))] == [] then "wrong no object counters: \([$whole.objects[]?.name])"
		else empty end,
	differ("samples of the nodes"; true; sum($whole.nodes[]?.samples) > $samples.taken / 2),
	# The remote array is on node 1 and is read from node 0.
	([$functions[] | select(.name == "read_remote")][0].samples) as $of_remote
	| ([$whole.nodes[]? | select(.node == 1)][0].remote // 0) as $remote
	| if $of_remote < 20 and $left == 0 then "wrong only \($of_remote) samples of the remote array" else empty end,
	if $remote < $of_remote - $left then
		"wrong \($remote) samples are remote on node 1, \($of_remote) of the remote array: \($whole.nodes)" else empty end
