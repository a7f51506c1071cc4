// SPDX-License-Identifier: GPL-2.0
/*
 * The load latency facility (manual 18.8.1.2, 18.9.4.2): hardware tags loads at random, one in flight at a
 * time, and a tagged load whose latency is greater than the threshold counts and leaves its address, source
 * and latency for the next PEBS assist. The sample-after value is the counter's matter and knows nothing of
 * tags: it says how many such loads make a record.
 */
#ifndef PEBSD_MODEL_LOAD_LATENCY_H
#define PEBSD_MODEL_LOAD_LATENCY_H

#include "pebs.h"

/* The least that MSR_PEBS_LD_LAT_THRESHOLD can ask for: the shortest latency that is seen is 4 cycles. */
#define LOAD_LATENCY_MINIMUM 3

/*
 * Whether the facility is on for a general-purpose counter: its PEBS bit and its LL_EN bit. Adaptive PEBS has
 * no LL_EN bits, its fixed counters stand there (intel_pmu_pebs_enable() in ds.c, Linux 6.1): the event is
 * enough.
 */
bool load_latency_enabled(const struct machine *machine, u64 pebs_enable, u32 counter);

/* Whether the load's latency is greater than the register's value. A value below the minimum acts as the
 * minimum. With MECHANISM_LATENCY_SPLIT the instruction latency is what the threshold acts on. */
bool load_latency_exceeds(const struct machine *machine, u64 threshold, const struct retired *load);

/*
 * A record's latency field: core clock cycles; with MECHANISM_LATENCY_SPLIT cache latency in bits 47:32 and
 * instruction latency in bits 15:0, each no more than ffffH (PEBS_LATENCY_MASK, PEBS_CACHE_LATENCY_OFFSET in
 * ds.c, Linux 6.1).
 */
u64 load_latency_field(const struct machine *machine, const struct retired *access);

/* A load retires while the facility is on. True: it was tagged and is over the threshold; unit->tagged is
 * its then. */
bool load_latency_retire(struct pebs_unit *unit, const struct retired *load);

#endif
