// SPDX-License-Identifier: GPL-2.0
/* Decides which recorded events are replayed, and what their samples mean. Pure functions. */
#ifndef PEBSD_REPLAY_EVENT_H
#define PEBSD_REPLAY_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_sample.h"

/*
 * Describes the recorded event `index`. Returns false if it is neither an event of loads or stores with a data
 * source or a weight, nor one that counts (replay_count.h). Facts that the recording does not contain stay empty: pmu
 * "", ldlat 0, LATENCY_NONE, period 0.
 */
bool replay_event_describe(const struct perf_data_events *events, size_t index, struct event *ret);

/* The relation of two recorded events. */
enum replay_match {
	REPLAY_OTHER,   /* the events are counted separately */
	REPLAY_SAME,    /* the samples of both can be counted together */
	REPLAY_CLASHES, /* the events would have the same name, but must not be mixed */
};

enum replay_match replay_event_match(const struct event *a, const struct event *b);

/*
 * Converts a recorded sample, except for its cgroup. A field is used if the sample has it and the event
 * measures it, by the same rule as select_fields() in bpf/read_sample.h. `number` is that of the event.
 */
void replay_sample(const struct event *event, u16 number, const struct perf_event_attr *attr,
		   const struct perf_data_sample *recorded, struct sample *ret);

/*
 * Returns false for a sample that does not belong to its event. AMD's IBS samples every operation, most of
 * which are not loads (arch/x86/events/amd/ibs.c, Linux 6.1).
 */
bool replay_sample_counts(const struct event *event, const struct sample *sample);

#endif
