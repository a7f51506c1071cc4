// SPDX-License-Identifier: GPL-2.0
#include "series/series_width.h"

#include <sys/param.h>

#include "series/cgroup_counters.h"

/* Buckets, +Inf, sum and count: daemon/export/prometheus/prometheus.c. */
#define HISTOGRAM_SERIES (COARSE_BUCKETS - 1 + 3)

/* Usual sources of loads: l1 lfb l2 l3 local_cache remote_cache local_dram remote_dram unknown. */
#define LOAD_SOURCES 9

/* Usual sources of other operations: l1, and unknown if the L1 was missed. */
#define OTHER_SOURCES 2

/* The bit of an event's estimate, behind the bits of cgroup_counters(). */
#define ESTIMATE CGROUP_COUNTERS_MAX

static size_t expected_counters(const struct event *what)
{
	const struct cgroup_counter *counters;
	size_t n, expected = 0;

	counters = cgroup_counters(&n);
	for (size_t i = 0; i < n; i++)
		expected += (!counters[i].of_loads || what->role == EVENT_LOADS) &&
			    (!counters[i].of_latency || what->settings.has_latency);
	return expected;
}

void series_width_expect(struct series_width *width, unsigned event, const struct event *what)
{
	size_t sources = what->role == EVENT_LOADS ? LOAD_SOURCES : OTHER_SOURCES;
	size_t expected = expected_counters(what);

	width->events[event].only_estimate = event_is_count(what);
	if (width->events[event].only_estimate) {
		width->events[event].expected = 1;
		return;
	}
	expected += event_role_is_estimate(what->role);
	if (what->settings.has_source)
		expected += sources;
	if (what->settings.has_latency)
		expected += HISTOGRAM_SERIES + (what->settings.has_source ? sources : 0);
	if (what->settings.has_instruction_latency)
		expected += HISTOGRAM_SERIES;
	width->events[event].expected = expected;
}

static u32 bits_of(const u64 *counters, size_t n)
{
	u32 bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= (u32)(counters[i] != 0) << i;
	return bits;
}

static u32 counters_of(const struct counters *counters)
{
	const struct cgroup_counter *list;
	u32 bits = 0;
	size_t n;

	list = cgroup_counters(&n);
	for (size_t i = 0; i < n; i++)
		bits |= (u32)(list[i].value(counters) != 0) << i;
	return bits;
}

static void see_event(struct series_width *width, size_t event, const struct counters *counters)
{
	u32 samples = bits_of(counters->samples, SOURCE_SLOTS);
	u32 latencies = bits_of(counters->latency_sum, SOURCE_SLOTS);

	width->events[event].samples |= samples;
	width->events[event].latencies |= latencies;
	width->events[event].counters |= counters_of(counters);
	if (!width->events[event].latency)
		width->events[event].latency = latencies || counters_latency_samples(counters);
	if (!width->events[event].instruction_latency)
		width->events[event].instruction_latency =
			counters_instruction_latency_samples(counters) != 0;
}

static void see_offcore(struct series_width *width, const struct offcore_scaled_counts *counters)
{
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
			u64 value;

			if (offcore_scaled_get(counters, pmu, kind, &value))
				width->offcore |= 1U << (pmu * OFFCORE_KINDS + kind);
		}
}

_Static_assert(OFFCORE_PMUS_MAX *OFFCORE_KINDS <= 32, "a bit each");

void series_width_see(struct series_width *width, const struct series *series)
{
	for (size_t event = 0; event < EVENTS_MAX; event++) {
		if (series->estimates && series->estimates[event])
			width->events[event].counters |= 1U << ESTIMATE;
		if (series->counters[event] && !width->events[event].only_estimate)
			see_event(width, event, series->counters[event]);
	}
	if (series->offcore)
		see_offcore(width, series->offcore);
}

size_t series_width_of(const struct series_width *width)
{
	/*
	 * Each off-core kind counts as one series. This holds for the latency, too: it has two kinds and two
	 * series.
	 */
	size_t sum = SERIES_WIDTH_SPARE + (size_t)__builtin_popcount(width->offcore);

	for (size_t event = 0; event < EVENTS_MAX; event++) {
		size_t seen = (size_t)__builtin_popcount(width->events[event].samples) +
			      (size_t)__builtin_popcount(width->events[event].latencies) +
			      (size_t)__builtin_popcount(width->events[event].counters) +
			      HISTOGRAM_SERIES * ((size_t)width->events[event].latency +
						  (size_t)width->events[event].instruction_latency);

		sum += MAX(seen, width->events[event].expected);
	}
	return MAX(sum, SERIES_WIDTH_MIN);
}

struct series_places series_places(size_t top, size_t width)
{
	size_t asked = top == SERIES_TOP_AUTO ? SERIES_TOP_DEFAULT : top;
	size_t series = MAX(SERIES_DEFAULT_MAX, asked * SERIES_EACH_MAX);
	/* `other` and `unattributed` have the same width as a path. */
	size_t fit = series / width > 2 ? series / width - 2 : 0;
	size_t paths = MIN(fit, asked * SERIES_LIVE_FACTOR);

	if (top == SERIES_TOP_AUTO)
		return (struct series_places){MIN(asked, fit), paths};
	return (struct series_places){asked, MAX(asked, paths)};
}
