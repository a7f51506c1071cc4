// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/replay/replay_queue.h"
#include "recorded.h"
#include "replayed.h"

TestSuite(replay, .fini = replayed_clear);

/*
 * The buffers of two CPUs are written one after the other. In the file, the second comm follows the sample at
 * 500, but the time of this comm is earlier. At each round, the records up to the latest time of the previous
 * round are delivered, without waiting for the end.
 */
Test(replay, records_are_sorted_by_time)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	struct replay_target target = replayed_target();

	writer_comm(writer, 0, 0, 10, 10, "before");
	recorded_load(writer, 0, 10, 300);
	recorded_load(writer, 0, 10, 500);
	writer_comm(writer, 0, 400, 10, 10, "after");
	writer_round(writer);
	recorded_load(writer, 0, 10, 450);
	writer_round(writer);
	recorded_load(writer, 0, 10, 900);
	replayed.replay = recorded_open(writer);
	cr_assert_eq(replay_step(replayed.replay, &target, 4), 1); /* reads up to the first round */
	cr_expect_eq(replayed.n, 0);
	cr_assert_eq(replay_step(replayed.replay, &target, 2), 1);
	cr_expect_eq(replayed.n, 3);
	cr_assert_eq(replayed_all(100), 0);
	cr_assert_eq(replayed.n, 4);
	cr_expect_str_eq(replayed_sample_name(0), "comm:before");
	cr_expect_str_eq(replayed_sample_name(1), "comm:after");
	cr_expect_str_eq(replayed_sample_name(2), "comm:after");
	cr_expect_str_eq(replayed_sample_name(3), "comm:after");
}

Test(replay, without_times_the_order_of_the_file_is_kept)
{
	struct writer_event event = recorded_event;
	struct writer *writer;

	event.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = recorded_writer("GenuineIntel,6,85,4", &event);
	recorded_load(writer, 0, 10, 0);
	writer_comm(writer, 0, 1, 10, 10, "late");
	recorded_load(writer, 0, 10, 0);
	replayed_run(recorded_open(writer));
	cr_expect_str_eq(replayed_sample_name(0), "comm:unknown");
	cr_expect_str_eq(replayed_sample_name(1), "comm:late");
	cr_expect_not(replayed.report.time_known);
}

Test(replay_queue, the_queue_sorts_and_is_bounded)
{
	_cleanup_(replay_queue_clear) struct replay_queue queue = {};
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
	cr_expect_not(replay_queue_take(&queue, false, &item)); /* no round has passed yet */
	while (replay_queue_take(&queue, true, &item)) {
		cr_assert_geq(item.time, last);
		last = item.time;
		n--;
	}
	cr_expect_eq(n, 0);
}

Test(replay_queue, equal_times_keep_their_order)
{
	_cleanup_(replay_queue_clear) struct replay_queue queue = {};
	struct replay_item item = {.kind = REPLAY_FORK, .time = 5};

	for (u32 i = 0; i < 100; i++) {
		item.tid = i;
		cr_assert_eq(replay_queue_put(&queue, &item), 0);
	}
	for (u32 i = 0; i < 100; i++) {
		cr_assert(replay_queue_take(&queue, true, &item));
		cr_assert_eq(item.tid, i);
	}
}

/* The moments that a target received with its samples. */
struct timed {
	struct replay_moment moments[8];
	size_t n;
};

static int take_timed_name(void *userdata, u64 cgroup_id, const char *name)
{
	(void)userdata, (void)cgroup_id, (void)name;
	return 0;
}

static int take_timed(void *userdata, const struct sample *samples, const struct replay_moment *moments,
		      size_t n)
{
	struct timed *timed = userdata;

	(void)samples;
	cr_assert_leq(timed->n + n, ARRAY_SIZE(timed->moments));
	for (size_t i = 0; i < n; i++)
		timed->moments[timed->n++] = moments[i];
	return 0;
}

static void replay_timed(struct replay *replay, struct timed *timed)
{
	const struct replay_target target = {
		.name = take_timed_name, .timed_samples = take_timed, .userdata = timed};
	int r;

	while ((r = replay_step(replay, &target, 100)) > 0)
		;
	cr_assert_eq(r, 0);
}

Test(replay, each_sample_has_the_time_of_its_recording)
{
	struct writer_event untimed = recorded_event;
	struct recorded files[2];
	struct timed timed = {};
	struct writer *writer;
	s64 offset;

	writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	writer_clock(writer, 5000, 1200);
	recorded_load(writer, 0, 10, 500);
	recorded_load(writer, 0, 10, 300);
	files[0] = recorded_finish(writer);
	untimed.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = recorded_writer("GenuineIntel,6,85,4", &untimed);
	recorded_load(writer, 0, 10, 0);
	files[1] = recorded_finish(writer);
	replayed.replay = recorded_open_all(files, 2);
	replay_timed(replayed.replay, &timed);

	cr_assert_eq(timed.n, 3);
	cr_expect(timed.moments[0].known);
	cr_expect_eq(timed.moments[0].time, 300);
	cr_expect_eq(timed.moments[0].recording, 0);
	cr_expect(timed.moments[1].known);
	cr_expect_eq(timed.moments[1].time, 500);
	cr_expect_not(timed.moments[2].known);
	cr_expect_eq(timed.moments[2].recording, 1);
	cr_expect_str_eq(replay_name(replayed.replay, 1), files[1].path);
	cr_assert(replay_real_time(replayed.replay, 0, &offset));
	cr_expect_eq(offset, 3800);
	cr_expect_not(replay_real_time(replayed.replay, 1, &offset));
}

/*
 * perf stores no date. If the clock of a recording is known, the date is the time of its first sample, else
 * that of the file.
 */
Test(replay, a_recording_has_its_host_and_time)
{
	struct recorded files[2];
	const struct recording *about;
	struct writer *writer;
	size_t n;

	writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	writer_machine(writer, "db-7", "5.10.0-28-amd64", "Intel(R) Xeon(R) Platinum 8173M CPU @ 2.00GHz");
	writer_clock(writer, 1700000000500000000ULL, 1000);
	recorded_load(writer, 0, 10, 1250);
	files[0] = recorded_finish(writer);
	writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	recorded_load(writer, 0, 10, 300);
	files[1] = recorded_finish(writer);
	replayed.replay = recorded_open_all(files, 2);

	about = replay_recordings(replayed.replay, &n);
	cr_assert_eq(n, 2);
	cr_expect_str_eq(about[0].file, files[0].path);
	cr_expect_str_eq(about[0].host, "db-7");
	cr_expect_str_eq(about[0].kernel, "5.10.0-28-amd64");
	cr_expect_str_eq(about[0].cpu, "Intel(R) Xeon(R) Platinum 8173M CPU @ 2.00GHz");
	cr_expect_eq(about[0].time.tv_sec, 1700000000);
	cr_expect_eq(about[0].time.tv_nsec, 500000250);
	cr_expect_not(about[0].time_of_file);
	cr_expect_null(about[1].host);
	cr_expect_null(about[1].kernel);
	cr_expect_str_eq(about[1].cpu, "GenuineIntel,6,85,4", "the id, without a name");
	cr_expect_gt(about[1].time.tv_sec, 1700000000);
	cr_expect(about[1].time_of_file);
}
