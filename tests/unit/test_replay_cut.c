// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "recorded.h"
#include "replayed.h"

TestSuite(replay, .fini = replayed_clear);

/* The first note is about another recording. Notes stay where they are until the next step. */
Test(replay, a_note_names_the_truncated_recording)
{
	struct writer_event other = recorded_event;
	const struct writer_event *const events[] = {&recorded_event, &other, &recorded_event};
	struct replay_target target = replayed_target();
	struct recorded files[3];

	other.config1 = 64;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer = recorded_writer("GenuineIntel,6,85,4", events[i]);

		recorded_load(writer, 0, 1, 1);
		files[i] = recorded_finish(writer);
	}
	cr_assert_eq(ftruncate(files[2].fd, lseek(files[2].fd, 0, SEEK_END) - 8), 0);
	replayed.replay = recorded_open_all(files, 3);
	while (true) {
		int r = replay_step(replayed.replay, &target, 1);

		cr_assert_geq(r, 0);
		replay_report(replayed.replay, &replayed.report);
		for (size_t i = 0; replayed.report.notes[i]; i++)
			cr_expect_gt(strlen(replayed.report.notes[i]), 0);
		if (r == 0)
			break;
	}
	cr_assert_not_null(replayed.report.cut);
	cr_expect_not_null(strstr(replayed.report.cut, "is truncated at byte"), "%s", replayed.report.cut);
	cr_expect_eq(strncmp(replayed.report.cut, files[2].path, strlen(files[2].path)), 0, "%s",
		     replayed.report.cut);
	cr_expect_neq(replayed.report.cut, replayed.report.notes[0]);
}

/*
 * For every length of the file, the samples that are counted were in it, in their order, and the cut is
 * reported.
 */
Test(replay, a_recording_cut_at_any_byte_is_replayed_or_refused)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	_cleanup_free_ u8 *bytes = NULL;
	size_t most = 0;
	size_t size;

	writer_comm(writer, 0, 0, 1, 1, "one");
	for (u64 i = 0; i < 5; i++) {
		struct writer_sample sample = recorded_sample(1, 1 + i);

		sample.weight = 40 + i;
		writer_sample(writer, 0, &sample);
		writer_round(writer);
	}
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	for (size_t cut = 0; cut < size; cut++) {
		_cleanup_free_ char *message = NULL;
		const char *paths[1];
		char path[64];
		char place[96];
		int fd = writer_memfd(bytes, cut);

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		paths[0] = path;
		if (replay_open(paths, 1, &replayed.replay, &message) < 0) {
			cr_expect_eq(most, 0);
			cr_expect_eq(strncmp(message, path, strlen(path)), 0, "%s", message);
			(void)close(fd);
			continue;
		}
		cr_assert_eq(replayed_all(3), 0);
		replay_report(replayed.replay, &replayed.report);
		cr_expect_geq(replayed.n, most);
		most = replayed.n;
		for (size_t i = 0; i < replayed.n; i++)
			cr_expect_eq(replayed.samples[i].latency, 40 + i);
		(void)snprintf(place, sizeof(place), "truncated at byte %zu: only the %zu sample%s", cut,
			       most, most == 1 ? " before that is" : "s before that are");
		cr_expect_not_null(replayed.report.cut);
		replayed_expect_note(0, place);
		replayed_clear();
		(void)close(fd);
	}
	cr_expect_eq(most, 5);
}

Test(replay, samples_before_damage_are_delivered)
{
	static const u8 garbage[8] = {9}; /* a record of 0 bytes */
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	recorded_load(writer, 0, 1, 1);
	recorded_load(writer, 0, 1, 2);
	writer_bytes(writer, garbage, sizeof(garbage));
	replayed.replay = recorded_open(writer);
	cr_expect_eq(replayed_all(100), -EBADMSG);
	cr_expect_eq(replayed.n, 2);
	cr_expect_not_null(strstr(replay_message(replayed.replay), "is damaged at byte"));
}

Test(replay, an_unfinished_file_is_read_and_noted)
{
	struct writer *writer = writer_new(WRITER_FILE_UNFINISHED, 0);
	size_t n;

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	(void)writer_event(writer, &recorded_event);
	recorded_load(writer, 0, 1, 1);
	replayed.replay = recorded_open(writer);
	cr_expect_eq(replay_events(replayed.replay, &n)[0].latency_kind, LATENCY_NONE);
	cr_expect(replay_events(replayed.replay, &n)[0].settings.has_latency);
	cr_assert_eq(replayed_all(100), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_null(replayed.report.cut);
	replayed_expect_note(0, "was not completed");
}

Test(replay, other_files_are_refused_with_a_reason)
{
	static const struct writer_event branches = {.type = PERF_TYPE_HARDWARE,
						     .config = PERF_COUNT_HW_BRANCH_MISSES,
						     .sample_type = RECORDED_FIELDS};
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &branches);
	const char *missing = "/nonexistent/recording";
	const char *useless;
	struct recorded without;
	_cleanup_free_ char *first = NULL;
	_cleanup_free_ char *second = NULL;
	_cleanup_free_ char *third = NULL;

	writer_comm(writer, 0, 1, 1, 1, "comm");
	without = recorded_finish(writer);
	useless = without.path;
	cr_expect_eq(replay_open(&missing, 1, &replayed.replay, &first), -ENOENT);
	cr_expect_not_null(strstr(first, "cannot open /nonexistent/recording: No such file"));
	cr_expect_eq(replay_open(&useless, 1, &replayed.replay, &second), -EBADMSG);
	cr_expect_not_null(strstr(second, "no event that pebsd counts"), "%s", second);
	cr_expect_not_null(strstr(second, "perf mem record"));
	cr_expect_not_null(strstr(second, "its events record a data source or a weight"), "%s", second);
	cr_expect_eq(replay_open(NULL, 0, &replayed.replay, &third), -EINVAL);
	cr_expect_null(replayed.replay);
}

Test(replay, an_error_of_the_target_ends_the_step)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	recorded_load(writer, 0, 1, 1);
	replayed.replay = recorded_open(writer);
	replayed.name_error = -ENOSPC;
	cr_expect_eq(replayed_all(100), -ENOSPC);
	cr_expect_null(replay_message(replayed.replay)); /* NULL means that the recording is not at fault */
}
