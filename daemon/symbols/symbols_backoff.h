// SPDX-License-Identifier: GPL-2.0
/*
 * Limits how often the symbolizer is restarted, and remembers the processes on which it failed. A file
 * crafted to crash it must only cost the names of its own process. Pure. All times are of one clock, in
 * nanoseconds.
 */
#ifndef PEBSD_SYMBOLS_BACKOFF_H
#define PEBSD_SYMBOLS_BACKOFF_H

#include <stdbool.h>

#include "pebsd/types.h"

/* At most SYMBOLS_BACKOFF_STARTS starts within SYMBOLS_BACKOFF_SPAN_NS. */
#define SYMBOLS_BACKOFF_STARTS  8
#define SYMBOLS_BACKOFF_SPAN_NS (60 * 1000000000ULL)

/*
 * After this number of failures on a process, each within SYMBOLS_BACKOFF_KEPT_NS of the previous one, the
 * process is barred: the symbolizer is no longer asked about it.
 */
#define SYMBOLS_BACKOFF_FAILURES 2
#define SYMBOLS_BACKOFF_KEPT_NS  (600 * 1000000000ULL)
#define SYMBOLS_BACKOFF_PIDS     64

/* All zero is the initial state. */
struct symbols_backoff {
	u64 starts[SYMBOLS_BACKOFF_STARTS]; /* ring of the latest start times; 0: none */
	unsigned int next;
	struct {
		u64 last_ns;
		u32 pid;
		u32 failures; /* 0: free entry */
	} pids[SYMBOLS_BACKOFF_PIDS];
};

/* Returns whether the symbolizer may be started now. `now_ns` is not 0. */
bool symbols_backoff_may_start(const struct symbols_backoff *backoff, u64 now_ns);
void symbols_backoff_started(struct symbols_backoff *backoff, u64 now_ns);

/*
 * Records a failure on `pid`, which is not 0. Replaces the entry with the oldest failure if all are in use.
 */
void symbols_backoff_add(struct symbols_backoff *backoff, u32 pid, u64 now_ns);
bool symbols_backoff_is_barred(const struct symbols_backoff *backoff, u32 pid, u64 now_ns);

#endif
