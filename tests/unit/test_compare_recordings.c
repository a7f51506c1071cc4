// SPDX-License-Identifier: GPL-2.0
#include "trial/compare_recordings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json_get.h"
#include "driver_sources.h"
#include "recorded.h"

#define START_NS (1000 * NSEC_PER_SEC)

/* A load each 5 ms for 30 s. `slow` of 1,000 come from memory. */
static struct recorded record(unsigned slow, unsigned short seed, bool timed)
{
	struct writer_event event = recorded_event;
	unsigned short state[3] = {seed, 1, 2};
	struct writer *writer;

	if (!timed)
		event.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = recorded_writer("GenuineIntel,6,45,7", &event);
	for (u64 i = 0; i < 6000; i++) {
		struct writer_sample sample = recorded_sample(7, START_NS + i * 5 * NSEC_PER_MSEC);
		bool far = erand48(state) * 1000 < slow;

		sample.weight = far ? 400 : 50 + i % 7;
		sample.data_source = far ? DRIVER_LOCAL_DRAM : DRIVER_L2;
		writer_sample(writer, 0, &sample);
	}
	return recorded_finish(writer);
}

static int compare(const struct recorded *a, const struct recorded *b, json_object **ret, char **ret_message)
{
	return compare_recordings((const char *const[]){a->path, b->path}, ret, ret_message);
}

static json_object *source(json_object *reply)
{
	json_object *event = json_get_object(json_get_object(reply, "events"), "loads");

	return json_get_object(json_get_object(event, "sources"), "local_dram");
}

static const char *verdict(json_object *reply)
{
	const char *text = json_get_text(source(reply), "verdict");

	return text ? text : "(none)";
}

static double value(json_object *object, const char *key)
{
	double number = NAN;

	(void)json_get_double(object, key, &number);
	return number;
}

Test(compare_recordings, difference_is_proven)
{
	struct recorded before = record(100, 1, true), after = record(150, 2, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(compare(&before, &after, &reply, &message), 0, "%s", message);
	cr_expect_str_eq(json_get_text(reply, "origin"), "replay");
	cr_expect_str_eq(json_get_text(json_get_object(reply, "a"), "file"), before.path);
	cr_expect_float_eq(value(json_get_object(reply, "a"), "window_s"), 30, 0.1);
	cr_expect_str_eq(verdict(reply), "proven");
	cr_expect(value(source(reply), "low") < 0.05 && value(source(reply), "high") > 0.05);
	cr_expect_eq(value(json_get_object(json_get_object(reply, "events"), "loads"), "samples_a"), 6000);
}

Test(compare_recordings, recordings_of_the_same_behaviour_do_not_differ)
{
	struct recorded before = record(100, 3, true), after = record(100, 4, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(compare(&before, &after, &reply, &message), 0, "%s", message);
	cr_expect_str_eq(verdict(reply), "not_proven");
	cr_expect_null(strstr(json_object_to_json_string(reply), "\"proven\""));
}

/* Nothing is known about bursts then. */
Test(compare_recordings, recording_without_times_has_no_bounds)
{
	struct recorded before = record(100, 1, false), after = record(150, 2, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(compare(&before, &after, &reply, &message), 0, "%s", message);
	cr_expect_str_eq(verdict(reply), "no_bounds");
	cr_expect_float_eq(value(source(reply), "difference"), 0.05, 0.02);
	cr_expect_null(json_get(json_get_object(reply, "a"), "window_s"));
}

/* A recording without samples is not one whose samples have no times. */
Test(compare_recordings, recording_without_samples_is_named)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,45,7", &recorded_event);
	struct recorded run, other = record(100, 1, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;
	char said[4096] = "";

	writer_comm(writer, 0, START_NS, 7, 7, "idle");
	run = recorded_finish(writer);
	cr_assert_eq(dup2(memfd_create("log", MFD_CLOEXEC), STDERR_FILENO), STDERR_FILENO);
	cr_assert_eq(compare(&run, &other, &reply, &message), 0, "%s", message);
	cr_expect_null(json_get(json_get_object(reply, "a"), "window_s"));
	cr_assert_gt(pread(STDERR_FILENO, said, sizeof(said) - 1, 0), 0);
	cr_expect_not_null(strstr(said, "has no samples"), "%s", said);
	cr_expect_null(strstr(said, "have no times"), "%s", said);
}

Test(compare_recordings, malformed_samples_are_named)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,45,7", &recorded_event);
	struct writer_sample sample = recorded_sample(7, START_NS);
	struct recorded run, other = record(100, 1, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;
	char said[4096] = "";

	writer_sample(writer, 0, &sample);
	sample.weight = 1ULL << 40;
	writer_sample(writer, 0, &sample);
	run = recorded_finish(writer);
	cr_assert_eq(dup2(memfd_create("log", MFD_CLOEXEC), STDERR_FILENO), STDERR_FILENO);
	cr_assert_eq(compare(&run, &other, &reply, &message), 0, "%s", message);
	cr_assert_gt(pread(STDERR_FILENO, said, sizeof(said) - 1, 0), 0);
	cr_expect_not_null(strstr(said, "malformed samples are not counted: 1; "), "%s", said);
	cr_expect_not_null(strstr(said, run.path), "%s", said);
	cr_expect_null(strstr(said, other.path), "%s", said);
}

/* A recording with a silence of 200 years, which would be billions of collections. */
Test(compare_recordings, a_gap_in_a_recording_is_one_collection)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,45,7", &recorded_event);
	struct recorded run, other = record(100, 1, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;
	const u64 days = 200ULL * 365;

	for (u64 i = 0; i < 100; i++)
		recorded_load(writer, 0, 7,
			      START_NS + i * NSEC_PER_MSEC + (i >= 50) * days * 86400 * NSEC_PER_SEC);
	run = recorded_finish(writer);
	cr_assert_eq(compare(&run, &other, &reply, &message), 0, "%s", message);
	cr_expect_float_eq(value(json_get_object(reply, "a"), "window_s"), (double)days * 86400, 10);
}

Test(compare_recordings, damaged_and_missing_recordings_are_refused)
{
	struct recorded run = record(100, 1, true);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *message = NULL;

	cr_expect_eq(compare_recordings((const char *const[]){run.path, "/nonexistent"}, &reply, &message),
		     -ENOENT);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "/nonexistent"), "%s", message);
	free(message);
	message = NULL;
	cr_assert_eq(ftruncate(run.fd, 100000), 0);
	cr_expect_eq(compare(&run, &run, &reply, &message), -EBADMSG);
	cr_expect_not_null(message);
	cr_expect_null(reply);
}
