// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of other operations than the event's, in the running kernel: from the program `inject`, and from
 * software events.
 */
#include <criterion/criterion.h>

#include <linux/perf_event.h>

#include "cgroup_fixture.h"
#include "counting.h"
#include "software_event.h"

static struct counting counting;

static void open_counting(struct event_settings event, bool hardware)
{
	struct kernel_settings settings = counting_settings(false);

	settings.n_events = 2;
	settings.events[0] = (struct event_settings){.has_source = 1};
	settings.events[1] = event;
	settings.births = settings.hardware = hardware;
	counting_open(&counting, &settings, 0);
}

static void name_and_adopt(u64 id, const char *path)
{
	cr_assert_eq(names_add_path(counting.names, id, path), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, id, 0, path), 0);
}

/* IBS samples every operation. Samples of other operations are counted separately and nowhere else. */
Test(operations, samples_of_other_operations_are_filtered)
{
	const struct sample samples[] = {
		{.cgroup_id = 7,
		 .event = 1,
		 .data_source = OP_STORE,
		 .period = 1,
		 .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7,
		 .event = 1,
		 .data_source = OP_LOAD,
		 .period = 1,
		 .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7, .event = 1, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 9, .event = 1, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7, .event = 1, .period = 1},
		{.cgroup_id = 7, .event = 1, .latency = SAMPLE_LATENCY_MAX + 1, .fields = SAMPLE_LATENCY},
		{.cgroup_id = 7, .event = 0, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
	};

	open_counting((struct event_settings){.has_source = 1, .operations = OP_LOAD}, false);
	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", 1), 1);
	cr_expect_eq(counting_rejected(&counting, 1).filtered, 5);
	cr_expect_eq(counting_rejected(&counting, 1).malformed, 0,
		     "what is not the event's is nothing to it");
	cr_expect_eq(counting_unattributed(&counting, 1), 0);
	cr_expect_eq(counting_samples(&counting, "seven", 0), 1, "the other event takes all");
	cr_expect_eq(counting_rejected(&counting, 0).filtered, 0);
	counting_close(&counting);
}

static void setup_fixture(void)
{
	cgroup_fixture_setup();
}

static void teardown_fixture(void)
{
	counting_close(&counting);
	cgroup_fixture_teardown();
}

TestSuite(operations_program, .init = setup_fixture, .fini = teardown_fixture);

static void adopt_fixture(void)
{
	cr_assert_gt(kernel_adopt(counting.kernel, 1, 0, ""), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, cgroup_fixture_id(), 1, cgroup_fixture.path + 1), 0);
}

/* A page fault has no data source: an event that counts only loads treats it as another operation. */
Test(operations_program, filtered_and_counted_samples_add_up)
{
	_cleanup_free_ char *path = NULL;
	unsigned pages = 2000;
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;

	open_counting((struct event_settings){.has_source = 1, .operations = OP_LOAD}, true);
	adopt_fixture();
	cgroup_fixture_make("worker");
	child = cgroup_fixture_child("worker", touch_pages, &pages);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
							  .period = 1,
							  .sample_type = PERF_SAMPLE_DATA_SRC,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(counting.kernel, 1));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	counting_collect(&counting);
	cr_assert_geq(asprintf(&path, "%s/worker", cgroup_fixture.path), 0);
	cr_expect_geq(counting_rejected(&counting, 1).filtered, pages);
	cr_expect_eq(counting_rejected(&counting, 1).filtered, software_event_count(fd));
	cr_expect_eq(counting_samples(&counting, path, 1), 0);
	cgroup_fixture_remove("worker");
}
