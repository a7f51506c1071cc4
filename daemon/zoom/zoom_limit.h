// SPDX-License-Identifier: GPL-2.0
/* Loads the limiter of a zoom, bpf/zoom.bpf.c. */
#ifndef PEBSD_ZOOM_LIMIT_H
#define PEBSD_ZOOM_LIMIT_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct zoom_limit;

struct zoom_limit_settings {
	u32 rate;      /* maximum samples a second on all CPUs together, above 0 */
	u8 operations; /* PERF_MEM_OP_*: a sample must have one of them; 0: no restriction */
};

/*
 * Returns the spacing of samples in nanoseconds that allows at most `rate` samples in any one second. A burst
 * may run ZOOM_BURST_NS ahead: n samples take at least (n - 1) spacings minus that burst. Pure.
 */
u64 zoom_limit_spacing(u32 rate);

/*
 * The decision of the program for one sample at `now_ns`: returns whether it is within the limit, and advances
 * `due_ns`, the time at which the next sample is due at the full rate. For sources whose samples do not come from
 * the kernel. Pure.
 */
bool zoom_limit_within(u64 *due_ns, u64 spacing_ns, u64 now_ns);

/*
 * Loads the program. Returns 0 or -errno. On an error, `*ret_message`, which the caller frees, says what
 * failed. It is NULL if only the error is known.
 */
int zoom_limit_open(const struct zoom_limit_settings *settings, struct zoom_limit **ret, char **ret_message);
struct zoom_limit *zoom_limit_free(struct zoom_limit *limit);
DEFINE_CLEANUP(struct zoom_limit *, zoom_limit_free)

/* The program to attach. `limit` owns the descriptor. */
int zoom_limit_fd(const struct zoom_limit *limit);

/* Sums the counters of all CPUs from mapped memory, without a system call. */
void zoom_limit_counts(const struct zoom_limit *limit, u64 *ret_seen, u64 *ret_limited);

/* Bytes of the counters. */
u64 zoom_limit_bytes(const struct zoom_limit *limit);

#endif
