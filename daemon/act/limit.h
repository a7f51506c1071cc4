// SPDX-License-Identifier: GPL-2.0
/* How many actions may run at once, and how fast more may follow: a bucket of tokens. Pure. */
#ifndef PEBSD_ACT_LIMIT_H
#define PEBSD_ACT_LIMIT_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define LIMIT_BURST    20
#define LIMIT_EVERY_NS (3 * NSEC_PER_SEC)

/* All zero is a full bucket. */
struct limit {
	u64 used;    /* tokens that are not there: 0 to LIMIT_BURST */
	u64 at_ns;   /* up to when those that came back are counted */
	u64 refused; /* since the burst began */
	bool told;
};

/* Takes a token where there is one; else notes that one was refused. `now_ns` never goes back. */
bool limit_take(struct limit *limit, u64 now_ns);

/*
 * Whether to tell that tokens are being refused, and of how many so far: once for a burst, which lasts until
 * all tokens are back.
 */
bool limit_tell(struct limit *limit, u64 *ret_refused);

#endif
