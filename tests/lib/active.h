// SPDX-License-Identifier: GPL-2.0
/*
 * What the engine takes over the real kernel side with so many cgroups, of which so many have samples in each
 * collection: in a process of its own, that starts with nothing.
 */
#ifndef PEBSD_TEST_ACTIVE_H
#define PEBSD_TEST_ACTIVE_H

#include "pebsd/types.h"

struct active_settings {
	u32 cgroups;     /* that exist */
	u32 active;      /* of them, the first so many: have samples in each collection */
	u32 events;      /* 1 or 2; the second is without latency */
	u32 collections; /* as many as fill what is held for windows */
	u32 samples;     /* of each active cgroup and event in each collection */
	u32 path_length; /* of a cgroup, bytes */
};

struct active_result {
	u64 before_bytes;     /* RssAnon of the process before it opened anything */
	u64 opened_bytes;     /* with programs and maps, before the first collection */
	u64 peak_bytes;       /* the most until then: kernel_start_peak() */
	u64 anonymous_bytes;  /* in the end */
	u64 map_bytes;        /* kernel_map_bytes() */
	double collection_ms; /* the last one */
	double best_ms;       /* the quickest one */
	u64 found;            /* samples that came of those handed over, */
	u64 samples;          /* all of them */
};

/* 0, or -errno with what failed on standard error. */
int active_run(const struct active_settings *settings, struct active_result *ret);

#endif
