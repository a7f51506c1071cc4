// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of a cgroup and event that have one series each. The table is their only description: Prometheus is
 * made of it, and so is the number of series of a path (series_width.h). Arrays of counters (by source, snoop, TLB
 * result), histograms and estimates are not among them.
 */
#ifndef PEBSD_CGROUP_COUNTERS_H
#define PEBSD_CGROUP_COUNTERS_H

#include <stddef.h>

#include "collect/counters.h"

struct cgroup_counter {
	const char *family; /* of Prometheus, without "_total" */
	const char *help;
	u64 (*value)(const struct counters *counters);
	bool of_loads;   /* other events do not have it */
	bool of_latency; /* events without latency do not have it */
};

/* Maximum number of counters: a bit each, and one for the estimate. */
#define CGROUP_COUNTERS_MAX 31

const struct cgroup_counter *cgroup_counters(size_t *ret_n);

#endif
