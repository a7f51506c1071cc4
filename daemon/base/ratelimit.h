// SPDX-License-Identifier: GPL-2.0
/* A rate limit that permits bursts: a token bucket. Pure. */
#ifndef PEBSD_RATELIMIT_H
#define PEBSD_RATELIMIT_H

#include "pebsd/types.h"

struct ratelimit {
	u64 every_ns; /* interval at which one token returns */
	u64 burst;    /* maximum number of tokens, also at the start */
	u64 full_ns;  /* time at which all tokens will be back; 0 at the start */
};

/*
 * Takes a token and returns 0. If there is none, takes none and returns the nanoseconds until the next one.
 * `now_ns` never goes back.
 */
u64 ratelimit_take(struct ratelimit *limit, u64 now_ns);

#endif
