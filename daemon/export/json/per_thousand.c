// SPDX-License-Identifier: GPL-2.0
#include "export/json/per_thousand.h"

#include <math.h>
#include <string.h>

/* Running ratios that differ by at most this count as equal. */
#define SAME_TIME 0.01

static bool is_denominator(const struct snapshot_event *event, const struct snapshot_event *of)
{
	const struct maybe_double *a = &event->running_ratio, *b = &of->running_ratio;

	if (event->event.role != EVENT_INSTRUCTIONS || strcmp(event->event.pmu, of->event.pmu) != 0)
		return false;
	return !a->known || !b->known || fabs(a->value - b->value) <= SAME_TIME;
}

bool per_thousand_instructions(const struct snapshot *snapshot, const struct counters *const *counters,
			       size_t index, double *ret)
{
	const struct snapshot_event *event = &snapshot->events[index];

	if (event->event.role != EVENT_LOADS && event->event.role != EVENT_STORES)
		return false;
	for (size_t i = 0; i < snapshot->n_events; i++) {
		u64 accesses, instructions;

		if (!is_denominator(&snapshot->events[i], event) || !counters[i])
			continue;
		accesses = counters_weight(counters[index]);
		instructions = counters_weight(counters[i]);
		if (instructions == 0 || (accesses == 0 && counters_samples(counters[index]) > 0))
			return false;
		*ret = 1000 * (double)accesses / (double)instructions;
		return true;
	}
	return false;
}
