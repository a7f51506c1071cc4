// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups that are born and removed by the thousand a second while the engine runs as the daemon runs it:
 * collections by a timer, room for new cgroups when slots run short (slot_reclaim.h). Every cgroup has samples
 * that are its own alone, by number and latency, handed over while it lives and once after it was removed, as of
 * a task on its way out; each must be found under its cgroup's path, and nowhere else.
 *
 * Another thread makes and removes the cgroups and hands samples over. It waits where the engine's thread has
 * not run for long: a machine that is busy with others is not what is tested.
 */
#ifndef PEBSD_TEST_CHURN_H
#define PEBSD_TEST_CHURN_H

#include <stdbool.h>
#include <stdio.h>

#include "pebsd/types.h"

struct churn_settings {
	u32 slots;
	u32 rate;    /* births a second, and as many removals */
	u32 cgroups; /* born altogether */
	u64 interval_ns;
	FILE *progress; /* a line each second; NULL: none */
};

struct churn_result {
	u64 cgroups;    /* born and removed */
	double seconds; /* that took */
	u64 waits;      /* for the engine's thread */
	u64 samples;    /* handed over */
	u64 found;      /* under the path of a cgroup of this run */
	u64 nameless;   /* under any other path, `unattributed` among them */
	u64 short_of;   /* cgroups that have fewer samples than they were given */
	u64 mixed;      /* cgroups that have more, or another sum of latencies */
	u64 births_without_slot;
	u64 others;                           /* cgroups that others of this machine made meanwhile */
	u64 collections, rooms;               /* what the engine's thread did; rooms: woken for slots */
	bool told_idle;                       /* that slots run short, when all was over */
	u64 slots_taken;                      /* in the end, by cgroups of this run */
	u64 anonymous_start, anonymous_early; /* RssAnon: before, and after a tenth of the cgroups */
	u64 anonymous_end;
};

/* 0, or -errno with what failed on standard error. -ENOTSUP: there is no cgroup2 tree to make cgroups in. */
int churn(const struct churn_settings *settings, struct churn_result *ret);

#endif
