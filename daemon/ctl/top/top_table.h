// SPDX-License-Identifier: GPL-2.0
/* The daemon's replies as the plain values that the live top shows. Pure functions. */
#ifndef PEBSD_CTL_TOP_TABLE_H
#define PEBSD_CTL_TOP_TABLE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "format/figure.h"
#include "format/format_waits.h"
#include "format/trend_line.h"

struct top_number {
	bool known;
	bool over; /* the number is above `value`; nothing more is known */
	bool few;  /* too few samples: shown with FIGURE_FEW_MARK */
	double value;
};

struct top_row {
	char *name;                /* from the daemon: may contain bytes that are unsafe on a terminal */
	char *visible;             /* the short name, or else `name`, in a form that is safe to print */
	char *path;                /* `name` in a form that is safe to print */
	u64 members;               /* number of cgroups in this sum; 0: a single cgroup */
	bool guest;                /* a virtual machine: only the host's side is sampled */
	struct top_number samples; /* per second, or the total (top_table.per_second) */
	struct top_number share;   /* percent of the weighted latency, or of weighted samples */
	struct top_number mean, p50, p99;
	struct top_number hitm; /* percent */
	struct top_number waits[SHOWN_WAITS];
	bool has_sources;
	u64 groups[FIGURE_GROUPS];
	bool has_trend;
	struct trend_line trend;
};

struct top_table {
	char *event; /* key of the event of this table, safe to print; NULL: there is none */
	size_t event_index, n_events;
	char *about;             /* description of the event's samples */
	bool latency, sources;   /* whether the event measures latencies, and whether data sources */
	bool has_waits;          /* the reply has the cost of waiting for the host */
	bool waits[SHOWN_WAITS]; /* whether any row has the figure */
	char cores_lost[64];     /* of the whole host, in words; "": not known */
	bool per_second;
	char *origin;
	bool paused;
	struct top_number window;       /* seconds; not known: the whole time */
	struct top_number rate;         /* samples per second, of all events */
	struct top_number cost;         /* percent of the busiest CPU's time, for all events */
	struct top_number unattributed; /* samples */
	u64 without_slot;               /* cgroups */
	u64 firing;                     /* alerts */
	char *lost;
	u64 matching; /* cgroups that match the filter; `rows` has `n` of these, from number `first` on */
	size_t first, n;
	struct top_row *rows;
};

/*
 * Makes the table of one event from the replies of GetStatus and GetTop. If `event_index` is too large, the
 * last event is taken. Returns 0 or -ENOMEM; free with top_table_done().
 */
int top_table_read(json_object *status, json_object *top, size_t event_index, struct top_table *ret);
void top_table_done(struct top_table *table);

/* Returns the number of rows of the whole table; 2^64 - 1 if it was never read. */
u64 top_table_rows(const struct top_table *table);

/* Returns the daemon's key of an event, borrowed; NULL: there is none. */
const char *top_event_key(json_object *status, size_t event_index);

#endif
