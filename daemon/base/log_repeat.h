// SPDX-License-Identifier: GPL-2.0
/*
 * A fault that goes on is told a few times, and not a thousand times: which messages are said, and how many
 * of the same were left out. Pure.
 */
#ifndef PEBSD_LOG_REPEAT_H
#define PEBSD_LOG_REPEAT_H

#include <stdbool.h>

#include "pebsd/types.h"

/* The same message is said so many times in so long. */
#define LOG_REPEAT_BURST 3
#define LOG_REPEAT_NS    60000000000ULL

/* So many messages are remembered. The one said longest ago goes for another; more than the faults of a bad
 * day. */
#define LOG_REPEATS         16
#define LOG_REPEAT_TEXT_MAX 240

struct log_repeat {
	u64 hash;     /* of the whole message; 0: free */
	u64 begun_ns; /* its first in this stretch of time */
	u32 said;
	u64 left_out;
	int priority;
	char text[LOG_REPEAT_TEXT_MAX]; /* its beginning */
};

struct log_repeats {
	struct log_repeat list[LOG_REPEATS];
};

/* Whether to say this now. All zero, `repeats` remembers nothing. Time only grows. */
bool log_repeats_say(struct log_repeats *repeats, int priority, const char *text, u64 now_ns);

/*
 * One whose stretch of time is over while some of it were left out, which are then counted as told; NULL:
 * none. With `at_end` none is waited for. `ret` is a copy, and stays good.
 */
bool log_repeats_next(struct log_repeats *repeats, u64 now_ns, bool at_end, struct log_repeat *ret);

#endif
