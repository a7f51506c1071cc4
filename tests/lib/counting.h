// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side, a collector and the totals that it fills, set up as in the daemon, for tests on the running
 * kernel.
 */
#ifndef PEBSD_TEST_COUNTING_H
#define PEBSD_TEST_COUNTING_H

#include "cgroup/names.h"
#include "collect/collect.h"
#include "collect/totals.h"
#include "kernel/kernel.h"

struct counting {
	struct kernel *kernel;
	struct names *names;
	struct totals *totals;
	struct collect *collect;
};

/* Opens the kernel side with `settings`, and a collector with this grace period. Fails the test on error. */
void counting_open(struct counting *counting, const struct kernel_settings *settings, u64 grace_ns);
void counting_close(struct counting *counting);

/* Makes one collection now. */
void counting_collect(struct counting *counting);

/* Returns the samples of an event under a path in the totals; 0 if the path has none. */
u64 counting_samples(const struct counting *counting, const char *path, unsigned event);
u64 counting_unattributed(const struct counting *counting, unsigned event);

/* Returns the counters of an event under a path. Fails the test if nothing was counted there. */
struct counters counting_counters(const struct counting *counting, const char *path, unsigned event);

/* Returns the lost samples of an event, summed over all stripes. */
struct rejected_record counting_rejected(const struct counting *counting, unsigned event);

/* Returns settings with one event: `has_latency` as given, 256 slots, and stripes for this machine. */
struct kernel_settings counting_settings(bool has_latency);

#endif
