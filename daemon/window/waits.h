// SPDX-License-Identifier: GPL-2.0
/*
 * What waiting for memory costs: figures that are derived from the counts of cycles, instructions, stalls and
 * misses of each PMU, over some time. Pure functions.
 *
 * A cgroup's counts are estimates: samples x period. The figures of several PMUs, as of a hybrid CPU, are made
 * of the sums of their rates: each rate is scaled by the time for which its own event ran, and each PMU has its
 * own frequency.
 */
#ifndef PEBSD_WAITS_H
#define PEBSD_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"
#include "window/bounds.h"

/* Bytes of a cache line on all x86 CPUs: each miss moves one line. */
#define WAIT_LINE_BYTES 64

enum wait_figure {
	WAIT_SHARE,      /* stalls / cycles, 0 to 1: an upper bound of what memory costs */
	WAIT_CORES_USED, /* cycles a second / running frequency */
	WAIT_CORES_LOST, /* stalled cycles a second / running frequency */
	WAIT_CPI,        /* cycles / instructions */
	WAIT_MISSES,     /* per thousand instructions */
	WAIT_TRAFFIC,    /* bytes a second: misses x WAIT_LINE_BYTES */
	WAIT_FIGURES
};

/* One kind of count of one PMU over the time. */
struct wait_count {
	bool known; /* the PMU counts this, and all members are valid */
	u64 samples;
	u64 weight;            /* sum of the samples' periods */
	double weight_squared; /* sum of their squares; less than weight x weight / samples: all are equal */
	double largest;        /* the largest weight that a sample can have had; 0: not known */
	double seconds;        /* for which the event ran: the time x running ratio */
	double effect;         /* the design effect of bursts (estimate/bursts.h); INFINITY: no bounds */
};

struct wait_part {
	struct wait_count cycles, instructions, stalls, misses;
	double frequency_hz; /* the PMU's running frequency; 0: not known */
};

/* The events that count the parts of a PMU, as indexes; EVENTS_MAX: none does. */
struct wait_events {
	unsigned cycles, instructions, stalls, misses;
};

struct wait_value {
	bool known;
	double value;
	struct bounds bounds; /* as bounds.h describes them */
};

/*
 * Computes a figure, with bounds at `confidence` each, from the `n` parts of a cgroup or a sum of cgroups: one part for
 * each PMU. A figure is not known
 * - if a PMU on which the cgroup has any sample lacks a count that the figure needs, or for cores the frequency,
 * - if no PMU has a sample of a count that the figure needs, unless `largest` bounds it: then a rate is 0,
 * - or if it is a ratio and the cgroup has no sample of the denominator.
 */
void waits_figure(const struct wait_part *parts, size_t n, enum wait_figure figure, double confidence,
		  struct wait_value *ret);

/* Computes the same figure without bounds. Returns false if it is not known. */
bool waits_value(const struct wait_part *parts, size_t n, enum wait_figure figure, double *ret);

/* Returns true if the figure is an amount a second. It is only right if the parts cover a known time. */
bool wait_figure_is_rate(enum wait_figure figure);

/*
 * Limits a quotient of stalls and cycles: two estimates can have one above 1 by chance, but no cycle is stalled twice.
 */
double wait_share_limited(double share);
struct bounds wait_bounds_limited(struct bounds bounds);

/* The counts of a PMU that a figure divides. The second one is NULL for an amount a second. */
struct wait_count *wait_numerator(struct wait_part *part, enum wait_figure figure);
struct wait_count *wait_denominator(struct wait_part *part, enum wait_figure figure);

/* The same of its events. The second one is EVENTS_MAX for an amount a second. */
unsigned wait_numerator_event(const struct wait_events *events, enum wait_figure figure);
unsigned wait_denominator_event(const struct wait_events *events, enum wait_figure figure);

/* Returns "wait", "cores_used", "cores_lost", "cpi", "misses_per_thousand" or "traffic". */
const char *wait_figure_name(enum wait_figure figure);

#endif
