// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups have exported series of their own. Pure; tested with literals.
 *
 * At each collection a cgroup's difference goes either to its own series or to `other`, and never moves
 * between them: every series only grows, and their increases sum to the total. A series belongs to a path, so
 * a service that is stopped and started goes on in the same one.
 *
 * Which: the N costliest exported paths. Cost decays with a half-life, so that one loud second does not buy a
 * series for long and one quiet second does not lose it. Where no latency or period is measured the samples
 * decide, decayed alike; then the path, so that equal inputs give equal series.
 *
 * How long: a path counts among the N for at most SERIES_KEEP_NS after its last sample. A series takes its
 * path's differences for SERIES_KEEP_NS after the path was last among the N. Then they go to `other` again,
 * and the series is exported unchanged for SERIES_LINGER_NS more, so that a scraper sees its last increase
 * before it ends.
 *
 * Coming back: the figures of an ended series are kept, and a path that is among the N again goes on where it
 * was.
 *
 * Series are bounded, and so is memory, whatever comes and goes: no more paths are exported than make so many
 * series together as series_width.h has room for, and no more than SERIES_LIVE_FACTOR x N. The places beside
 * them are for those that leave the N and keep their series; a path that comes to the N when all are taken
 * waits in `other` until one ends. The last ones are kept for the costliest, so that small changes among the
 * least of the N do not take them. The figures of at most SERIES_ENDED_FACTOR x N ended ones are kept, those
 * that were among the N last. A path whose figures were dropped starts at 0 when it comes back, which a
 * scraper reads as the counter reset that it is.
 */
#ifndef PEBSD_SERIES_H
#define PEBSD_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/differences.h"
#include "collect/offcore_figures.h"
#include "pebsd/sample.h"
#include "state/state.h"

#define SERIES_OTHER        "other"
#define SERIES_UNATTRIBUTED "unattributed"
#define SERIES_KEEP_NS      (600ULL * 1000000000ULL)
#define SERIES_LINGER_NS    (120ULL * 1000000000ULL)
#define SERIES_HALF_LIFE_NS (60ULL * 1000000000ULL)
#define SERIES_LIVE_FACTOR  4
#define SERIES_ENDED_FACTOR 4

/* How many paths have series of their own where nobody says: SERIES_TOP_DEFAULT, or as many as fit. */
#define SERIES_TOP_DEFAULT 50
#define SERIES_TOP_AUTO    SIZE_MAX

/* Paths without a series whose cost is remembered, beyond those that have samples in a collection. */
#define SERIES_WAITING_MAX 16384

/* One cgroup's difference at a collection. */
struct series_input {
	const char *path;
	bool exported; /* include and exclude let it have a series; else its differences go to `other` */
	const struct difference *differences; /* of this path, `n_differences` of them */
	size_t n_differences;
	const struct offcore_figures *offcore; /* NULL: nothing counted. Buys no series by itself */
};

/* The table's: what of a series is to be put into the state, and where it lies there. */
struct series_kept {
	u32 id;        /* 0: no record yet, but for `other` */
	u32 moved;     /* bits: events whose figures changed */
	bool changed;  /* its standing did */
	bool counted;  /* what was counted did */
	u64 wanted_ns; /* as put last */
	struct state_ref name, standing, counters, figures[EVENTS_MAX];
};

/* One exported series; `figures[event]` is NULL until the event's first sample in it. */
struct series {
	char *path;
	u64 wanted_ns; /* when it was last among the N, CLOCK_MONOTONIC */
	double cost;   /* weighted latency, decayed with a half-life of SERIES_HALF_LIFE_NS */
	struct figures *figures[EVENTS_MAX];
	struct offcore_counters *offcore; /* NULL until something is counted */
	struct series_kept kept;
};

struct event;
struct series_table;

/* `top`: how many paths have series of their own, or SERIES_TOP_AUTO. Returns 0 or -ENOMEM; free with
 * series_table_free(). */
int series_table_new(size_t top, struct series_table **ret);
struct series_table *series_table_free(struct series_table *table);

/*
 * From now on what the table has is kept in `state`, which outlives it; the table is empty. First takes back
 * what is there, as of `now_ns`. 0; -EBADMSG: what was kept makes no sense, and the table can only be freed;
 * -ENOMEM.
 */
int series_table_keep(struct series_table *table, struct state *state, u64 now_ns);

/* Puts what changed into the state, which is to be committed then. */
void series_table_save(struct series_table *table);

/* The events that are sampled, by their numbers: how many series a path may make is known from the start. */
void series_table_expect(struct series_table *table, const struct event *events, size_t n);

/* For a reload. Takes effect with the next update; series beyond a smaller N are kept as if they left it. */
void series_table_set_top(struct series_table *table, size_t top);

/*
 * Takes the differences of one collection at `now_ns` (CLOCK_MONOTONIC; an earlier one than the last counts
 * as the last). A path may be in `inputs` more than once, as a service stopped and started within one
 * collection is; `unattributed` has slot 0's. Paths without a difference need not be in it. First decides who
 * has series, then adds. Returns 0 or -ENOMEM, which leaves the series as they were.
 */
int series_table_update(struct series_table *table, u64 now_ns, const struct series_input *inputs, size_t n,
			const struct difference *unattributed, size_t n_unattributed);

/* What was counted for slot 0 at the same collection. 0 or -ENOMEM. */
int series_table_count_unattributed(struct series_table *table, const struct offcore_figures *difference);

/* All series, in no particular order, `other` and `unattributed` among them under those names. The table's.
 */
const struct series *const *series_table_list(const struct series_table *table, size_t *ret_n);

#endif
