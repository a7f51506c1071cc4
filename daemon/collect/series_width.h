// SPDX-License-Identifier: GPL-2.0
/*
 * How many series of a scrape one path makes, at most, and so how many paths can have some: what a scrape
 * costs the host, the network and whoever stores it is bounded by their product. Pure.
 *
 * By default SERIES_DEFAULT_MAX series are for paths, which leaves a scrape below 4,000 series, and below
 * 1 MB where each path is 200 bytes long. Where a person says how many paths are to have series, these always
 * have them, and the bound is SERIES_EACH_MAX times their number where that is more.
 */
#ifndef PEBSD_SERIES_WIDTH_H
#define PEBSD_SERIES_WIDTH_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/series.h"
#include "origin/event.h"

#define SERIES_DEFAULT_MAX 3300
#define SERIES_EACH_MAX    (SERIES_DEFAULT_MAX / SERIES_TOP_DEFAULT)

/* What is left out until it is first seen, may come: two more sources, each with samples and latency. */
#define SERIES_WIDTH_SPARE 4

/* No less is assumed: half of an event's counters may come with the next sample. */
#define SERIES_WIDTH_MIN 40

/* What was seen of any path, or is to be expected. Zeroed: nothing. */
struct series_width {
	struct {
		u32 samples, latencies;            /* bits: enum source */
		u32 counters;                      /* bits: of each counter that is not zero */
		bool latency, instruction_latency; /* histograms */
		size_t expected;
	} events[EVENTS_MAX];
	u32 offcore; /* bits: PMU and kind */
};

/* An event that is sampled: what such events usually bring is expected from the start. */
void series_width_expect(struct series_width *width, unsigned event, const struct event *what);

/* Takes what a series has into account. */
void series_width_see(struct series_width *width, const struct series *series);

/* Series that a path makes at most, as far as can be told. Snoop and TLB results in detail are not in it. */
size_t series_width_of(const struct series_width *width);

struct series_places {
	size_t top;   /* so many, the costliest, have series */
	size_t paths; /* so many have series at once, those among them that were among the costliest lately */
};

/* `top`: as asked for, or SERIES_TOP_AUTO. `other` and `unattributed` are beside the paths. */
struct series_places series_places(size_t top, size_t width);

#endif
