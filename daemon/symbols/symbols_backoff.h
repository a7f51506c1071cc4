// SPDX-License-Identifier: GPL-2.0
/*
 * How often the symbolizer may be started anew, and of which processes it failed: a file that is made to
 * crash it shall cost the names of its process and no more. Pure; times are of one clock, nanoseconds.
 */
#ifndef PEBSD_SYMBOLS_BACKOFF_H
#define PEBSD_SYMBOLS_BACKOFF_H

#include <stdbool.h>

#include "pebsd/types.h"

/* Starts within SYMBOLS_BACKOFF_SPAN_NS. */
#define SYMBOLS_BACKOFF_STARTS  8
#define SYMBOLS_BACKOFF_SPAN_NS (60 * 1000000000ULL)

/* So many failures of a process, each within SYMBOLS_BACKOFF_KEPT_NS of the one before, and it is asked of no
 * more. */
#define SYMBOLS_BACKOFF_FAILURES 2
#define SYMBOLS_BACKOFF_KEPT_NS  (600 * 1000000000ULL)
#define SYMBOLS_BACKOFF_PIDS     64

/* All zero: nothing has happened. */
struct symbols_backoff {
	u64 starts[SYMBOLS_BACKOFF_STARTS]; /* the latest, in a ring; 0: none */
	unsigned int next;
	struct {
		u64 last_ns;
		u32 pid;
		u32 failures; /* 0: free */
	} pids[SYMBOLS_BACKOFF_PIDS];
};

/* Whether it may be started now. `now_ns` is not 0. */
bool symbols_backoff_may_start(const struct symbols_backoff *backoff, u64 now_ns);
void symbols_backoff_started(struct symbols_backoff *backoff, u64 now_ns);

/* A failure at what was about `pid`, which is not 0; the one that is blamed longest ago makes room. */
void symbols_backoff_add(struct symbols_backoff *backoff, u32 pid, u64 now_ns);
bool symbols_backoff_is_barred(const struct symbols_backoff *backoff, u32 pid, u64 now_ns);

#endif
