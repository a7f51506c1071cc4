// SPDX-License-Identifier: GPL-2.0
/*
 * What was counted of off-core responses, for one cgroup or a sum of cgroups, over some time. Counts, no
 * samples: nothing is chosen at random, and no threshold stands before them. Pure.
 */
#ifndef PEBSD_OFFCORE_FIGURES_H
#define PEBSD_OFFCORE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/figures.h"
#include "pebsd/offcore.h"

struct offcore_figure {
	u64 count;      /* as the counter had it while it ran */
	u64 enabled_ns; /* time it should have run, while this cgroup's tasks did */
	u64 running_ns; /* time it did: less where it took turns with others */
	u64 errors;     /* readings that failed: a part of the count is not known */
};

struct offcore_figures {
	struct offcore_figure of[OFFCORE_PMUS_MAX][OFFCORE_KINDS];
};

void offcore_figures_add(struct offcore_figures *sum, const struct offcore_figures *addend);

/*
 * What the counter would have had, had it run all the time: count x enabled / running. False where that is
 * not known: a reading failed, or it never ran.
 */
bool offcore_scaled(const struct offcore_figure *figure, u64 *ret);

/* Running over enabled time of the PMU's counter that has the least; false where none was enabled. */
bool offcore_running_ratio(const struct offcore_figure figures[OFFCORE_KINDS], double *ret);

/* Core clock cycles for which a demand read was outstanding, on average (manual 18.6.3). False where one of
 * its two counters is not known, or there was no request. */
bool offcore_latency_mean(const struct offcore_figure figures[OFFCORE_KINDS], double *ret);

/*
 * To and from the row of counters that a window holds (window.h), which knows no more of them than that they
 * grow.
 */
void offcore_pack(const struct offcore_figures *figures, struct figures *ret);
void offcore_unpack(const struct figures *row, struct offcore_figures *ret);

/*
 * The same as counters that only grow. Each collection's difference is scaled by itself; one in which the
 * counter was enabled and did not run waits for the next that says how much to make of it. After a failed
 * reading a counter is no longer known, for good.
 */
struct offcore_counters {
	u64 scaled[OFFCORE_PMUS_MAX][OFFCORE_KINDS];
	struct offcore_figures waiting;
	struct offcore_figures all;
};

void offcore_counters_add(struct offcore_counters *counters, const struct offcore_figures *difference);

/* False where the counter never ran, or a reading failed. */
bool offcore_counters_get(const struct offcore_counters *counters, size_t pmu, enum offcore_kind kind,
			  u64 *ret);

#endif
