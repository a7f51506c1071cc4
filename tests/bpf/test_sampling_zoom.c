// SPDX-License-Identifier: GPL-2.0
/*
 * A zoom next to an always-on event that needs the zoom's only counter. The event pauses while the zoom runs,
 * and then samples again. All events are software events.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "page_faults.h"
#include "sampling/sampling_zoom.h"

static const struct event_spec faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1, .settings = {.has_address = 1}},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.only_counter = 4,
};
static const struct event_spec minor_faults = {
	.event = {.role = EVENT_STORES, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
};

static struct perf_event_set *sets[2];
static struct sampling_zoom zoom;
static struct zoom_source *events;
static char *note, *message;
static int program = -1;

static void setup(void)
{
	cgroup_fixture_setup();
	program = page_faults_program();
	cr_assert_geq(program, 0);
	cr_assert_eq(perf_open(&faults, PERF_ONLINE_PATH, &sets[0], &message), 0, "%s", message);
	cr_assert_eq(perf_open(&minor_faults, PERF_ONLINE_PATH, &sets[1], &message), 0, "%s", message);
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(perf_start(sets[i], program, &message), 0, "%s", message);
}

static void teardown(void)
{
	if (zoom.open)
		(void)sampling_zoom_end(&zoom, sets, 2, false, &message);
	for (size_t i = 0; i < 2; i++)
		perf_set_free(sets[i]);
	(void)close(program);
	free(note);
	free(message);
	cgroup_fixture_teardown();
}

TestSuite(sampling_zoom_events, .init = setup, .fini = teardown);

static int begin(const char *path, u32 rate)
{
	_cleanup_close_ int tree = open(cgroup_fixture.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(note);
	free(message);
	return sampling_zoom_begin(&zoom, tree, sets, 2, path, rate, &events, &note, &message);
}

static struct zoom_about about_of(const struct zoom_source *source)
{
	struct zoom_about about = {0};

	source->methods->describe(source, &about);
	return about;
}

static struct perf_counts counts_of(size_t set)
{
	struct perf_counts counts;

	perf_count(sets[set], &counts);
	return counts;
}

/* Returns the faults that the always-on event of a set has counted since the last call. */
static u64 counted(size_t set)
{
	static u64 last[2];
	u64 before = last[set];

	last[set] = counts_of(set).count;
	return last[set] - before;
}

Test(sampling_zoom_events, a_zoom_pauses_a_conflicting_event_and_resumes_it)
{
	cr_assert_eq(begin(cgroup_fixture.path, 1000), 0, "%s", message);
	cr_assert_not_null(note);
	cr_expect_not_null(strstr(note, "loads on PMU software is paused"), "%s", note);
	cr_expect_not_null(strstr(note, "only counter 3 of this CPU"), "%s", note);
	cr_expect_null(strstr(note, "stores"), "%s", note);
	cr_expect_eq(about_of(events).n_events, 1);
	(void)counted(0);
	(void)counted(1);
	page_faults_on(0, 500);
	cr_expect_eq(counted(0), 0);
	cr_expect_geq(counted(1), 500);

	cr_assert_eq(begin(cgroup_fixture.path, 1000), -EBUSY);
	cr_expect_not_null(strstr(message, "another zoom is running"), "%s", message);

	free(TAKE_PTR(message));
	cr_assert_eq(sampling_zoom_end(&zoom, sets, 2, false, &message), 0, "%s", message);
	page_faults_on(0, 500);
	cr_expect_geq(counted(0), 500);
	cr_expect_gt(counts_of(0).paused_ns, 0);
	cr_expect_eq(counts_of(1).paused_ns, 0);
}

Test(sampling_zoom_events, a_failed_zoom_changes_nothing)
{
	cr_assert_eq(begin("/pebsd-test-none-of-this-name", 1000), -ENOENT);
	cr_expect_not_null(strstr(message, "does not exist"), "%s", message);
	/* This fails at the last step, after the pause. */
	cr_assert_eq(begin(cgroup_fixture.path, 0), -EINVAL);
	(void)counted(0);
	page_faults_on(0, 500);
	cr_expect_geq(counted(0), 500);
	cr_assert_eq(begin(cgroup_fixture.path, 1000), 0, "%s", message);
}

Test(sampling_zoom_events, an_event_stays_paused_if_sampling_is_paused)
{
	cr_assert_eq(begin(cgroup_fixture.path, 1000), 0, "%s", message);
	for (size_t i = 0; i < 2; i++)
		perf_pause(sets[i]);
	cr_assert_eq(sampling_zoom_end(&zoom, sets, 2, true, &message), 0);
	(void)counted(0);
	page_faults_on(0, 500);
	cr_expect_eq(counted(0), 0);
	cr_assert_eq(perf_resume(sets[0], &message), 0, "%s", message);
	page_faults_on(0, 500);
	cr_expect_geq(counted(0), 500);
}
