// SPDX-License-Identifier: GPL-2.0
/* What the live top shows, out of the daemon's replies, as plain figures. Pure. */
#ifndef PEBSD_CTL_TOP_TABLE_H
#define PEBSD_CTL_TOP_TABLE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "format/figure.h"
#include "format/trend_line.h"

struct top_number {
	bool known;
	bool over; /* only that it is above `value` is known */
	double value;
};

struct top_row {
	char *name;                /* as the daemon tells it: may hold what must not go to a terminal */
	char *visible;             /* the same as it can */
	u64 members;               /* it is a sum of so many cgroups; 0: its own figures */
	bool guest;                /* a virtual machine: the host's side alone */
	struct top_number samples; /* a second, or all (top_table.per_second) */
	struct top_number share;   /* percent of weighted latency, or of weighted samples */
	struct top_number mean, p50, p99;
	struct top_number hitm; /* percent */
	bool has_sources;
	u64 groups[FIGURE_GROUPS];
	bool has_trend;
	struct trend_line trend;
};

struct top_table {
	char *event; /* visible key of the event that all is of; NULL: there is none */
	size_t event_index, n_events;
	char *about;           /* what its samples are, in words */
	bool latency, sources; /* that a sample of it has */
	bool per_second;
	char *origin;
	bool paused;
	struct top_number window;       /* seconds; not known: all the time */
	struct top_number rate;         /* samples a second, all events */
	struct top_number cost;         /* percent of a CPU's time, the busiest */
	struct top_number unattributed; /* samples */
	u64 without_slot;               /* cgroups */
	u64 firing;                     /* alerts */
	char *lost;
	u64 matching; /* cgroups that there are, of which `n` from `first` on are here */
	size_t first, n;
	struct top_row *rows;
};

/*
 * Of the replies of GetStatus and GetTop, the `event_index`-th of whose events it is; further on than there
 * are is the last. 0 or -ENOMEM; free with top_table_done().
 */
int top_table_read(json_object *status, json_object *top, size_t event_index, struct top_table *ret);
void top_table_done(struct top_table *table);

/* The key of an event as the daemon knows it; NULL: it has none. Borrowed. */
const char *top_event_key(json_object *status, size_t event_index);

#endif
