// SPDX-License-Identifier: GPL-2.0
/* Limits how many actions may start at once, and how fast more may follow. Counts the refused ones. Pure. */
#ifndef PEBSD_ACTION_RATE_LIMIT_H
#define PEBSD_ACTION_RATE_LIMIT_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define ACTION_RATE_BURST    20
#define ACTION_RATE_EVERY_NS (3 * NSEC_PER_SEC)

/* All zero: no token was taken yet. */
struct action_rate_limit {
	u64 full_ns;   /* time at which all tokens will be back */
	u64 refused;   /* since the burst began */
	bool reported; /* action_rate_limit_report() has returned true in this burst */
};

/* Takes a token and returns true, or counts a refusal and returns false. `now_ns` must not decrease. */
bool action_rate_limit_take(struct action_rate_limit *limit, u64 now_ns);

/*
 * Returns whether to log that tokens were refused, and writes how many were refused so far. Returns true once
 * in a burst, which ends when all tokens are back.
 */
bool action_rate_limit_report(struct action_rate_limit *limit, u64 *ret_refused);

#endif
