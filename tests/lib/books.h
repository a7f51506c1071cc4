// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side and a collector, set up as in the daemon, for tests on the running kernel. ("Books": the
 * ledger and the collector that fills it.)
 */
#ifndef PEBSD_TEST_BOOKS_H
#define PEBSD_TEST_BOOKS_H

#include "cgroup/names.h"
#include "collect/collect.h"
#include "collect/ledger.h"
#include "kernel/kernel.h"

struct books {
	struct kernel *kernel;
	struct names *names;
	struct ledger *ledger;
	struct collect *collect;
};

/* Opens the kernel side with `settings`, and a collector with this grace period. Fails the test on error. */
void books_open(struct books *books, const struct kernel_settings *settings, u64 grace_ns);
void books_close(struct books *books);

/* Makes one collection now. */
void books_collect(struct books *books);

/* Returns the samples of an event under a path in the ledger; 0 if the path has none. */
u64 books_samples(const struct books *books, const char *path, unsigned event);
u64 books_unattributed(const struct books *books, unsigned event);

/* Returns the counters of an event under a path. Fails the test if nothing was counted there. */
struct counters books_counters(const struct books *books, const char *path, unsigned event);

/* Returns the lost samples of an event, summed over all stripes. */
struct rejected_record books_rejected(const struct books *books, unsigned event);

/* Returns settings with one event: `has_latency` as given, 256 slots, and stripes for this machine. */
struct kernel_settings books_settings(bool has_latency);

#endif
