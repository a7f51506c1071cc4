// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and removes cgroups, thousands per second, while the engine runs as in the daemon: it collects by a
 * timer, and reclaims slots when they run short (slot_reclaim.h).
 *
 * Each cgroup has samples whose number and latency identify it. They are injected while it lives and once
 * after its removal, as if from an exiting task. Each sample must be found under the path of its cgroup and
 * nowhere else.
 *
 * A second thread creates and removes the cgroups and injects the samples. It waits if the engine's thread
 * has not run for long, because the test is not about busy machines.
 */
#ifndef PEBSD_TEST_CHURN_H
#define PEBSD_TEST_CHURN_H

#include <stdbool.h>
#include <stdio.h>

#include "pebsd/types.h"

struct churn_settings {
	u32 slots;
	u32 rate;    /* cgroups created per second, and as many removed */
	u32 cgroups; /* cgroups to create in all */
	u64 interval_ns;
	FILE *progress; /* gets a line per second; NULL: none */
};

struct churn_result {
	u64 cgroups;    /* created and removed */
	double seconds; /* duration */
	u64 waits;      /* times that the churn waited for the engine's thread, or was late itself */
	u64 samples;    /* samples injected */
	u64 found;      /* samples under the path of a cgroup of this run */
	u64 nameless;   /* samples under any other path, including `unattributed` */
	u64 short_of;   /* cgroups with fewer samples than were injected */
	u64 mixed;      /* cgroups with more samples, or another sum of latencies */
	u64 births_without_slot;
	u64 others;             /* cgroups that other programs created meanwhile */
	u64 collections, rooms; /* of the engine's thread: collections, and wakeups to reclaim slots */
	bool told_idle;         /* after the end, the engine still reported that slots run short */
	u64 slots_taken;        /* slots still taken by cgroups of this run at the end */
	u64 anonymous_start, anonymous_early; /* RssAnon before, and after a tenth of the cgroups */
	u64 anonymous_end;
};

/*
 * Returns 0, or -errno after printing the error to standard error. -ENOTSUP: there is no cgroup2 tree in which
 * cgroups can be created.
 */
int churn(const struct churn_settings *settings, struct churn_result *ret);

#endif
