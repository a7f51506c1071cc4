// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic and latency in time bins, from a window. The latency is that of one cgroup's loads. Pure.
 *
 * If misses of the last level cache are sampled, the traffic of a cgroup is its misses, a line of 64 bytes each.
 * Otherwise it is its samples of loads from memory levels that cgroups share (the L3 and everything beyond it).
 * Hits in a fill buffer are not included: another load or a prefetcher requested the line, and the level that
 * served this request, the L2 or memory, is not known.
 */
#ifndef PEBSD_TRAFFIC_H
#define PEBSD_TRAFFIC_H

#include "window/readings.h"
#include "window/window.h"

struct traffic_settings {
	u64 span_ns;
	u64 bin_ns; /* wanted length; a bin consists of whole collections, at least one */
	u32 entry;  /* the cgroup whose latency is computed */
	u32 events; /* bits, 1 << event: events of loads whose samples are traffic; 0 with `misses` */
	u32 misses; /* bits: events of misses, which are the traffic; 0: it is the samples of `events` */
	const struct readings *readings; /* for the times that `misses` ran; NULL: they ran all the time */
	u32 latency_events; /* candidates, not 0: the event with most latencies of `entry` is used */
	u64 samples_min;    /* minimum number of latencies for a bin to have a mean; at least 2 */
};

struct traffic {
	size_t n;        /* number of bins, oldest first */
	u64 covered_ns;  /* by all bins; a last bin shorter than half of `bin_ns` is dropped */
	unsigned event;  /* the event whose latency was used */
	double *latency; /* mean cycles; NAN with too few samples or a bin longer than twice `bin_ns` */
	double *error;   /* standard error of `latency`, from the histogram; NAN if `latency` is NAN */
	size_t n_points;
	struct traffic_point {
		u32 entry;
		u32 bin;
		/*
		 * With `misses`: bytes per second, scaled for the time that the event did not run. Otherwise
		 * per second: sum of the periods of the samples from shared levels, or their number if
		 * periods are unknown.
		 */
		double traffic;
	} * points; /* ascending by entry, then bin; a missing point means no traffic */
};

/* Returns 0 or -ENOMEM; -ENODATA if the window has no collection. Free with traffic_free(). */
int traffic_new(const struct window *window, const struct traffic_settings *settings, struct traffic **ret);
struct traffic *traffic_free(struct traffic *traffic);
DEFINE_CLEANUP(struct traffic *, traffic_free)

#endif
