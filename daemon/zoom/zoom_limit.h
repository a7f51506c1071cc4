// SPDX-License-Identifier: GPL-2.0
/* The limiter of a zoom, loaded: bpf/zoom.bpf.c. */
#ifndef PEBSD_ZOOM_LIMIT_H
#define PEBSD_ZOOM_LIMIT_H

#include "base/cleanup.h"
#include "pebsd/types.h"

struct zoom_limit;

struct zoom_limit_settings {
	u32 rate;      /* samples a second on all CPUs together, above 0 */
	u8 operations; /* PERF_MEM_OP_* of which a sample must have one; 0: all are taken */
};

/*
 * Nanoseconds from one sample to the next that make it no more than `rate` in any one second, although a
 * burst may run ZOOM_BURST_NS ahead: n samples take at least (n - 1) of them less the burst. Pure.
 */
u64 zoom_limit_spacing(u32 rate);

/* Loads. 0, or -errno with `ret_message`, the caller's (NULL: no memory). */
int zoom_limit_open(const struct zoom_limit_settings *settings, struct zoom_limit **ret, char **ret_message);
struct zoom_limit *zoom_limit_free(struct zoom_limit *limit);
DEFINE_CLEANUP(struct zoom_limit *, zoom_limit_free)

/* The program to attach. The limit's. */
int zoom_limit_fd(const struct zoom_limit *limit);

/* Summed over all CPUs, from mapped memory: no system call. */
void zoom_limit_counts(const struct zoom_limit *limit, u64 *ret_seen, u64 *ret_limited);

/* Bytes of its maps. */
u64 zoom_limit_bytes(const struct zoom_limit *limit);

#endif
