// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorded.h"
#include "trial/json_trial.h"
#include "trial/trial_recordings.h"
#include "trial/trial_text.h"

#define START_NS (1000 * NSEC_PER_SEC)
#define DAY_NS   (86400 * NSEC_PER_SEC)

static struct config *config;
static struct trial *trial;
static char *message;

static void configure(const char *text)
{
	struct config_mistakes mistakes;
	int fd = memfd_create("rules", MFD_CLOEXEC);
	char path[32];

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	config_free(config);
	config = NULL;
	cr_assert_eq(config_load(path, NULL, &config, &mistakes), 0, "%s",
		     mistakes.n ? mistakes.list[0].message : "");
	config_mistakes_clear(&mistakes);
	(void)close(fd);
}

static void begin(void)
{
	configure("[sampling]\ninterval = 100ms\n"
		  "[rule idle]\ncgroup = comm:*\nmetric = rate\nbelow = 1000\nclear = 2000\nwindow = "
		  "10s\nfor = "
		  "10s\n");
}

static void end(void)
{
	trial = trial_free(trial);
	config = config_free(config);
	free(message);
	message = NULL;
}

TestSuite(trial_recordings, .init = begin, .fini = end);

static struct writer *writer_of(const struct writer_event *event)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", event);

	writer_comm(writer, 0, 1, 10, 10, "busy");
	return writer;
}

/* Writes 100 samples a second of one command. */
static void run_for(struct writer *writer, u64 start_ns, u64 seconds)
{
	for (u64 i = 0; i < 100 * seconds; i++)
		recorded_load(writer, 0, 10, start_ns + i * 10 * NSEC_PER_MSEC);
}

/* Plays the recordings and frees the writers. `second` may be NULL. */
static int play(struct writer *first, struct writer *second)
{
	struct recorded files[2] = {recorded_finish(first)};
	const char *paths[2] = {files[0].path};

	if (second) {
		files[1] = recorded_finish(second);
		paths[1] = files[1].path;
	}
	return trial_recordings(config, paths, second ? 2 : 1, &trial, &message);
}

static const struct trial_report *report(void)
{
	cr_assert(trial);
	return trial_finish(trial);
}

/*
 * 17 million collections would take too long. The part of a silence in which nothing can change is a single
 * collection.
 */
Test(trial_recordings, a_long_gap_is_judged_as_one_collection)
{
	struct writer *writer = writer_of(&recorded_event);
	const struct trial_report *result;

	run_for(writer, START_NS, 60);
	run_for(writer, START_NS + 20 * DAY_NS, 60);
	cr_assert_eq(play(writer, NULL), 0, "%s", message);
	result = report();
	cr_assert_eq(result->n_stretches, 1);
	cr_expect_eq(result->stretches[0].elapsed_ns, 20 * DAY_NS + 60 * NSEC_PER_SEC - 10 * NSEC_PER_MSEC);
	/* The time of the only target is completely accounted for, from when the target was first seen. */
	cr_expect_geq(result->of_rules[0].known_s + result->of_rules[0].unknown_s[UNKNOWN_WINDOW],
		      20 * 86400);
	cr_expect_eq(result->samples, 12000);
	cr_expect_lt(result->collections, 40000);
	cr_expect_gt(result->collections, 36000, "until a resolved alert is forgotten");
}

Test(trial_recordings, a_leap_of_the_clock_starts_a_new_time)
{
	struct writer *writer = writer_of(&recorded_event);
	const struct trial_report *result;

	run_for(writer, START_NS, 30);
	run_for(writer, ~0ULL - DAY_NS, 30);
	recorded_load(writer, 0, 10, ~0ULL);
	cr_assert_eq(play(writer, NULL), 0, "%s", message);
	result = report();
	cr_assert_eq(result->n_stretches, 2);
	cr_expect_eq(result->stretches[0].elapsed_ns, 30 * NSEC_PER_SEC - 10 * NSEC_PER_MSEC);
	cr_expect_eq(result->stretches[1].start_ns, ~0ULL - DAY_NS);
	cr_expect_eq(result->stretches[1].elapsed_ns, DAY_NS);
	cr_assert_eq(result->n_notes, 1);
	cr_expect(strstr(result->notes[0], "jumps"), "%s", result->notes[0]);
	cr_expect_eq(result->samples, 6001);
}

Test(trial_recordings, a_recording_of_one_sample_is_accepted)
{
	struct writer *writer = writer_of(&recorded_event);

	recorded_load(writer, 0, 10, ~0ULL);
	cr_assert_eq(play(writer, NULL), 0, "%s", message);
	cr_expect_eq(report()->samples, 1);
	cr_expect_eq(report()->cgroups, 1);
	cr_expect_eq(report()->n_transitions, 0);
}

