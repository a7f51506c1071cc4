// SPDX-License-Identifier: GPL-2.0
/* The bounds of a cgroup's figures in a window, as JSON. */
#ifndef PEBSD_EXPORT_JSON_BOUNDS_H
#define PEBSD_EXPORT_JSON_BOUNDS_H

#include "estimate/window_samples.h"
#include "export/json/json_writer.h"

/*
 * Adds "confidence" (JSON_CONFIDENCE, of each bound by itself) to each event of a cgroup's "events", and "bounds" to
 * its quantiles and sources; and the bounds of its "waits" (json_waits.h). A figure gets no bounds if its samples came
 * in too few bursts. Adds nothing if the snapshot covers the whole time, or too few collections to detect bursts.
 * `counters` are those of the cgroup.
 */
void json_put_all_bounds(struct json_writer *writer, json_object *cgroup_object,
			 const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			 const struct counters *const *counters);

/*
 * The bounds of the "waits" of rows of a table, and of the host's totals. They are the same as json_put_all_bounds()
 * adds, but computed for many rows in one pass over the window. All zero: no row has been read yet.
 */
struct json_rows {
	const struct snapshot *snapshot;
	const size_t *cgroups; /* indexes of the rows in the snapshot; NULL: its order */
	size_t n;
	size_t first, end; /* the rows that are in `counts`; the row after them is that of all cgroups */
	struct window_counts *counts;
	struct window_samples *samples;
	bool none; /* no row has bounds */
};

/* Frees what the functions below allocated. */
void json_rows_clear(struct json_rows *rows);

/* Adds the bounds to the "waits" of row `i`, or of all cgroups (json_rows_put_total()). */
void json_rows_put(struct json_writer *writer, json_object *object, struct json_rows *rows, size_t i,
		   const struct counters *const *counters);
void json_rows_put_total(struct json_writer *writer, json_object *object, struct json_rows *rows,
			 const struct counters *const *counters);

/*
 * Reads the samples of a cgroup, or of all members of a sum, in the window that the snapshot covers. Returns 0;
 * -ENODATA: it covers the whole time, or too few collections to detect bursts; or -ENOMEM.
 */
int json_window_samples(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			struct window_samples *ret);

/* Adds the bounds of one event to its object, from its samples: "confidence" and the "bounds" of its figures. */
void json_put_event_bounds(struct json_writer *writer, json_object *object,
			   const struct window_samples *samples, unsigned event);

#endif
