// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>

#include "origin/replay/replay_queue.h"
#include "recorded.h"
#include "replayed.h"

/* Two CPUs' buffers, one written after the other: the comm is behind the sample in the file, and before it in
 * time. What a round has passed is handed over without waiting for the end. */
Test(replay, records_are_put_in_the_order_of_time)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	struct replayed replayed = {};
	struct replay_target target = replayed_target(&replayed);
	struct replay *replay;

	writer_comm(writer, 0, 0, 10, 10, "before");
	recorded_load(writer, 0, 10, 300);
	recorded_load(writer, 0, 10, 500);
	writer_comm(writer, 0, 400, 10, 10, "after");
	writer_round(writer);
	recorded_load(writer, 0, 10, 450);
	writer_round(writer);
	recorded_load(writer, 0, 10, 900);
	replay = recorded_open(writer);
	cr_assert_eq(replay_step(replay, &target, 4), 1); /* up to the first round */
	cr_expect_eq(replayed.n, 0);
	cr_assert_eq(replay_step(replay, &target, 2), 1);
	cr_expect_eq(replayed.n, 3);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, 4);
	cr_expect_str_eq(replayed_sample_name(&replayed, 0), "comm:before");
	cr_expect_str_eq(replayed_sample_name(&replayed, 1), "comm:after");
	cr_expect_str_eq(replayed_sample_name(&replayed, 2), "comm:after");
	cr_expect_str_eq(replayed_sample_name(&replayed, 3), "comm:after");
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, without_time_the_order_is_the_files)
{
	struct writer_event event = recorded_event;
	struct replayed replayed = {};
	struct replay_report report;
	struct writer *writer;
	struct replay *replay;

	event.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = recorded_writer("GenuineIntel,6,85,4", &event);
	recorded_load(writer, 0, 10, 0);
	writer_comm(writer, 0, 1, 10, 10, "late");
	recorded_load(writer, 0, 10, 0);
	replay = recorded_open(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_str_eq(replayed_sample_name(&replayed, 0), "comm:unknown");
	cr_expect_str_eq(replayed_sample_name(&replayed, 1), "comm:late");
	replay_report(replay, &report);
	cr_expect_not(report.time_known);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay_queue, sorts_and_is_bounded)
{
	struct replay_queue queue = {};
	struct replay_item item = {.kind = REPLAY_FORK};
	u64 last = 0;
	u64 state = 1;
	size_t n = 0;

	while (true) {
		state = state * 6364136223846793005ULL + 1;
		item.time = (state >> 48) + 1;
		if (replay_queue_put(&queue, &item) < 0)
			break;
		n++;
	}
	cr_expect_eq(n, REPLAY_QUEUE_MAX);
	cr_expect_not(replay_queue_take(&queue, false, &item)); /* no round has passed */
	while (replay_queue_take(&queue, true, &item)) {
		cr_assert_geq(item.time, last);
		last = item.time;
		n--;
	}
	cr_expect_eq(n, 0);
	replay_queue_clear(&queue);
}

Test(replay_queue, equal_times_keep_their_order)
{
	struct replay_queue queue = {};
	struct replay_item item = {.kind = REPLAY_FORK, .time = 5};

	for (u32 i = 0; i < 100; i++) {
		item.tid = i;
		cr_assert_eq(replay_queue_put(&queue, &item), 0);
	}
	for (u32 i = 0; i < 100; i++) {
		cr_assert(replay_queue_take(&queue, true, &item));
		cr_assert_eq(item.tid, i);
	}
	replay_queue_clear(&queue);
}
