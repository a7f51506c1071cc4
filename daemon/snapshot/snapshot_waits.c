// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_waits.h"

#include <math.h>
#include <string.h>

/* Returns the event's place among the events of a PMU. NULL: the cost of waiting is not computed from such an event. */
static unsigned *place_of(struct wait_events *events, enum event_role role)
{
	switch (role) {
	case EVENT_CYCLES:
		return &events->cycles;
	case EVENT_INSTRUCTIONS:
		return &events->instructions;
	case EVENT_STALLS:
		return &events->stalls;
	case EVENT_MISSES:
		return &events->misses;
	case EVENT_LOADS:
	case EVENT_STORES:
	case EVENT_OFFCORE:
	case EVENT_ROLES:
		break;
	}
	return NULL;
}

bool snapshot_event_is_of_waits(const struct snapshot_event *event)
{
	struct wait_events events;

	return place_of(&events, event->event.role) != NULL;
}

/* The time that the snapshot covers. It is not known for a whole replay, which has the time of a recording. */
static bool covered_of(const struct snapshot *snapshot, double *ret)
{
	const struct timespec *since = &snapshot->since, *taken = &snapshot->taken;

	*ret = snapshot->window_seconds.known
		       ? snapshot->window_seconds.value
		       : (double)(taken->tv_sec - since->tv_sec) +
				 (double)(taken->tv_nsec - since->tv_nsec) / (double)NSEC_PER_SEC;
	if (!snapshot->window_seconds.known && strcmp(snapshot->origin, "replay") == 0)
		return false;
	return *ret > 0;
}

/* The mean time for which the event was not stopped on one of its CPUs. */
static double open_seconds(const struct snapshot_event *event, double covered)
{
	double stopped = (event->paused_seconds.known ? event->paused_seconds.value : 0) +
			 (event->throttled_seconds.known ? event->throttled_seconds.value : 0);

	return event->n_cpus ? fmax(covered - stopped / (double)event->n_cpus, 0) : covered;
}

static struct wait_count count_of(const struct snapshot_event *event, const struct counters *counters,
				  bool timed, double covered)
{
	struct wait_count count = {.known = true, .largest = (double)event->event.period, .effect = 1};

	if (counters) {
		count.samples = counters_samples(counters);
		count.weight = counters_weight(counters);
	}
	if (count.samples)
		count.weight_squared = (double)count.weight * (double)count.weight / (double)count.samples;
	count.seconds = timed ? open_seconds(event, covered) : 1;
	if (event->running_ratio.known)
		count.seconds *= event->running_ratio.value;
	return count;
}

/* The nominal frequency of the event's CPUs: a hybrid's E-cores have their own. 0: not known. */
static double nominal_of(const struct snapshot *snapshot, const struct snapshot_event *event)
{
	if (event->event.nominal_hz > 0)
		return event->event.nominal_hz;
	return snapshot->nominal_hz.known ? snapshot->nominal_hz.value : 0;
}

/*
 * Returns the index of the part of an event's PMU, which is added if the PMU has none yet. `firsts` has the first event
 * of each part.
 */
static size_t part_of(const struct snapshot *snapshot, unsigned event, unsigned firsts[EVENTS_MAX],
		      struct snapshot_wait_parts *parts)
{
	const char *pmu = snapshot->events[event].event.pmu;
	size_t i = 0;

	while (i < parts->n && strcmp(snapshot->events[firsts[i]].event.pmu, pmu) != 0)
		i++;
	if (i < parts->n)
		return i;
	firsts[i] = event;
	parts->n++;
	parts->parts[i] = (struct wait_part){.frequency_hz = nominal_of(snapshot, &snapshot->events[event])};
	parts->events[i] = (struct wait_events){EVENTS_MAX, EVENTS_MAX, EVENTS_MAX, EVENTS_MAX};
	return i;
}

static void put_count(struct wait_part *part, const struct snapshot_event *event,
		      const struct wait_count *count)
{
	switch (event->event.role) {
	case EVENT_CYCLES:
		part->cycles = *count;
		if (event->frequency_hz.known && event->frequency_hz.value > 0)
			part->frequency_hz = event->frequency_hz.value;
		break;
	case EVENT_INSTRUCTIONS:
		part->instructions = *count;
		break;
	case EVENT_STALLS:
		part->stalls = *count;
		break;
	case EVENT_MISSES:
		part->misses = *count;
		break;
	case EVENT_LOADS:
	case EVENT_STORES:
	case EVENT_OFFCORE:
	case EVENT_ROLES:
		break;
	}
}

bool snapshot_wait_times(const struct snapshot *snapshot, const struct counters *const *counters,
			 struct snapshot_wait_parts *ret)
{
	unsigned firsts[EVENTS_MAX] = {0};
	u64 samples = 0;
	double covered;

	ret->n = 0;
	ret->timed = covered_of(snapshot, &covered);
	for (unsigned i = 0; i < snapshot->n_events; i++) {
		const struct snapshot_event *event = &snapshot->events[i];
		struct wait_count count;
		size_t part;

		if (!snapshot_event_is_of_waits(event))
			continue;
		part = part_of(snapshot, i, firsts, ret);
		count = count_of(event, counters[i], ret->timed, covered);
		put_count(&ret->parts[part], event, &count);
		*place_of(&ret->events[part], event->event.role) = i;
		samples += count.samples;
	}
	return samples > 0;
}

void snapshot_wait_parts(const struct snapshot *snapshot, const struct counters *const *counters,
			 struct snapshot_wait_parts *ret)
{
	if (!snapshot_wait_times(snapshot, counters, ret))
		ret->n = 0;
}

bool snapshot_wait_value(const struct snapshot_wait_parts *parts, enum wait_figure figure, double *ret)
{
	return (parts->timed || !wait_figure_is_rate(figure)) &&
	       waits_value(parts->parts, parts->n, figure, ret);
}

bool snapshot_wait(const struct snapshot *snapshot, const struct counters *const *counters,
		   enum wait_figure figure, double *ret)
{
	struct snapshot_wait_parts parts;

	snapshot_wait_parts(snapshot, counters, &parts);
	return snapshot_wait_value(&parts, figure, ret);
}
