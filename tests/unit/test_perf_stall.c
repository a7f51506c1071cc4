// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_stall.h"

#define S NSEC_PER_SEC

static const struct perf_reading still = {
	.count = 30000, .enabled_ns = 500, .running_ns = 400, .running = true};

static bool watch_at(struct perf_stall *stall, u64 seconds)
{
	return perf_stall_watch(stall, &still, seconds * S);
}

Test(perf_stall, an_unchanged_page_is_checked_less_and_less_often)
{
	const u64 looks[] = {100, 101, 103, 107, 115, 131, 163, 223, 283, 343};
	struct perf_stall stall = {0};
	size_t n = 0;

	for (u64 second = 100; second <= 343; second++)
		if (watch_at(&stall, second)) {
			cr_assert_lt(n, sizeof(looks) / sizeof(looks[0]));
			cr_expect_eq(second, looks[n], "look %zu at %llu", n, (unsigned long long)second);
			n++;
		}
	cr_expect_eq(n, sizeof(looks) / sizeof(looks[0]));
}

static void expect_soon(struct perf_stall stall)
{
	const u64 half = S / 2;

	cr_expect(perf_stall_watch(&stall, &still, 100 * S), "the first page");
	cr_expect_not(perf_stall_watch(&stall, &still, 100 * S + half - 1));
	cr_expect(perf_stall_watch(&stall, &still, 100 * S + half));
	cr_expect_not(perf_stall_watch(&stall, &still, 101 * S + half - 1));
	cr_expect(perf_stall_watch(&stall, &still, 101 * S + half), "and then ever more seldom");
}

Test(perf_stall, an_event_that_stalled_or_is_likely_to_is_checked_sooner)
{
	expect_soon((struct perf_stall){.rearmed = 1});
	expect_soon((struct perf_stall){.likely = true});
}

/* `other` differs because of a sample, or because the event was scheduled out and in. */
static void expect_begins_anew(const struct perf_reading *other)
{
	struct perf_stall stall = {0};

	(void)watch_at(&stall, 100);
	cr_assert(watch_at(&stall, 104));
	cr_assert(watch_at(&stall, 150));
	cr_expect_not(perf_stall_watch(&stall, other, 300 * S));
	cr_expect_not(perf_stall_watch(&stall, other, 301 * S - 1));
	cr_expect(perf_stall_watch(&stall, other, 301 * S));
}

Test(perf_stall, a_changing_page_is_not_checked)
{
	struct perf_reading page = still;

	page.count = 40000;
	expect_begins_anew(&page);
	page = still;
	page.enabled_ns = 600;
	expect_begins_anew(&page);
	page = still;
	page.running_ns = 450;
	expect_begins_anew(&page);
	page = still;
	page.running = false;
	expect_begins_anew(&page);
}

Test(perf_stall, an_event_is_stalled_a_whole_period_after_the_sample_was_due)
{
	const struct perf_stall stall = {.page = still};

	cr_expect_not(perf_stall_judge(&stall, 10000, 30000), "an idle CPU has nothing to count");
	cr_expect_not(perf_stall_judge(&stall, 10000, 39999));
	cr_expect_not(perf_stall_judge(&stall, 10000, 40000), "its record may be on its way");
	cr_expect_not(perf_stall_judge(&stall, 10000, 49999));
	cr_expect(perf_stall_judge(&stall, 10000, 50000));
	cr_expect(perf_stall_judge(&stall, 10000, 1ULL << 47));
}

Test(perf_stall, a_long_period_delays_the_verdict)
{
	const struct perf_stall stall = {.page = still};

	cr_expect_not(perf_stall_judge(&stall, 1ULL << 40, 1ULL << 40));
	cr_expect_not(perf_stall_judge(&stall, 1ULL << 40, 1ULL << 41));
	cr_expect(perf_stall_judge(&stall, 1ULL << 40, (1ULL << 41) + 30000));
	cr_expect_not(perf_stall_judge(&stall, ~0ULL, ~0ULL));
}

Test(perf_stall, counts_during_an_interrupt_do_not_look_like_a_stall)
{
	const struct perf_stall stall = {.page = still};

	cr_expect_not(perf_stall_judge(&stall, 1, 30002));
	cr_expect_not(perf_stall_judge(&stall, 100, 30000 + 100 + 4095));
	cr_expect(perf_stall_judge(&stall, 100, 30000 + 100 + 4096));
}

Test(perf_stall, a_count_behind_the_page_is_inconclusive)
{
	const struct perf_stall stall = {.page = still};

	cr_expect_not(perf_stall_judge(&stall, 1, 0));
	cr_expect_not(perf_stall_judge(&stall, 1, 29999));
}
