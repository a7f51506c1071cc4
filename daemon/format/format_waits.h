// SPDX-License-Identifier: GPL-2.0
/* What waiting for memory costs (type Waits of the interface), as text. Pure functions. */
#ifndef PEBSD_FORMAT_WAITS_H
#define PEBSD_FORMAT_WAITS_H

#include "format/line.h"

/* The figures of an object of type Waits that tables show, in the order of their columns. */
enum shown_wait {
	SHOWN_WAIT, /* percent */
	SHOWN_LOST, /* cores */
	SHOWN_USED, /* cores */
	SHOWN_CPI,
	SHOWN_MISSES,
	SHOWN_TRAFFIC, /* bytes a second */
	SHOWN_WAITS
};

/* Reads a figure of a reply or of a cgroup in it, in the unit of its column. Returns false if it is not known. */
bool waits_shown(const json_object *object, enum shown_wait which, double *ret);

/* The head of its column, and the key of --sort that sorts by it; NULL: none does. */
const char *waits_head(enum shown_wait which);
const char *waits_sort(enum shown_wait which);

/*
 * Returns true if the bounds of a figure are farther apart than the figure is large, or if it has none although the
 * reply has bounds.
 */
bool waits_wide_bounds(const json_object *object, enum shown_wait which);

/*
 * Writes the text of a column: "62.5", "3.20", "1.92G", or "-"; with FIGURE_FEW_MARK if its bounds are wide: "62?". It has at
 * most WAITS_WIDTH columns up to 99,999 cores, or 9,999 if its bounds are wide.
 */
#define WAITS_WIDTH 5
void waits_text(enum shown_wait which, bool known, bool wide, double value, char ret[TEXT_NUMBER_MAX]);

/* Explains the columns after WAIT% and CORES. */
extern const char waits_legend[];

/*
 * Writes "2.2 of 8 cores lost to memory" from the reply that has `object`. The number of CPUs is that of the events of
 * cycles and stalls in GetStatus. Returns false if the figure is not known.
 */
bool waits_cores_lost(const json_object *status, const json_object *object, char *ret, size_t size);

/*
 * Prints one line with the host's totals from the head of a reply. `seconds`: the time that they cover; 0: not
 * printed. Prints nothing if no figure is known.
 */
void format_waits_total(FILE *out, const struct format_style *style, json_object *status,
			const json_object *object, double seconds);

/* Prints all figures of a cgroup with bounds, and what they measure. Prints nothing if no figure is known. */
void format_waits(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup);

/*
 * Prints which memory a cgroup waits for, estimated from the latency of its loads, which the replies of GetStatus and
 * GetCgroup have. Prints nothing if it has no sampled load with a latency and a source.
 */
void format_waits_split(FILE *out, const struct format_style *style, json_object *status,
			json_object *cgroup);

/* Returns the events that an event of this kind counts, in words; NULL: it is not an event of counts. */
const char *waits_counted(const json_object *described);

#endif
