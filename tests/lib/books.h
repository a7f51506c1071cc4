// SPDX-License-Identifier: GPL-2.0
/* The kernel side with a collector over it, as the daemon has them, for tests in the running kernel. */
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

/* Opens the kernel side as `settings` say, with a collector of that grace. Fails the test on error. */
void books_open(struct books *books, const struct kernel_settings *settings, u64 grace_ns);
void books_close(struct books *books);

/* One collection now. */
void books_collect(struct books *books);

/* Samples of an event in the ledger under a path; 0 where the path has none. */
u64 books_samples(const struct books *books, const char *path, unsigned event);
u64 books_unattributed(const struct books *books, unsigned event);

/* All that an event counted there, which something did. */
struct figures books_figures(const struct books *books, const char *path, unsigned event);

/* What an event lost, all stripes together. */
struct loss_record books_losses(const struct books *books, unsigned event);

/* Settings with one event; has_latency as given, 256 slots, stripes for this machine. */
struct kernel_settings books_settings(bool has_latency);

#endif
