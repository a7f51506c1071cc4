// SPDX-License-Identifier: GPL-2.0
/* What the series (series.c) and keeping them (series_state.c) share. */
#ifndef PEBSD_SERIES_PARTS_H
#define PEBSD_SERIES_PARTS_H

#include "collect/paths.h"
#include "collect/series_width.h"

/* Numbers of series in records. */
#define SERIES_ID_OTHER        0
#define SERIES_ID_UNATTRIBUTED 1
#define SERIES_ID_PATHS        2 /* and above: paths */

struct series_table {
	size_t top; /* may be SERIES_TOP_AUTO */
	size_t top_largest;
	struct series_width width;
	u64 now_ns;

	struct paths paths;
	struct series other;
	struct series unattributed;
	const struct series **list;
	size_t n_list;

	/* Scratch of the update under way. */
	struct path **owners; /* of each input; NULL: not exported */
	struct path **best;   /* the N, the costliest first; room for all that could be */
	size_t n_best;
	struct figures **spare; /* zeroed */
	size_t n_spare;
	size_t n_ended, n_waiting; /* paths of that standing */
	bool some_idle;            /* one waits that is to be forgotten */

	struct state *state; /* not owned; NULL: nothing is kept */
	u32 next_id;         /* of a path with records */
};

/* Removes what the state has of a series, or of its figures. */
void series_forget(struct series_table *table, struct series *series);
void series_forget_figures(struct series_table *table, struct series *series);

#endif
