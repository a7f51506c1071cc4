// SPDX-License-Identifier: GPL-2.0
/*
 * The conditions under which an event is read with read(2), which interrupts its CPU. A file stands in for
 * the descriptor of the event.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_cpu.h"

#define BY_READ 7777

static struct perf_event_mmap_page page;
static struct perf_cpu event;

static void begin(void)
{
	const u64 values[] = {BY_READ, 200, 100};
	int fd = memfd_create("event", MFD_CLOEXEC);

	cr_assert_eq(write(fd, values, sizeof(values)), (ssize_t)sizeof(values));
	page = (struct perf_event_mmap_page){.offset = 0};
	event = (struct perf_cpu){
		.fd = fd, .leader_fd = -1, .period = 1000, .map = {.page = &page}, .page_moves = true};
}

static void end(void)
{
	(void)close(event.fd);
}

TestSuite(perf_cpu, .init = begin, .fini = end);

static u64 count_at(u32 index, s64 offset)
{
	page.index = index;
	page.offset = offset;
	cr_assert_eq(lseek(event.fd, 0, SEEK_SET), 0);
	perf_cpu_update(&event, true);
	return event.last.count;
}

Test(perf_cpu, an_event_on_a_counter_is_never_read)
{
	cr_expect_eq(count_at(2, 4000), 3000);
	cr_expect_eq(count_at(2, 4000), 3000, "an idle CPU is not woken");
}

/* An IBS event, or one that left its counter a moment ago. */
Test(perf_cpu, an_event_off_its_counter_is_not_read_while_its_page_changes)
{
	cr_expect_eq(count_at(0, 3000), 3000);
	cr_expect_eq(count_at(0, 5000), 5000);
	cr_expect_eq(count_at(0, 5000), BY_READ, "waiting, in error, or without a sample: read(2) tells");
	cr_expect_not(event.outage.in_error);
}

Test(perf_cpu, a_software_event_is_always_read)
{
	event.page_moves = false;
	cr_expect_eq(count_at(0, 3000), BY_READ);
}

Test(perf_cpu, of_an_event_in_error_the_last_count_is_that_of_the_page)
{
	cr_assert_eq(ftruncate(event.fd, 0), 0);
	cr_expect_eq(count_at(3, 4000), 3000);
	cr_expect_eq(count_at(0, 3456), 3456, "what it counted until it lost its counter");
	cr_expect_eq(count_at(0, 3456), 3456);
	cr_expect(event.outage.in_error);
	cr_expect_eq(perf_cpu_counts(&event).expected, 3);
}

/* The event is on its counter, and its page has not moved for long. read(2) returns `count`. */
static void stand_still(u64 count)
{
	const u64 values[] = {count, 200, 100};

	cr_assert_eq(pwrite(event.fd, values, sizeof(values), 0), (ssize_t)sizeof(values));
	cr_expect_eq(count_at(2, 4000), 3000);
	event.stall =
		(struct perf_stall){.page = {.count = 3000, .running = true}, .wait_ns = 4 * NSEC_PER_SEC};
}

Test(perf_cpu, a_stalled_event_is_rearmed_and_its_missed_samples_are_expected)
{
	stand_still(9000);
	cr_expect(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
	perf_cpu_rearm(&event);
	cr_expect_eq(perf_cpu_counts(&event).rearmed, 1);
	cr_expect_eq(perf_cpu_counts(&event).missed, 6);
	cr_expect_eq(perf_cpu_counts(&event).expected, 9);
	perf_cpu_rearm(&event);
	cr_expect_eq(perf_cpu_counts(&event).rearmed, 1, "once is enough");
	cr_expect_eq(perf_cpu_counts(&event).missed, 6);
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC + 1, false), "not looked at so soon");
}

/* The event may have stopped before the first collection. */
Test(perf_cpu, an_event_that_was_never_checked_is_checked_at_once)
{
	stand_still(9000);
	event.stall = (struct perf_stall){0};
	cr_expect(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
}

/* The run may end before the waiting time does. */
Test(perf_cpu, the_last_check_does_not_wait)
{
	stand_still(9000);
	event.stall.look_ns = 9 * NSEC_PER_SEC;
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
	cr_expect(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, true));
}

Test(perf_cpu, the_last_check_does_not_count_a_sample_in_progress_as_lost)
{
	stand_still(4999);
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, true));
}

Test(perf_cpu, an_idle_event_is_not_rearmed)
{
	stand_still(3999);
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
	cr_expect_eq(event.last.count, 3999, "but was read");
	perf_cpu_rearm(&event);
	cr_expect_eq(perf_cpu_counts(&event).rearmed, 0);
}

Test(perf_cpu, an_event_with_a_changing_or_useless_page_is_not_read)
{
	stand_still(9000);
	page.offset = 5000;
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
	stand_still(9000);
	event.page_moves = false;
	cr_expect_not(perf_cpu_find_stall(&event, 5 * NSEC_PER_SEC, false));
	cr_expect_eq(event.last.count, 3000);
}
