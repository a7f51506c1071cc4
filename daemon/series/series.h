// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which cgroups have exported series of their own. Pure; tested with literals.
 *
 * At each collection a cgroup's delta goes either to its own series or to `other`, and never moves between
 * them. So every series only grows, and their increases sum to the total. A series belongs to a path: a service
 * that is stopped and started continues the same series.
 *
 * Which paths: the N costliest exported paths. Cost decays with a half-life, so that one loud second does not
 * buy a series for long and one quiet second does not lose it. If latency or period is not measured, the number
 * of samples decides, with the same decay. Ties are broken by path, so that equal inputs give equal series.
 *
 * How long: a path counts among the N for at most SERIES_KEEP_NS after its last sample. Its series takes its
 * deltas for SERIES_KEEP_NS after the path was last among the N. Then its deltas go to `other` again.
 * The series is exported unchanged for another SERIES_LINGER_NS, so that a scraper sees its last increase
 * before it ends.
 *
 * Return: the counters of an ended series are kept. If its path is among the N again, the series continues from them.
 *
 * Bounds: series_width.h and SERIES_LIVE_FACTOR x N both limit the number of exported paths, so the number of
 * series and the memory are bounded. The places beyond N are for paths that leave the N and keep their series.
 * A path that joins the N when all places are taken waits in `other` until a place is free. Some of the places
 * are reserved for the costliest paths, so that small changes at the lower end of the N do not take all of
 * them. Counters are kept for at most SERIES_ENDED_FACTOR x N ended series (N is the largest so far): for those
 * that were among the N most recently. A path whose counters were dropped starts at 0 when it returns, which a
 * scraper correctly reads as a counter reset.
 */
#ifndef PEBSD_SERIES_H
#define PEBSD_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/deltas.h"
#include "collect/offcore_counts.h"
#include "collect/totals.h"
#include "pebsd/sample.h"
#include "state/state.h"

#define SERIES_KEEP_NS      (600ULL * 1000000000ULL)
#define SERIES_LINGER_NS    (120ULL * 1000000000ULL)
#define SERIES_HALF_LIFE_NS (60ULL * 1000000000ULL)
#define SERIES_LIVE_FACTOR  4
#define SERIES_ENDED_FACTOR 4

/*
 * Default number of paths with series of their own. SERIES_TOP_AUTO: SERIES_TOP_DEFAULT, or fewer if not all fit.
 */
#define SERIES_TOP_DEFAULT 50
#define SERIES_TOP_AUTO    SIZE_MAX

/*
 * Maximum number of paths without a series whose cost is remembered. Beyond it, paths without samples in the present
 * collection are forgotten. SERIES_WAITING_BYTES limits the memory of all paths without a series between collections:
 * beyond it, the cheapest paths are forgotten. The cost of a forgotten path starts at 0 again.
 */
#define SERIES_WAITING_MAX   16384
#define SERIES_WAITING_BYTES (32UL << 20)

/* The delta of one cgroup at a collection. */
struct series_input {
	const char *path;
	bool exported;              /* include and exclude allow a series; else its deltas go to `other` */
	const struct delta *deltas; /* of this path, `n_deltas` of them */
	size_t n_deltas;
	const struct offcore_counts *offcore; /* NULL: nothing counted. Does not add to the cost */
};

/* Owned by the table: the parts of a series that are still to be saved, and their records in the state. */
struct series_saved {
	u32 id;             /* 0: no record yet, except for `other` */
	u32 moved;          /* bits: events whose counters changed */
	bool changed;       /* the standing or cost of the series changed */
	bool offcore_moved; /* the off-core counts of the series changed */
	u64 wanted_ns;      /* as last saved */
	struct state_ref name, standing, offcore, estimates, counters[EVENTS_MAX];
};

/* One exported series. `counters[event]` is NULL until the event's first sample in it. */
struct series {
	char *path;
	u64 wanted_ns; /* time at which the path was last among the N, CLOCK_MONOTONIC */
	double cost;   /* weighted latency, decays with a half-life of SERIES_HALF_LIFE_NS */
	struct counters *counters[EVENTS_MAX];
	struct offcore_scaled_counts *offcore; /* NULL until something is counted */
	/*
	 * By event: how often it happened, if event_role_is_estimate(). Each collection adds its weight times the
	 * factor of series_table_scale(), so an estimate never falls. After 2^64 it begins again at 0, which a
	 * scraper reads as a counter reset. NULL until the first sample of such an event.
	 */
	u64 *estimates;
	struct series_saved saved;
};

struct event;
struct series_table;

/*
 * `top`: number of paths with series of their own, or SERIES_TOP_AUTO. Returns 0 or -ENOMEM. Free with
 * series_table_free().
 */
int series_table_new(size_t top, struct series_table **ret);
struct series_table *series_table_free(struct series_table *table);

/*
 * Restores the table, which must be empty, from `state` as of `now_ns`, and from now on saves its changes
 * there. `state` outlives the table. Returns 0 or -ENOMEM; -EBADMSG: the saved state is not valid, and the
 * table can only be freed.
 */
int series_table_restore(struct series_table *table, struct state *state, u64 now_ns);

/* Writes changes to the state. The caller then commits the state. */
void series_table_save(struct series_table *table);

/* Sets the sampled events, by number, so that the number of series per path is known from the start. */
void series_table_expect(struct series_table *table, const struct event *events, size_t n);

/*
 * Sets the factor for the estimates of an event (see struct series) from the next update on: the enabled time
 * divided by the running time that this update's deltas cover. 1 until it is set.
 */
void series_table_scale(struct series_table *table, unsigned event, double factor);

/*
 * Changes N at a reload. Takes effect with the next update. Series beyond a smaller N are treated as if they
 * had left the N.
 */
void series_table_set_top(struct series_table *table, size_t top);

/*
 * Adds the deltas of one collection at `now_ns` (CLOCK_MONOTONIC; never earlier than the last one). A
 * path may occur more than once in `inputs`, for example a service that is stopped and started within one
 * collection. Paths without a delta may be omitted. `unattributed` has the deltas of slot 0. Decides
 * first which paths have series, then adds. Returns 0 or -ENOMEM, which leaves the series as they were.
 */
int series_table_update(struct series_table *table, u64 now_ns, const struct series_input *inputs, size_t n,
			const struct delta *unattributed, size_t n_unattributed);

/* Adds the off-core counts of slot 0 at the same collection. Returns 0 or -ENOMEM. */
int series_table_count_unattributed(struct series_table *table, const struct offcore_counts *delta);

/* All series in no particular order, including those named `other` and `unattributed`. Owned by the table. */
const struct series *const *series_table_list(const struct series_table *table, size_t *ret_n);

#endif
