// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups have exported series of their own. Pure; tested with literals.
 *
 * At each collection a cgroup's difference goes either to its own series or to `other`, and never moves
 * between them: every series only grows, and their increases sum to the total. A series belongs to a path, so
 * a service that is stopped and started goes on in the same one. The costliest N paths have series; a path
 * keeps its own for `keep_ns` after it left the N or died.
 */
#ifndef PEBSD_SERIES_H
#define PEBSD_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/figures.h"
#include "pebsd/sample.h"

#define SERIES_OTHER        "other"
#define SERIES_UNATTRIBUTED "unattributed"
#define SERIES_KEEP_NS      (600ULL * 1000000000ULL)

/* One cgroup's difference at a collection. */
struct series_input {
	const char *path;
	bool exported; /* include and exclude of the configuration let it have a series */
	const struct figures *differences[EVENTS_MAX]; /* NULL: no sample of that event */
};

/* One exported series; `figures[event]` is NULL until the event's first sample in it. */
struct series {
	char *path;
	u64 wanted_ns; /* when it was last among the N, CLOCK_MONOTONIC */
	double cost;   /* weighted latency, decayed with a half-life of SERIES_HALF_LIFE_NS */
	struct figures *figures[EVENTS_MAX];
};

#define SERIES_HALF_LIFE_NS (60ULL * 1000000000ULL)

struct series_table;

/* `top`: how many paths have series of their own. Returns 0 or -ENOMEM; free with series_table_free(). */
int series_table_new(size_t top, struct series_table **ret);
struct series_table *series_table_free(struct series_table *table);

/* For a reload. Takes effect with the next update. */
void series_table_set_top(struct series_table *table, size_t top);

/*
 * Takes the differences of one collection at `now_ns` (CLOCK_MONOTONIC, not before the last one's). `inputs`
 * has each path at most once; `unattributed` has slot 0's. Paths without a difference need not be in it.
 * First decides who has series, then adds. Returns 0 or -ENOMEM, which leaves the table as it was.
 */
int series_table_update(struct series_table *table, u64 now_ns, const struct series_input *inputs, size_t n,
			const struct figures *const unattributed[EVENTS_MAX]);

/* All series, in no particular order, `other` and `unattributed` among them under those names. The table's.
 */
const struct series *const *series_table_list(const struct series_table *table, size_t *ret_n);

#endif
