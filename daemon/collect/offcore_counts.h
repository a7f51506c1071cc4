// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of off-core responses, for one cgroup or a sum of cgroups, over some time. These are counts, not
 * samples: they have no random selection and no latency threshold. Pure functions.
 */
#ifndef PEBSD_OFFCORE_COUNTS_H
#define PEBSD_OFFCORE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/counters.h"
#include "pebsd/offcore.h"

/* What one hardware counter has counted. */
struct offcore_counted {
	u64 count;      /* while the counter ran */
	u64 enabled_ns; /* time for which the counter was enabled while this cgroup's tasks ran */
	u64 running_ns; /* time for which the counter counted: less if multiplexed */
	u64 errors;     /* failed readings: a part of the count is unknown */
};

struct offcore_counts {
	struct offcore_counted of[OFFCORE_PMUS_MAX][OFFCORE_KINDS];
};

void offcore_counts_add(struct offcore_counts *sum, const struct offcore_counts *addend);

/*
 * Estimates the count if the counter had run all the time: count x enabled / running. Returns false if that
 * is unknown: a reading failed, or the counter never ran.
 */
bool offcore_scaled(const struct offcore_counted *counted, u64 *ret);

/* The lowest ratio of running to enabled time among the hardware counters of a PMU. False if none was enabled. */
bool offcore_running_ratio(const struct offcore_counted of[OFFCORE_KINDS], double *ret);

/*
 * Mean duration of a demand read in core clock cycles: outstanding cycles per request (manual 18.6.3).
 * Returns false if one of the two counters is unknown, or there was no request.
 */
bool offcore_latency_mean(const struct offcore_counted of[OFFCORE_KINDS], double *ret);

/*
 * Converts to and from a row of counters, which a window can store (window.h). A window requires only that its
 * counters never decrease.
 */
void offcore_pack(const struct offcore_counts *counts, struct counters *ret);
void offcore_unpack(const struct counters *row, struct offcore_counts *ret);

/*
 * Scaled counts that only grow. The delta of each collection is scaled by itself. If the counter was
 * enabled but did not run, its delta waits for a later one with running time. After a failed reading the
 * count stays unknown.
 */
struct offcore_scaled_counts {
	u64 scaled[OFFCORE_PMUS_MAX][OFFCORE_KINDS];
	struct offcore_counts waiting;
	struct offcore_counts all;
};

void offcore_scaled_add(struct offcore_scaled_counts *counts, const struct offcore_counts *delta);

/* Returns false if the counter never ran, or a reading failed. */
bool offcore_scaled_get(const struct offcore_scaled_counts *counts, size_t pmu, enum offcore_kind kind,
			u64 *ret);

#endif
