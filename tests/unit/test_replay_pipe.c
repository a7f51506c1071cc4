// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "recorded.h"
#include "replayed.h"

TestSuite(replay, .fini = replayed_clear);

/* Makes a pipe standard input, and writes to it what the writer has written. Frees the writer. */
static void pipe_to_standard_input(struct writer *writer)
{
	_cleanup_free_ u8 *bytes = NULL;
	int ends[2];
	size_t size;

	bytes = writer_finish(writer, &size);
	writer_free(writer);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], bytes, size), (ssize_t)size);
	(void)close(ends[1]);
	cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
	(void)close(ends[0]);
}

Test(replay, standard_input_is_replayed)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	const char *paths[] = {"-", "-"};
	char *message = NULL;

	(void)writer_event(writer, &recorded_event);
	recorded_load(writer, 0, 1, 1);
	pipe_to_standard_input(writer);
	cr_assert_eq(replay_open(paths, 2, &replayed.replay, &message), -EINVAL);
	cr_expect_not_null(strstr(message, "only once"));
	free(message);
	cr_assert_eq(replay_open(paths, 1, &replayed.replay, &message), 0, "%s", message);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replayed.n, 1);
	replayed_clear();
}

/* Its CPU stands after its samples, which are counted when they arrive. */
Test(replay, a_recorded_file_in_a_pipe_is_read_and_noted)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	const char *path = "-";
	char *message = NULL;

	recorded_load(writer, 0, 1, 1);
	pipe_to_standard_input(writer);
	cr_assert_eq(replay_open(&path, 1, &replayed.replay, &message), 0, "%s", message);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replayed.n, 1);
	replay_report(replayed.replay, &replayed.report);
	replayed_expect_note(0, "is a pipe, but was recorded to a file");
	replayed_expect_note(1, NULL);
}

static struct writer *piped_writer(void)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	(void)writer_event(writer, &recorded_event);
	writer_comm(writer, 0, 0, 1, 1, "one");
	recorded_load(writer, 0, 1, 1);
	return writer;
}

/* The bytes arrive one by one. No step blocks, and no record is lost or read twice. */
Test(replay, a_silent_pipe_does_not_block)
{
	static const u8 payload[24];
	const u64 announced = sizeof(payload);
	_cleanup_free_ u8 *first = NULL;
	_cleanup_free_ u8 *all = NULL;
	_cleanup_free_ char *message = NULL;
	struct writer *writer = piped_writer();
	struct replay_target target = replayed_target();
	const char *path = "-";
	size_t waited = 0;
	size_t n_first;
	size_t n;
	int ends[2];

	first = writer_finish(writer, &n_first);
	writer_free(writer);
	writer = piped_writer();
	recorded_load(writer, 0, 1, 2);
	writer_record(writer, WRITER_AUXTRACE, &announced, sizeof(announced));
	writer_bytes(writer, payload, sizeof(payload));
	writer_round(writer);
	writer_begin_compressed(writer);
	for (u64 i = 3; i < 20; i++)
		recorded_load(writer, 0, 1, i);
	writer_end_compressed(writer, WRITER_COMPRESSED, 50);
	recorded_load(writer, 0, 1, 20);
	all = writer_finish(writer, &n);
	writer_free(writer);
	cr_assert_eq(memcmp(first, all, n_first), 0);

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], all, n_first), (ssize_t)n_first);
	cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
	cr_assert_eq(replay_open(&path, 1, &replayed.replay, &message), 0, "%s", message);
	for (size_t at = n_first; at < n; at++) {
		int r = replay_step(replayed.replay, &target, 100);

		cr_assert_eq(r, -EAGAIN, "at byte %zu: %d", at, r);
		cr_assert_geq(replay_fd(replayed.replay), 0);
		waited++;
		cr_assert_eq(write(ends[1], all + at, 1), 1);
	}
	cr_expect_gt(waited, 100);
	(void)close(ends[1]);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replay_fd(replayed.replay), -1);
	cr_assert_eq(replayed.n, 20);
	for (size_t i = 0; i < replayed.n; i++)
		cr_expect_str_eq(replayed_sample_name(i), "comm:one");
	replay_report(replayed.replay, &replayed.report);
	replayed_expect_note(0, NULL);
	cr_expect_eq(replayed.report.last_time, 20);
}
