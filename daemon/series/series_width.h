// SPDX-License-Identifier: GPL-2.0
/*
 * The maximum number of series that one path adds to a scrape, and from it the number of paths that can have
 * series. Their product bounds what a scrape costs the host, the network and the storage. Pure.
 *
 * By default, paths, `other` and `unattributed` have at most SERIES_DEFAULT_MAX series. That keeps a scrape
 * below 4,000 series, and below 1 MB if each path is 200 bytes long. If the user sets the number of paths, all
 * of them have series, and the bound is SERIES_EACH_MAX times their number if that is more.
 */
#ifndef PEBSD_SERIES_WIDTH_H
#define PEBSD_SERIES_WIDTH_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "series/series.h"

#define SERIES_DEFAULT_MAX 3300
#define SERIES_EACH_MAX    (SERIES_DEFAULT_MAX / SERIES_TOP_DEFAULT)

/* Reserve for series that are omitted until first seen: two more sources, each with samples and latency. */
#define SERIES_WIDTH_SPARE 4

/* Lower bound of the width: the next sample may add half of an event's counters. */
#define SERIES_WIDTH_MIN 40

/* The counters that were seen in any path, or are expected. All zero: none. */
struct series_width {
	struct {
		u32 samples, latencies;            /* bits: enum source */
		u32 counters;                      /* bits: counters that are not zero */
		bool latency, instruction_latency; /* histograms */
		bool only_estimate;                /* event_is_count(): its samples have no series */
		size_t expected;
	} events[EVENTS_MAX];
	u32 offcore; /* bits: PMU and kind */
};

/*
 * Adds the counters that a sampled event of this kind usually produces, so that they are expected from the
 * start.
 */
void series_width_expect(struct series_width *width, unsigned event, const struct event *what);

/* Takes the counters of a series into account. */
void series_width_see(struct series_width *width, const struct series *series);

/* Maximum number of series per path, as far as known. Detailed snoop and TLB results are not included. */
size_t series_width_of(const struct series_width *width);

struct series_places {
	size_t top;   /* number of costliest paths that have series */
	size_t paths; /* number of paths with series at the same time, including recent members of the top */
};

/* `top`: as configured, or SERIES_TOP_AUTO. `other` and `unattributed` have series besides these paths. */
struct series_places series_places(size_t top, size_t width);

#endif
