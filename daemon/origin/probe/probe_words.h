// SPDX-License-Identifier: GPL-2.0
/* Describes an event spec in words that the text and JSON reports share. Pure functions. */
#ifndef PEBSD_PROBE_WORDS_H
#define PEBSD_PROBE_WORDS_H

#include "origin/probe/probe.h"

/* The reason why an event or a counter has no CPU. The configuration may leave out all CPUs of a PMU. */
#define PROBE_NO_CPU "no online CPU of the PMU is among those that `cpus` and `isolated` in [sampling] select"

/*
 * Returns a sentence that says which accesses or instructions of the machine the samples stand for. The
 * caller frees it. NULL: no memory.
 */
char *probe_condition(const struct event_spec *spec);

/* Returns a sentence about the latency of a sample. The caller frees it. NULL: no memory. */
char *probe_latency(const struct event_spec *spec);

/* Returns the things that the period counts, such as "loads over the threshold". */
const char *probe_period_unit(const struct event_spec *spec);

/*
 * Returns the name of a bit of perf_event_attr.sample_type: "ADDR", "WEIGHT_STRUCT". NULL: the bit has no
 * name here.
 */
const char *probe_sample_field(unsigned bit);

/* Returns words for the events that a counter counts. */
const char *probe_counter_meaning(enum offcore_kind kind);

/*
 * Returns true if at least one requested event, or requested off-core counting, is usable. pebsd can run with
 * only one of them.
 */
bool probe_usable(const struct probe_report *report);

#endif
