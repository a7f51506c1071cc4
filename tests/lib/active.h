// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the engine over the real kernel side, with a given number of cgroups of which some have samples in
 * each collection. The measurement runs in a child process, which inherits the caller's memory. So the caller
 * must have used little memory so far.
 */
#ifndef PEBSD_TEST_ACTIVE_H
#define PEBSD_TEST_ACTIVE_H

#include "pebsd/types.h"

struct active_settings {
	u32 cgroups;     /* cgroups that exist */
	u32 active;      /* the first `active` of them have samples in each collection */
	u32 events;      /* 1 to 5; only the first has latency, and the third to fifth only count */
	u32 collections; /* number of collections: enough to fill the windows' history */
	u32 samples;     /* per active cgroup, event and collection */
	u32 path_length; /* bytes in the path of a cgroup */
};

struct active_result {
	u64 before_bytes;     /* RssAnon of the process before it opened anything */
	u64 opened_bytes;     /* RssAnon with programs and maps, before the first collection */
	u64 peak_bytes;       /* the peak before the first collection: kernel_start_peak() */
	u64 anonymous_bytes;  /* RssAnon at the end */
	u64 map_bytes;        /* kernel_map_bytes() */
	double collection_ms; /* of the last collection */
	double best_ms;       /* of the fastest collection */
	u64 found;            /* samples that arrived in the totals */
	u64 samples;          /* samples that were injected */
};

/* Returns 0 or -errno. -EIO: the child failed, and printed the error to standard error. */
int active_run(const struct active_settings *settings, struct active_result *ret);

#endif
