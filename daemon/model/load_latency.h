// SPDX-License-Identifier: GPL-2.0
/*
 * The load latency facility (manual 18.8.1.2, 18.9.4.2). Hardware tags loads at random, one in flight at a
 * time. If the latency of a tagged load exceeds the threshold, the load counts, and its address, source and
 * latency are kept for the next PEBS assist. The sample-after value is independent of tagging: it is the
 * number of such loads that make a record.
 */
#ifndef PEBSD_MODEL_LOAD_LATENCY_H
#define PEBSD_MODEL_LOAD_LATENCY_H

#include "pebs.h"

/*
 * The lowest effective value of MSR_PEBS_LD_LAT_THRESHOLD: the shortest latency that can be measured is 4
 * cycles.
 */
#define LOAD_LATENCY_MINIMUM 3

/*
 * Returns whether the facility is on for a general-purpose counter: its PEBS bit and its LL_EN bit are set.
 * Adaptive PEBS has no LL_EN bits, since fixed counters use these positions (intel_pmu_pebs_enable() in ds.c,
 * Linux 6.1). There, the event and the PEBS bit are enough.
 */
bool load_latency_enabled(const struct machine *machine, u64 pebs_enable, u32 counter);

/*
 * Returns the latency field of a record, in core clock cycles. With MECHANISM_LATENCY_SPLIT, it has the cache
 * latency in bits 47:32 and the instruction latency in bits 15:0, each at most ffffH (PEBS_LATENCY_MASK,
 * PEBS_CACHE_LATENCY_OFFSET in ds.c, Linux 6.1).
 */
u64 load_latency_field(const struct machine *machine, const struct retired *access);

/*
 * Retires a load while the facility is on. Returns true if it was tagged and exceeds the threshold.
 * unit->tagged then describes it.
 */
bool load_latency_retire(struct pebs_unit *unit, const struct retired *load);

#endif
