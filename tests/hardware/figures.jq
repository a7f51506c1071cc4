# SPDX-License-Identifier: GPL-2.0
# The values of the report, from the output of `pebsd --once --json`: those of one cgroup's loads, and those of the
# whole event.
def loads: .events | to_entries | map(select(.key == "loads" or .key == "loads:" + $pmu)) | .[0].value;
(.total | loads) as $all
| ([.cgroups[] | select(.cgroup == $cgroup)][0] // {events: {}} | loads) as $mine
| (.samples.lost.malformed // 0) as $malformed
| (.samples.lost.unexplained // 0) as $unexplained
| (.samples.filtered // 0) as $filtered
| {seconds: $seconds, period: $period, seen: .samples.seen,
	expected: (.samples.seen + $filtered + $malformed + $unexplained), $filtered, $malformed, $unexplained,
	unsampled_seconds: .samples.unsampled_seconds, all: ($all.samples // 0)}
+ (if $mine == null then {samples: 0} else
	{samples: $mine.samples, mean: $mine.latency.mean, p50: $mine.latency.p50.value, p90: $mine.latency.p90.value,
	p99: $mine.latency.p99.value, sources: ($mine.sources | map_values(.samples)),
	main: ($mine.sources | to_entries | max_by(.value.samples) | .key)} end)
