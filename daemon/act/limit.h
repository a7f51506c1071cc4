// SPDX-License-Identifier: GPL-2.0
/* Limits how many actions may start at once, and how fast more may follow. Counts the refused ones. Pure. */
#ifndef PEBSD_ACT_LIMIT_H
#define PEBSD_ACT_LIMIT_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define LIMIT_BURST    20
#define LIMIT_EVERY_NS (3 * NSEC_PER_SEC)

/* All zero: no token was taken yet. */
struct limit {
	u64 full_ns;   /* time at which all tokens will be back */
	u64 refused;   /* since the burst began */
	bool reported; /* limit_report() has returned true in this burst */
};

/* Takes a token and returns true, or counts a refusal and returns false. `now_ns` must not decrease. */
bool limit_take(struct limit *limit, u64 now_ns);

/*
 * Returns whether to log that tokens were refused, and writes how many were refused so far. Returns true once
 * in a burst, which ends when all tokens are back.
 */
bool limit_report(struct limit *limit, u64 *ret_refused);

#endif
