// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic and latency over aligned bins of time, out of a window: what each cgroup was served by the levels
 * that cgroups share (the L3 and all behind it), and how long the loads of one of them took. Pure.
 *
 * A fill buffer's hits are not in it: their line was asked for by another load or a prefetcher, and whether
 * of the L2 or the memory is not told.
 */
#ifndef PEBSD_TRAFFIC_H
#define PEBSD_TRAFFIC_H

#include "window/window.h"

struct traffic_settings {
	u64 span_ns;
	u64 bin_ns;         /* wanted; a bin is whole collections, of which it has at least one */
	u32 entry;          /* whose latency */
	u32 events;         /* bits, 1 << event: whose samples are traffic */
	u32 latency_events; /* those of which the one with most latencies of `entry` is taken; not 0 */
	u64 samples_min;    /* latencies of a bin that has a mean; at least 2 */
};

struct traffic {
	size_t n;        /* bins, oldest first */
	u64 covered_ns;  /* by them; a last one of less than half of `bin_ns` is left out */
	unsigned event;  /* of the latency */
	double *latency; /* mean cycles; NAN with fewer samples, and where the bin is more than twice `bin_ns`
			  */
	double *error;   /* its standard error, from the histogram; NAN alike */
	size_t n_points;
	struct traffic_point {
		u32 entry;
		u32 bin;
		double traffic; /* sum of the periods of samples of shared levels, a second; their number
				 * where no period is told */
	} * points;             /* ascending by entry, then bin; without one the traffic is 0 */
};

/* 0, -ENODATA where no collection is held, or -ENOMEM; free with traffic_free(). */
int traffic_new(const struct window *window, const struct traffic_settings *settings, struct traffic **ret);
struct traffic *traffic_free(struct traffic *traffic);
DEFINE_CLEANUP(struct traffic *, traffic_free)

#endif
