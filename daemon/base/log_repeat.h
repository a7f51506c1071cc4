// SPDX-License-Identifier: GPL-2.0
/*
 * Limits the repetition of log messages: a persistent fault is logged a few times, not a thousand times.
 * Decides which messages are logged, and counts the suppressed ones. Pure functions.
 */
#ifndef PEBSD_LOG_REPEAT_H
#define PEBSD_LOG_REPEAT_H

#include <stdbool.h>

#include "pebsd/types.h"

/* The same message is logged at most LOG_REPEAT_BURST times within LOG_REPEAT_NS. */
#define LOG_REPEAT_BURST 3
#define LOG_REPEAT_NS    60000000000ULL

/*
 * Number of messages that are remembered, which is more than the faults of a bad day. A new message replaces
 * the oldest one that has no suppressed count left to report. If there is none, the new message is logged and
 * not remembered.
 */
#define LOG_REPEATS         16
#define LOG_REPEAT_TEXT_MAX 240

struct log_repeat {
	u64 hash;     /* of the kind, or of the whole message; 0: unused entry */
	u64 begun_ns; /* start of the interval: the first message, or the last report of the count */
	u32 said;
	u64 left_out;
	int priority;
	bool varies;                    /* the texts of this kind differ */
	char text[LOG_REPEAT_TEXT_MAX]; /* beginning of the latest message */
};

struct log_repeats {
	struct log_repeat list[LOG_REPEATS];
};

/*
 * Returns whether to log this message now. Messages of one kind count as the same, even if their texts
 * differ. Without a kind (NULL), messages with the same text do. `repeats` starts as all zero. Time must not
 * go backwards.
 */
bool log_repeats_say(struct log_repeats *repeats, int priority, const char *kind, const char *text,
		     u64 now_ns);

/*
 * Finds a message whose interval is over and of which some repetitions were suppressed. Copies it to `ret`
 * and counts these repetitions as reported. Returns false if there is none. With `at_end`, the interval need
 * not be over.
 */
bool log_repeats_next(struct log_repeats *repeats, u64 now_ns, bool at_end, struct log_repeat *ret);

/*
 * A counter that keeps growing, such as lost samples. An increase is logged at once if nothing was logged in
 * the last LOG_REPEAT_NS. Otherwise it is added to a sum, which is logged when that time is over. {0} has
 * logged nothing yet. Pure function.
 */
struct log_sum {
	bool logged; /* since the start */
	u64 logged_ns;
	u64 unlogged; /* added since then */
};

/*
 * Adds `more`. With 0, a call only asks for a sum that waits for the end of the interval. Returns the sum to
 * log now, or 0 for nothing. `*ret_ns` is the time over which the sum grew, or 0 if it consists of `more`
 * alone. With `at_end`, the interval need not be over.
 */
u64 log_sum_add(struct log_sum *sum, u64 more, u64 now_ns, bool at_end, u64 *ret_ns);

#endif
