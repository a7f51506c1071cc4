// SPDX-License-Identifier: GPL-2.0
/*
 * A message is logged at most LOG_REPEAT_BURST times a minute. When the minute is over, the number of
 * suppressed messages is logged once.
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/log_repeat.h"

#define SECOND 1000000000ULL

static struct log_repeats repeats;

static bool say(const char *text, u64 now_ns)
{
	return log_repeats_say(&repeats, 3, NULL, text, now_ns);
}

Test(log_repeat, only_the_first_repeats_are_logged)
{
	unsigned said = 0;

	for (u64 i = 0; i < 1000; i++)
		said += say("no memory", SECOND + i);
	cr_expect_eq(said, LOG_REPEAT_BURST);
	cr_expect(say("no descriptors", SECOND + 1000), "another message is another");
}

Test(log_repeat, suppressed_messages_are_counted_after_the_interval)
{
	struct log_repeat told;

	for (u64 i = 0; i < 1000; i++)
		(void)say("no memory", SECOND);
	cr_expect_not(log_repeats_next(&repeats, SECOND + LOG_REPEAT_NS - 1, false, &told));
	cr_assert(log_repeats_next(&repeats, SECOND + LOG_REPEAT_NS, false, &told));
	cr_expect_eq(told.left_out, 1000 - LOG_REPEAT_BURST);
	cr_expect_eq(told.priority, 3);
	cr_expect_str_eq(told.text, "no memory");
	cr_expect_not(log_repeats_next(&repeats, SECOND + LOG_REPEAT_NS, false, &told), "told twice");
}

Test(log_repeat, a_lasting_fault_is_logged_once_a_minute)
{
	unsigned said = 0, told = 0;
	struct log_repeat repeat;
	u64 left_out = 0;

	for (u64 second = 1; second <= 3600; second++) {
		said += say("no memory", second * SECOND);
		while (log_repeats_next(&repeats, second * SECOND, false, &repeat)) {
			told++;
			left_out += repeat.left_out;
		}
	}
	cr_expect_eq(said, LOG_REPEAT_BURST);
	cr_expect_geq(told, 59U);
	cr_expect_leq(told, 60U);
	while (log_repeats_next(&repeats, 3600 * SECOND, true, &repeat))
		left_out += repeat.left_out;
	cr_expect_eq(left_out + said, 3600U, "each is said or counted: %llu", (unsigned long long)left_out);
}

Test(log_repeat, after_a_quiet_minute_a_message_is_logged_again)
{
	for (u64 i = 0; i < LOG_REPEAT_BURST; i++)
		cr_expect(say("reloaded", SECOND));
	for (u64 i = 0; i < LOG_REPEAT_BURST; i++)
		cr_expect(say("reloaded", SECOND + LOG_REPEAT_NS));
	cr_expect_not(say("reloaded", SECOND + LOG_REPEAT_NS));
}

Test(log_repeat, messages_beyond_the_table_are_logged)
{
	char text[32];

	for (unsigned i = 0; i < 10 * LOG_REPEATS; i++) {
		(void)snprintf(text, sizeof(text), "message %u", i);
		cr_expect(say(text, SECOND + i), "%s", text);
	}
}

Test(log_repeat, pending_counts_are_not_evicted_by_other_messages)
{
	struct log_repeat told;
	char text[32];

	for (unsigned i = 0; i <= LOG_REPEAT_BURST; i++)
		(void)say("no memory", SECOND);
	for (unsigned i = 0; i < 10 * LOG_REPEATS; i++) {
		(void)snprintf(text, sizeof(text), "message %u", i);
		(void)say(text, SECOND + i + 1);
	}
	cr_assert(log_repeats_next(&repeats, 2 * LOG_REPEAT_NS, false, &told));
	cr_expect_str_eq(told.text, "no memory");
	cr_expect_eq(told.left_out, 1U);
}

Test(log_repeat, a_long_message_is_reported_by_its_start)
{
	struct log_repeat told;
	char text[2 * LOG_REPEAT_TEXT_MAX];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; i <= LOG_REPEAT_BURST; i++)
		(void)say(text, SECOND);
	text[sizeof(text) - 2] = 'y';
	cr_expect(say(text, SECOND), "another end is another message");
	cr_assert(log_repeats_next(&repeats, SECOND, true, &told));
	cr_expect_eq(strlen(told.text), LOG_REPEAT_TEXT_MAX - 1U);
}

Test(log_repeat, messages_of_one_kind_count_as_repeats_whatever_their_text)
{
	struct log_repeat told;
	unsigned said = 0;
	char text[32];

	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "paused until %u", i);
		said += log_repeats_say(&repeats, 3, "pause", text, SECOND);
	}
	cr_expect_eq(said, LOG_REPEAT_BURST);
	cr_expect(log_repeats_say(&repeats, 3, "zoom", text, SECOND), "another kind is another");
	cr_assert(log_repeats_next(&repeats, SECOND, true, &told));
	cr_expect_eq(told.left_out, 1000 - LOG_REPEAT_BURST);
	cr_expect(told.varies);
	cr_expect_str_eq(told.text, "paused until 999", "the text is the last one");
}

static u64 add(struct log_sum *sum, u64 more, u64 at_ns)
{
	u64 since;

	return log_sum_add(sum, more, at_ns, false, &since);
}

Test(log_repeat, a_growing_counter_is_logged_at_once_then_as_a_sum_each_minute)
{
	struct log_sum sum = {0};
	unsigned told = 0;
	u64 in_all = 0;

	/* Twice a second for 10 minutes. */
	for (u64 i = 0; i < 1200; i++) {
		const u64 now = add(&sum, 7, SECOND + i * SECOND / 2);

		told += now > 0;
		in_all += now;
		cr_expect(i > 0 || now == 7, "not told at once");
	}
	cr_expect_eq(told, 10);
	cr_expect_eq(in_all + sum.unlogged, 8400);
}

Test(log_repeat, a_pending_sum_is_logged_after_the_interval)
{
	struct log_sum sum = {0};
	u64 since;

	cr_expect_eq(add(&sum, 0, SECOND), 0, "a sum of 0 is not reported");
	cr_expect_eq(log_sum_add(&sum, 5, SECOND, false, &since), 5);
	cr_expect_eq(since, 0);
	cr_expect_eq(add(&sum, 6, 2 * SECOND), 0);
	cr_expect_eq(add(&sum, 0, SECOND + LOG_REPEAT_NS - 1), 0);
	cr_expect_eq(log_sum_add(&sum, 0, SECOND + LOG_REPEAT_NS, false, &since), 6);
	cr_expect_eq(since, LOG_REPEAT_NS);
	cr_expect_eq(add(&sum, 0, SECOND + 3 * LOG_REPEAT_NS), 0);
	cr_expect_eq(log_sum_add(&sum, 8, SECOND + 4 * LOG_REPEAT_NS, false, &since), 8, "long after");
	cr_expect_eq(since, 0);
}

Test(log_repeat, the_rest_of_a_sum_is_logged_at_the_end)
{
	struct log_sum sum = {0};
	u64 since;

	(void)add(&sum, 5, SECOND);
	(void)add(&sum, 6, 2 * SECOND);
	cr_expect_eq(log_sum_add(&sum, 0, 3 * SECOND, true, &since), 6);
	cr_expect_eq(since, 2 * SECOND);
	cr_expect_eq(log_sum_add(&sum, 0, 3 * SECOND, true, &since), 0);
}
