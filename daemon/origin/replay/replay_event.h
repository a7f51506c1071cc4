// SPDX-License-Identifier: GPL-2.0
/* Which recorded events are ours, and what their samples mean. Pure. */
#ifndef PEBSD_REPLAY_EVENT_H
#define PEBSD_REPLAY_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_sample.h"

/*
 * What the recorded event `index` is to us; false where it is none of loads or stores with a
 * data source or a weight.
 * What the recording does not tell is left empty: pmu "", ldlat 0, LATENCY_NONE, period 0.
 */
bool replay_event_describe(const struct perf_data_events *events, size_t index, struct event *ret);

/* What the latencies of the CPU mean; LATENCY_NONE where that is not known. `cpuid` as perf writes it, or
 * NULL. */
enum latency_kind replay_latency_kind(const char *cpuid);

/* How two recorded events go together. */
enum replay_match {
	REPLAY_OTHER,   /* they have figures of their own */
	REPLAY_SAME,    /* their samples can be counted together */
	REPLAY_CLASHES, /* they would be shown under one name, and must not be mixed */
};

enum replay_match replay_event_match(const struct event *a, const struct event *b);

/*
 * The sample as it is accounted, but for its cgroup. A field is taken where the sample has it and the event
 * measures it; the rule is that of select_fields() in bpf/read_sample.h. `number` is the event's.
 */
void replay_sample(const struct event *event, u16 number, const struct perf_event_attr *attr,
		   const struct perf_data_sample *recorded, struct sample *ret);

/*
 * Whether it is a sample of its event at all: AMD's IBS samples every operation, most of which are no loads
 * (arch/x86/events/amd/ibs.c, Linux 6.1).
 */
bool replay_sample_counts(const struct event *event, const struct sample *sample);

#endif
