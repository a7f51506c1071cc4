// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of an event as a whole (origin/event_counts.h), as users see them. The table is their only description:
 * the snapshot, JSON and Prometheus are made of it.
 */
#ifndef PEBSD_EVENT_FIGURES_H
#define PEBSD_EVENT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"
#include "window/readings.h"

/* When a count is known. */
enum event_figure_known {
	FIGURE_ALWAYS,
	FIGURE_IF_COUNTED,   /* if the origin counts: perf does, a replay does not */
	FIGURE_IF_THROTTLES, /* if throttling was observed all the time */
	FIGURE_IF_FILTERED,  /* if the event excludes operations */
};

/* The JSON object that has the figure. */
enum event_figure_place {
	FIGURE_NOWHERE,
	FIGURE_IN_EVENT,     /* an event in `status` */
	FIGURE_IN_SAMPLES,   /* `samples`, of one event or of all */
	FIGURE_IN_LOST,      /* `lost` in `samples` */
	FIGURE_IN_UNSAMPLED, /* `unsampled_seconds` in `samples` */
};

struct event_figure {
	size_t count; /* offset in struct reading */
	size_t member; /* offset in struct snapshot_event: a struct maybe_double if `seconds`, else a maybe_u64 */
	bool seconds; /* the count has nanoseconds */
	enum event_figure_known known;
	enum event_figure_place place;
	const char *key;    /* in `place` */
	const char *family; /* counter of Prometheus, without "_total"; NULL: none */
	const char *help;   /* of the first figure of the family */
	const char *label;  /* NULL: none */
};

/* All figures. Figures of the same place follow each other, and so do figures of the same family. */
const struct event_figure *event_figures(size_t *ret_n);

/* Sets all figures of an event. Its `event` must be set. */
void event_figures_take(struct snapshot_event *event, const struct reading *reading);

struct event_figure_value {
	bool known;
	u64 count;      /* 0 if the figure is in seconds */
	double seconds; /* 0 if it is not */
};

/* Returns the figure of an event. If it is not known, `count` and `seconds` are 0. */
struct event_figure_value event_figure_of(const struct snapshot_event *event,
					  const struct event_figure *figure);

#endif
