// SPDX-License-Identifier: GPL-2.0
/* What an opening means for its reader, in words that text and JSON share. Pure. */
#ifndef PEBSD_PROBE_WORDS_H
#define PEBSD_PROBE_WORDS_H

#include "origin/probe/probe.h"

/* Which of the machine's accesses or instructions its samples are of: a sentence. The caller frees; NULL: no
 * memory. */
char *probe_condition(const struct pmu_opening *opening);

/* What is known of a sample's latency: a sentence. The caller frees; NULL: no memory. */
char *probe_latency(const struct pmu_opening *opening);

/* What its period counts: "loads over the threshold". */
const char *probe_period_unit(const struct pmu_opening *opening);

/* The bits of perf_event_attr.sample_type: "ADDR", "WEIGHT_STRUCT"; NULL for one without a name here. */
const char *probe_sample_field(unsigned bit);

/* "l3", "local_dram", ... and what it counts. */
const char *probe_counter_name(enum offcore_kind kind);
const char *probe_counter_meaning(enum offcore_kind kind);

/* Whether an event, or off-core counting, is usable that the configuration asks for: pebsd runs with one. */
bool probe_usable(const struct probe_report *report);

#endif
