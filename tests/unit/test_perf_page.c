// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include <criterion/criterion.h>

#include "origin/perf/perf_page.h"

Test(perf_page, off_its_counter_the_offset_is_the_count)
{
	const struct perf_event_mmap_page page = {
		.index = 0, .offset = 12345, .time_enabled = 1000, .time_running = 900};
	struct perf_reading reading;

	cr_assert_eq(perf_page_read(&page, 1000, &reading), 0);
	cr_expect_eq(reading.count, 12345);
	cr_expect_eq(reading.enabled_ns, 1000);
	cr_expect_eq(reading.running_ns, 900);
	cr_expect_not(reading.running);
}

Test(perf_page, on_its_counter_the_offset_is_the_count_at_the_next_sample)
{
	/*
	 * Three samples at a period of 1000, and 7 more events: the count is 3007. The counter was loaded
	 * with -993, and the page says 3007 - (-993).
	 */
	struct perf_event_mmap_page page = {.index = 3, .offset = 4000};
	struct perf_reading reading;

	cr_assert_eq(perf_page_read(&page, 1000, &reading), 0);
	cr_expect_eq(reading.count, 3000);
	cr_expect(reading.running);
	page.offset = 1000; /* no sample yet */
	cr_assert_eq(perf_page_read(&page, 1000, &reading), 0);
	cr_expect_eq(reading.count, 0);
	page.offset = 10; /* less than a period: the count is unknown */
	cr_assert_eq(perf_page_read(&page, 1000, &reading), 0);
	cr_expect_eq(reading.count, 0);
	page.offset = -10;
	page.index = 0;
	cr_assert_eq(perf_page_read(&page, 1000, &reading), 0);
	cr_expect_eq(reading.count, 0);
}

Test(perf_page, a_page_being_written_does_not_block_the_reader)
{
	const struct perf_event_mmap_page page = {.lock = 1, .offset = 5};
	struct perf_reading reading = {.count = 77};

	cr_expect_eq(perf_page_read(&page, 1000, &reading), -EAGAIN);
	cr_expect_eq(reading.count, 77);
}