/* The first recording is judged. Then the error says which recording is unusable, and why. */
/* Nothing can be judged then, and the report says so. */
Test(trial_recordings, a_recording_without_samples_has_a_report)
{
	_cleanup_free_ char *text = NULL;
	json_object *object;
	size_t size;
	FILE *out;

	cr_assert_eq(play(writer_of(&recorded_event), NULL), 0, "%s", message);
	cr_expect_eq(report()->samples, 0);
	cr_expect_eq(report()->n_stretches, 0);
	out = open_memstream(&text, &size);
	trial_text(out, report(), &(struct format_style){0});
	(void)fclose(out);
	cr_expect(strstr(text, "no rule changed state\n"), "%s", text);
	cr_expect(strstr(text, "matches none of 0 cgroups\n"), "%s", text);
	object = json_trial(report());
	cr_expect_str_eq(json_object_to_json_string(json_object_object_get(object, "stretches")), "[ ]");
	json_object_put(object);
}

Test(trial_recordings, a_recording_without_times_is_not_judged)
{
	struct writer_event untimed = recorded_event;
	struct writer *first = writer_of(&recorded_event);
	struct writer *second;

	untimed.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	second = writer_of(&untimed);
	run_for(first, START_NS, 30);
	recorded_load(second, 0, 10, 0);
	cr_assert_eq(play(first, second), -EBADMSG);
	cr_expect(message && strstr(message, "--timestamp"), "%s", message);
	cr_expect_eq(report()->samples, 3000);
	cr_expect_eq(report()->stretches[0].elapsed_ns, 30 * NSEC_PER_SEC - 10 * NSEC_PER_MSEC);
}

Test(trial_recordings, a_trial_of_only_recordings_without_times_fails)
{
	struct writer_event untimed = recorded_event;
	struct writer *writer;

	untimed.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = writer_of(&untimed);
	recorded_load(writer, 0, 10, 0);
	cr_assert_eq(play(writer, NULL), -EBADMSG);
	cr_expect_null(trial);
	cr_expect(message);
}

/* The next recording of the same machine continues. Nothing is known about the time in between. */
Test(trial_recordings, the_next_recording_continues_after_a_gap)
{
	struct writer *first = writer_of(&recorded_event);
	struct writer *second = writer_of(&recorded_event);
	const struct trial_report *result;

	run_for(first, START_NS, 60);
	run_for(second, START_NS + 3600 * NSEC_PER_SEC, 60);
	cr_assert_eq(play(first, second), 0, "%s", message);
	result = report();
	cr_assert_eq(result->n_stretches, 1);
	cr_expect_eq(result->n_transitions, 0, "no silence was proven");
	cr_expect_gt(result->of_rules[0].unknown_s[UNKNOWN_SOURCE], 3500);
}

Test(trial_recordings, a_recording_that_starts_earlier_is_judged_separately)
{
	struct writer *first = writer_of(&recorded_event);
	struct writer *second = writer_of(&recorded_event);

	run_for(first, START_NS, 60);
	run_for(second, START_NS + 30 * NSEC_PER_SEC, 60);
	cr_assert_eq(play(first, second), 0, "%s", message);
	cr_expect_eq(report()->n_stretches, 2);
	cr_assert_eq(report()->n_notes, 1);
	cr_expect(strstr(report()->notes[0], "judged by itself"), "%s", report()->notes[0]);
	cr_expect_geq(report()->of_rules[0].unknown_s[UNKNOWN_WINDOW], 18);
}

Test(trial_recordings, malformed_samples_are_named)
{
	struct writer *writer = writer_of(&recorded_event);
	struct writer_sample sample = recorded_sample(10, START_NS + 30 * NSEC_PER_SEC);

	run_for(writer, START_NS, 30);
	sample.weight = 1ULL << 40;
	writer_sample(writer, 0, &sample);
	run_for(writer, START_NS + 31 * NSEC_PER_SEC, 30);
	cr_assert_eq(play(writer, NULL), 0, "%s", message);
	cr_assert_eq(report()->n_notes, 1);
	cr_expect_str_eq(
		report()->notes[0],
		"malformed samples are not counted: 1; the recording says that each took more than 4294967295 cycles");
}

Test(trial_recordings, cgroups_beyond_the_maximum_are_counted)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	configure("[cgroups]\nmax = 16\nexclude = comm:c0\n"
		  "[rule idle]\ncgroup = comm:*\nmetric = rate\nbelow = 1000\nclear = 2000\nwindow = 10s\n");
	for (u32 i = 0; i < 20; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "c%u", i);
		writer_comm(writer, 0, 1, 10 + i, 10 + i, name);
		recorded_load(writer, 0, 10 + i, START_NS + i);
	}
	cr_assert_eq(play(writer, NULL), 0, "%s", message);
	cr_expect_eq(report()->cgroups_excluded, 1);
	cr_expect_eq(report()->cgroups, 16);
	cr_expect_eq(report()->cgroups_left_out, 3);
}
