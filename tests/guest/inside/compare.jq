# SPDX-License-Identifier: GPL-2.0
# Compares pebsd's counters with the books of the emulated PMU, which are its own counts of all samples
# (tests/guest/pmu/books.c). Stop all events first, and let pebsd collect three times after that: settle() in
# books.sh.
#   jq --null-input --raw-output --from-file compare.jq
#      --slurpfile books FILE    the books: a line for each CPU, event, cgroup and task
#      --slurpfile totals FILE   the totals of the books: a line for each CPU
#      --slurpfile top FILE      the output of pebsctl --json top --window all
#      --slurpfile status FILE   the output of pebsctl --json status, from the same collection as `top`
#      --slurpfile cgroups FILE  lines of ["ID", "/PATH"]; several ids may have the same path
#      --argjson codes OBJECT    the codes that pebsd's events have in the books:
#                                {"loads": {"pmu": "cpu", "code": "0x1cd"}}. With several core PMUs the names
#                                are "loads:cpu_core" and so on. "filtered": [CODE...] adds codes of operations
#                                that are sampled with the event, and that pebsd must filter out.
#      --argjson others BOOLEAN  true if other tools sample too; the books have their events as other:CODE
#
# Every sample that the hardware delivered must be in pebsd's counters, under the path of its cgroup, with all
# values that the hardware reported. pebsd must not have values that the hardware does not report: stores have no
# latency on some machines, and instructions have neither latency nor source.
#
# Two kinds of samples are missing there. pebsd must report exactly these as lost:
#   guarded  the kernel did not call the BPF program, because one was running
#   cut      the sample was due, but its event stopped before the hardware wrote the record
#
# The output has one line for each result, with fields separated by tabs:
#   differs  TEXT                   a difference; there is none if pebsd is right
#   figure   EVENT NAME VALUE       a count or sum over all cgroups
#   cgroup   EVENT PATH SAMPLES     samples of a cgroup, according to the books
#   metric   NAME LABELS VALUE      the expected sum of all series of /metrics with these labels

def sum(stream): reduce stream as $value (0; . + $value);

# Adds objects of numbers, field by field.
def total(stream): reduce stream as $one ({}; reduce ($one | to_entries[]) as $field (.; .[$field.key] += $field.value));

