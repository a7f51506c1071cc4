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
	u64 hash;     /* of the kind, or of the whole message; 0: free */
	u64 begun_ns; /* its first in this stretch of time */
	u32 said;
	u64 left_out;
	int priority;
	bool varies;                    /* messages of one kind differ */
	char text[LOG_REPEAT_TEXT_MAX]; /* the last one's beginning */
};

struct log_repeats {
	struct log_repeat list[LOG_REPEATS];
};

/*
 * Whether to say this now. Messages of one kind count as the same, whatever they say. Without a kind (NULL),
 * messages with the same text do. All zero, `repeats` remembers nothing. Time only grows.
 */
bool log_repeats_say(struct log_repeats *repeats, int priority, const char *kind, const char *text,
		     u64 now_ns);

/*
 * One whose stretch of time is over while some of it were left out, which are then counted as told; NULL:
 * none. With `at_end` none is waited for. `ret` is a copy, and stays good.
 */
bool log_repeats_next(struct log_repeats *repeats, u64 now_ns, bool at_end, struct log_repeat *ret);

/*
 * A figure that goes on, such as samples lost: told at once where nothing of it was told in the last
 * LOG_REPEAT_NS, and then as the sum of that time. {0} has told nothing. Pure.
 */
struct log_sum {
	bool told;
	u64 told_ns;
	u64 left; /* came since, and is not told */
};

/* Adds `more`, which may be 0: time alone brings the sum out. Returns what to tell now; 0: nothing. `ret_ns`:
 * since when that is; 0: of now. With `at_end` none is waited for. */
u64 log_sum_add(struct log_sum *sum, u64 more, u64 now_ns, bool at_end, u64 *ret_ns);

#endif