def prefixed(name): (. // {}) | with_entries(.key = name + "." + .key);

def differ(what; expected; found):
	if expected == found then empty else "\(what): \(expected) by the books, \(found) by pebsd" end;

# The names of the flags that the books have. Each line has all of them.
def flags: [$books[0].flags // {} | keys_unsorted[]];

# The values of a line of the books, under the names that seen_figures uses.
def delivered_figures:
	{samples, latency, guarded, period, instruction_latency} + .flags
	+ (.sources | prefixed("source")) + (.source_latency | prefixed("source_latency"))
	+ (.snoops | prefixed("snoop")) + (.tlbs | prefixed("tlb"));

# The values of one event of one cgroup in `top`.
def seen_figures:
	{samples, latency: (.latency.sum // 0), period: (.weighted.samples // 0),
		instruction_latency: (.instruction_latency.sum // 0)}
	+ (. as $event | flags | map({key: ., value: ($event[.] // 0)}) | from_entries)
	+ (.sources // {} | map_values(.samples) | prefixed("source"))
	+ (.sources // {} | map_values(.latency_sum // 0) | prefixed("source_latency"))
	+ (.snoop | prefixed("snoop")) + (.tlb | prefixed("tlb"));

# On AMD, the totals of a CPU have the events of IBS and those of its core counters, under the name of the former.
def of_pmu($core; $pmu): $core == $pmu or ($core == "ibs_op" and $pmu == "cpu");

# Prints the differences of one cgroup. At most $slack of its samples may be missing, because it had no slot yet.
def compare_cgroup($what; $book; $seen; $slack):
	($book.samples - $book.guarded - $seen.samples) as $missing
	| if $missing < 0 or $missing > $slack then
		"\($what): \($seen.samples) samples of \($book.samples), of which \($book.guarded) guarded"
	else empty end,
	(($book + $seen | keys_unsorted | unique - ["samples", "guarded"])[] as $name
	| (($book[$name] // 0) - ($seen[$name] // 0)) as $short
	| if $book.samples == $seen.samples and $short != 0 then
		"\($what), \($name): \($book[$name] // 0) by the books, \($seen[$name] // 0) by pebsd"
	elif $short < 0 then
		"\($what), \($name): \($seen[$name]), over the books' \($book[$name] // 0)"
	elif ($name | test("^(source|snoop|tlb)\\.") or IN(flags[])) and $short > 0
		and $short > $book.samples - $seen.samples then
		"\($what), \($name): short by \($short), and samples by \($book.samples - $seen.samples)"
	else empty end);

def compare_event($event; $of; $paths):
	$of.code as $code
	| ([$code] + ($of.filtered // [])) as $all_codes
	| $status[0].events[$event] as $said
	| [$books[] | select(.event == $code and .pmu == $of.pmu)] as $mine
	| [$books[] | select(.event != $code and (.event | IN($all_codes[])) and .pmu == $of.pmu)] as $others
	| sum($others[] | .samples) as $other_samples
	| sum($others[] | .guarded) as $other_guarded
	| [$top[0].cgroups[] | select(.events[$event]) | {key: .cgroup, value: (.events[$event] | seen_figures)}] as $rows
	| ($rows | from_entries) as $seen
	| ([$top[0].cgroups[] | {key: (.id | tostring), value: .cgroup}] | from_entries) as $named
	| (reduce $mine[] as $book ({};
		($paths[$book.cgroup | tostring] // $named[$book.cgroup | tostring] // "cgroup:\($book.cgroup)") as $path
		| .[$path] = total(.[$path] // {}, ($book | delivered_figures)))) as $delivered
	| total($delivered[]) as $all
	| total($seen[]) as $all_seen
	| sum($totals[] | select(of_pmu(.pmu; $of.pmu)) | .events[$all_codes[]] // empty | .cut) as $cut
	| ($said.samples.unattributed) as $unattributed
	| ($rows | length) as $n
	| {
		differences: [
			differ("\($event), rows of a path"; 1; ([$rows | group_by(.key)[] | length] | max // 1)),
			(($delivered + $seen | keys_unsorted)[] as $path
			| compare_cgroup("\($event), \($path)";
				$delivered[$path] // {samples: 0, guarded: 0}; $seen[$path] // {samples: 0}; $unattributed)),
			# Each sample must be in exactly one place.
			differ("\($event), all cgroups and unattributed"; ($all.samples // 0) - ($all.guarded // 0);
				($all_seen.samples // 0) + $unattributed),
			differ("\($event), seen"; ($all.samples // 0) - ($all.guarded // 0); $said.samples.seen),
			differ("\($event), filtered"; if $of.filtered then $other_samples - $other_guarded else null end;
				$said.samples.filtered),
			differ("\($event), lost"; ($all.guarded // 0) + $other_guarded + $cut; $said.samples.lost.unexplained),
			differ("\($event), malformed"; 0; $said.samples.lost.malformed),
			differ("\($event), its PMU"; $of.pmu; $said.pmu),
			(reduce $said.per_cpu[] as $cpu ({}; .[$cpu.cpu | tostring] = $cpu)) as $by_cpu
			| ($totals[] | select(of_pmu(.pmu; $of.pmu) and .events[$code])) as $core
			| sum($core.events[$all_codes[]] // empty | .overflow) as $due
			| sum($core.events[$all_codes[]] // empty | .cut) as $core_cut
			| sum($others[] | select(.cpu == $core.cpu) | .samples) as $other_due
			| sum($mine[] | select(.cpu == $core.cpu) | .guarded) as $guarded
			| $by_cpu[$core.cpu | tostring] as $cpu
			| differ("\($event), CPU \($core.cpu), expected"; $due + $core_cut; $cpu.expected),
				differ("\($event), CPU \($core.cpu), seen"; $due - $other_due - $guarded; $cpu.seen),
				differ("\($event), CPU \($core.cpu), the books themselves"; $due - $other_due;
					sum($mine[] | select(.cpu == $core.cpu) | .samples))
		],
		cgroups: ($delivered | map_values(.samples)),
		figures: {
			delivered: ($all.samples // 0), seen: $said.samples.seen,
			filtered: ($said.samples.filtered // 0), guarded: (($all.guarded // 0) + $other_guarded), cut: $cut,
			lost: $said.samples.lost.unexplained, unattributed: $unattributed,
			cgroups: ($delivered | length), processes: ([$mine[].pid] | unique | length),
			latency: ($all.latency // 0),
			unnamed: ([$mine[].cgroup | tostring] | unique | map(select($paths[.] | not)) | length)
		}
	};

# The values that /metrics must have, computed from `top` and `status`: sums over all cgroups.
def metrics($event):
	"event=\"\($event | split(":")[0])\",pmu=\"\($codes[$event].pmu)\"" as $all
	| $status[0].events[$event].samples as $samples
	| $top[0].total.events[$event] as $total
	| ["pebsd_samples_seen_total", $all, $samples.seen],
		["pebsd_samples_unattributed_total", $all, $samples.unattributed],
		["pebsd_samples_lost_total", "\($all),reason=\"unexplained\"", $samples.lost.unexplained],
		["pebsd_samples_lost_total", "\($all),reason=\"malformed\"", $samples.lost.malformed],
		["pebsd_weighted_samples_total", $all, $total.weighted.samples],
		(select($total.latency)
		| ["pebsd_latency_cycles_count", $all, $total.samples - (if $codes[$event].filtered then $total.sources.l1.samples // 0 else 0 end)],
			["pebsd_latency_cycles_sum", $all, $total.latency.sum],
			["pebsd_weighted_latency_cycles_total", $all, $total.weighted.latency_sum]),
		(select($total.sources)
		| ["pebsd_hitm_samples_total", $all, $total.snoop.hitm // 0],
			["pebsd_locked_samples_total", $all, $total.locked // 0],
			["pebsd_tlb_walk_samples_total", $all, sum($total.tlb | .walk, .miss, .fault | . // 0)]),
		($total.sources // {} | to_entries[]
		| ["pebsd_source_samples_total", "\($all),source=\"\(.key)\"", .value.samples],
			["pebsd_source_latency_cycles_total", "\($all),source=\"\(.key)\"", .value.latency_sum // 0]);

(reduce $cgroups[] as $one ({}; .[$one[0]] = $one[1])) as $paths
| ($codes | with_entries(.value as $code | .key as $event | .value = compare_event($event; $code; $paths))) as $events
| [
	$events[].differences[],
	($totals[] | . as $core
	| ("full", "not_written") as $what
	| select(($core[$what] // 0) != 0) | "CPU \($core.cpu) of the PMU: \($what) is \($core[$what])"),
	# Events of a single cgroup belong to a zoom and are not accounted.
	($totals[] | .cpu as $cpu | .pmu as $pmu | .events | to_entries[] | select(.key | startswith("cgroup:") | not)
	| select($others and (.key | startswith("other:")) | not)
	| select(.key as $code | [$codes[] | select(of_pmu($pmu; .pmu)) | .code, (.filtered // [])[]]
		| index($code) | not)
	| select(.value.overflow > 0) | "CPU \($cpu): samples of an event \(.key) that nobody asked for"),
	differ("samples seen by top and by status"; $top[0].samples.seen; $status[0].samples.seen),
	differ("samples lost, all events"; sum($events[].figures | .guarded + .cut); $status[0].samples.lost.unexplained),
	($events | to_entries[] | select(.value.figures.delivered == 0) | "\(.key): nothing was delivered")
] as $differences
| ($differences[] | ["differs", .]),
	($events | to_entries[] | .key as $event | .value
	| (.figures | to_entries[] | ["figure", $event, .key, .value]),
		(.cgroups | to_entries[] | ["cgroup", $event, .key, .value]),
		(metrics($event) | ["metric"] + .))
| map(tostring) | join("\t")
