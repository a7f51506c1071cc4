// SPDX-License-Identifier: GPL-2.0
/* What the keeper of the history plans: spans that it adds up, drops and reads. Times are in seconds. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "history/keeper/spans.h"

#define US 1000000ULL

/* A moment at which two hours of the clock begin. */
#define FULL (7200ULL * 1000)

static struct spans spans;

static void end(void)
{
	spans_done(&spans);
}

static void add(u32 tier, u64 start, u64 end, u64 run, u64 parent)
{
	u64 id = spans.n > 0 ? spans.list[spans.n - 1].id + 1 : 1;

	cr_assert_eq(spans_add(&spans, &(struct span){.id = id,
						      .start_us = start * US,
						      .end_us = end * US,
						      .covered_ns = (end - start) * NSEC_PER_SEC,
						      .run = run,
						      .parent = parent,
						      .bytes = 100,
						      .tier = tier}),
		     0);
}

/* Adds spans of a tier from one moment to another. */
static void add_many(u32 tier, u64 from, u64 to, u64 parent)
{
	for (u64 at = from; at < to; at += span_tiers[tier].seconds)
		add(tier, at, at + span_tiers[tier].seconds, 1, parent);
}

TestSuite(history_spans, .fini = end);

Test(history_spans, spans_are_due_when_their_window_is_over)
{
	size_t due[SPAN_CHILDREN_MAX];

	add_many(0, FULL, FULL + 50, 0);
	cr_expect_eq(spans_to_merge(&spans, due), 0);
	add_many(0, FULL + 50, FULL + 60, 0);
	cr_assert_eq(spans_to_merge(&spans, due), 6);
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(due[i], i);
}

Test(history_spans, spans_are_due_when_a_later_span_cannot_be_merged)
{
	static const struct {
		u64 start, end, run;
		size_t due;
	} later[] = {
		{FULL + 20, FULL + 30, 1, 0}, /* joins */
		{FULL + 20, FULL + 30, 2, 2}, /* another run */
		{FULL + 21, FULL + 31, 1, 2}, /* a gap */
		{FULL + 55, FULL + 65, 1, 2}, /* the next minute */
		{FULL - 90, FULL - 80, 3, 2}, /* the clock was set back */
	};
	size_t due[SPAN_CHILDREN_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		add_many(0, FULL, FULL + 20, 0);
		add(0, later[i].start, later[i].end, later[i].run, 0);
		cr_expect_eq(spans_to_merge(&spans, due), later[i].due, "case %zu", i);
		spans_done(&spans);
	}
}

/* Collections are not exactly at multiples of 10 s. */
Test(history_spans, a_pane_belongs_to_the_minute_of_its_middle)
{
	size_t due[SPAN_CHILDREN_MAX];

	for (u64 i = 0; i < 6; i++) {
		cr_expect_eq(spans_to_merge(&spans, due), 0);
		add(0, FULL + 10 * i, FULL + 10 * i + 10, 1, 0);
		spans.list[i].start_us += 900000;
		spans.list[i].end_us += 900000;
	}
	cr_expect_eq(spans_to_merge(&spans, due), 6);
}

Test(history_spans, a_pane_belongs_to_the_bin_of_its_middle)
{
	const struct span_question question = {FULL * US, (FULL + 20) * US, 2, 0};
	_cleanup_free_ struct span_use *uses = NULL;
	size_t n;

	for (u64 i = 0; i < 4; i++) {
		add(0, FULL + 10 * i - 10, FULL + 10 * i, 1, 0);
		spans.list[i].start_us += 900000;
		spans.list[i].end_us += 900000;
	}
	cr_assert_eq(spans_cover(&spans, &question, &uses, &n), 0);
	cr_assert_eq(n, 2);
	cr_expect(uses[0].index == 1 && uses[0].bin == 0);
	cr_expect(uses[1].index == 2 && uses[1].bin == 1);
}

Test(history_spans, longer_spans_are_due_too_and_many_short_ones_in_parts)
{
	size_t due[SPAN_CHILDREN_MAX];

	add_many(1, FULL, FULL + 600, 0);
	cr_expect_eq(spans_to_merge(&spans, due), 10);
	spans_done(&spans);
	add_many(2, FULL, FULL + 7200, 0);
	cr_expect_eq(spans_to_merge(&spans, due), 12);
	spans_done(&spans);
	/* The longest tier has no longer one. */
	add_many(3, FULL, FULL + 100UL * 7200, 0);
	cr_expect_eq(spans_to_merge(&spans, due), 0);
	spans_done(&spans);
	for (unsigned i = 0; i < SPAN_CHILDREN_MAX + 1; i++)
		cr_assert_eq(spans_add(&spans, &(struct span){.id = i + 1,
							      .start_us = FULL * US + i,
							      .end_us = FULL * US + i + 1,
							      .run = 1}),
			     0);
	cr_expect_eq(spans_to_merge(&spans, due), SPAN_CHILDREN_MAX);
}

static const struct spans_limits roomy = {.age_max_s = 14UL * 86400, .used_max = 1};

Test(history_spans, an_hour_of_the_shortest_tier_is_kept)
{
	size_t index = 77;

	add_many(0, FULL, FULL + 3600, 99999);
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_KEEP);
	add(0, FULL + 3600, FULL + 3610, 1, 0);
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_DROP_TIER);
	cr_expect_eq(index, 0);
	/* A span that is in no longer one yet stays. */
	spans.list[0].parent = 0;
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_KEEP);
}

Test(history_spans, a_wrong_clock_drops_nothing)
{
	const u64 year = 365 * 86400ULL;
	size_t index;

	add_many(0, FULL, FULL + 1800, 99999);
	/* For 50 minutes the clock is a year ahead. */
	add_many(0, FULL + year, FULL + year + 1790, 99999);
	cr_expect_not(spans_clock_is_trusted(&spans));
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_KEEP);
	/* Back again. */
	add(0, FULL + 4000, FULL + 4010, 1, 99999);
	cr_expect_not(spans_clock_is_trusted(&spans));
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_KEEP);
}

Test(history_spans, old_spans_are_dropped_when_the_clock_has_run_for_an_hour)
{
	const u64 year = 365 * 86400ULL;
	size_t index;

	add_many(0, FULL, FULL + 100, 99999);
	add_many(0, FULL + year, FULL + year + 3590, 99999);
	cr_expect_neq(spans_to_drop(&spans, &roomy, &index), SPANS_DROP_AGE);
	add(0, FULL + year + 3590, FULL + year + 3600, 1, 0);
	cr_expect(spans_clock_is_trusted(&spans));
	/* The tier goes first, then the age: give the old ones no parent, so that the tier keeps them. */
	for (size_t i = 0; i < spans.n; i++)
		spans.list[i].parent = 0;
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_DROP_AGE);
	cr_expect_eq(index, 0);
}

Test(history_spans, a_step_back_within_the_hour_is_noticed)
{
	add_many(0, FULL + 5000, FULL + 6800, 0);
	add_many(0, FULL, FULL + 3590, 0);
	cr_expect_not(spans_clock_is_trusted(&spans));
	add(0, FULL + 3590, FULL + 3600, 1, 0);
	cr_expect(spans_clock_is_trusted(&spans));
}

Test(history_spans, the_tier_furthest_above_its_share_shrinks)
{
	const struct spans_limits tight = {.age_max_s = 14UL * 86400, .used = 2, .used_max = 1};
	size_t index;

	add_many(3, FULL, FULL + 6UL * 7200, 0);
	add_many(1, FULL, FULL + 7UL * 60, 99999);
	add_many(0, FULL, FULL + 20, 99999);
	/* 6 spans of 5/20, 7 of 7/20, 2 of 3/20. */
	cr_expect_eq(spans_to_drop(&spans, &tight, &index), SPANS_DROP_SIZE);
	cr_expect_eq(index, 0);
	for (size_t i = 0; i < spans.n; i++)
		if (spans.list[i].tier == 1)
			spans.list[i].bytes = 1000;
	cr_expect_eq(spans_to_drop(&spans, &tight, &index), SPANS_DROP_SIZE);
	cr_expect_eq(index, 6);
	/* The newest span stays, however small the space is. */
	while (spans_to_drop(&spans, &tight, &index) != SPANS_KEEP)
		spans_remove(&spans, index);
	cr_assert_eq(spans.n, 1);
	cr_expect_eq(spans.list[0].end_us, (FULL + 20) * US);
}

Test(history_spans, the_number_of_spans_is_bounded)
{
	size_t index;

	add_many(2, FULL, FULL + (SPANS_MAX - 1) * 600ULL, 0);
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_KEEP);
	add(2, FULL, FULL + 600, 1, 0);
	cr_expect_eq(spans_to_drop(&spans, &roomy, &index), SPANS_DROP_COUNT);
	cr_expect_eq(index, 0);
}

/*
 * Two hours, of which the last 20 minutes are also there as two spans, and the last 10 of these as minutes.
 */
static void two_hours(void)
{
	spans_done(&spans);
	add(3, FULL - 7200, FULL, 1, 0);                       /* 1, no children left */
	add_many(2, FULL, FULL + 7200 - 1200, 100);            /* 2 to 11 */
	add(2, FULL + 6000, FULL + 6600, 1, 100);              /* 12 */
	for (u64 at = FULL + 6600; at < FULL + 7200; at += 60) /* 13 to 22 */
		add(1, at, at + 60, 1, 50);
	add(2, FULL + 6600, FULL + 7200, 1, 100); /* 23, gets the id 50 */
	spans.list[spans.n - 1].id = 50;
	add(3, FULL, FULL + 7200, 1, 0);
	spans.list[spans.n - 1].id = 100;
	add(0, FULL + 7200, FULL + 7210, 1, 0); /* 101, in no minute yet */
}

static void expect_cover(u64 since, u64 until, u32 bins, u32 least, const u64 (*expected)[2], size_t n)
{
	const struct span_question question = {(FULL + since) * US, (FULL + until) * US, bins, least};
	_cleanup_free_ struct span_use *uses = NULL;
	size_t n_uses;

	two_hours();
	cr_assert_eq(spans_cover(&spans, &question, &uses, &n_uses), 0);
	cr_assert_eq(n_uses, n, "%zu spans for (%llu, %llu]", n_uses, since, until);
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(spans.list[uses[i].index].id, expected[i][0], "span %zu", i);
		cr_expect_eq(uses[i].bin, expected[i][1], "bin %zu", i);
	}
}

Test(history_spans, a_long_span_inside_a_bin_is_read_instead_of_its_children)
{
	expect_cover(0, 7210, 1, 0, (const u64[][2]){{100, 0}, {101, 0}}, 2);
	expect_cover(6000, 7200, 1, 0, (const u64[][2]){{12, 0}, {50, 0}}, 2);
}

Test(history_spans, shorter_spans_are_read_at_the_edges)
{
	expect_cover(6000, 6720, 1, 0, (const u64[][2]){{12, 0}, {13, 0}, {14, 0}}, 3);
	expect_cover(7080, 7210, 1, 0, (const u64[][2]){{21, 0}, {22, 0}, {101, 0}}, 3);
}

Test(history_spans, bins_get_the_spans_that_end_in_them)
{
	expect_cover(6600, 6780, 3, 0, (const u64[][2]){{13, 0}, {14, 1}, {15, 2}}, 3);
	/* A minute is not divided: it counts where it ends. */
	expect_cover(6600, 6720, 4, 0, (const u64[][2]){{13, 1}, {14, 3}}, 2);
	expect_cover(6000, 7200, 2, 0, (const u64[][2]){{12, 0}, {50, 1}}, 2);
}

Test(history_spans, the_oldest_spans_count_whole_in_the_bin_of_their_end)
{
	expect_cover(-3600ULL, 0, 1, 0, (const u64[][2]){{1, 0}}, 1);
	expect_cover(-7200ULL, 0, 4, 0, (const u64[][2]){{1, 3}}, 1);
	/* A range inside it has an answer. */
	expect_cover(-3600ULL, -3590ULL, 1, 0, (const u64[][2]){{1, 0}}, 1);
}

Test(history_spans, a_short_range_across_an_edge_has_the_span_that_contains_its_end)
{
	/* Minutes: the middle of the last 10 s of the earlier one is at 6655. */
	expect_cover(6654, 6664, 1, 0, (const u64[][2]){{13, 0}}, 1);
	for (u64 until = 6665; until < 6670; until++)
		expect_cover(until - 10, until, 1, 0, (const u64[][2]){{14, 0}}, 1);
	expect_cover(6655, 6665, 3, 0, (const u64[][2]){{14, 2}}, 1);
	/* Ten minutes. */
	expect_cover(595, 605, 1, 0, (const u64[][2]){{3, 0}}, 1);
	expect_cover(6597, 6607, 1, 0, (const u64[][2]){{13, 0}}, 1);
	/* The shortest one that is long enough. */
	expect_cover(6597, 6607, 1, 600, (const u64[][2]){{50, 0}}, 1);
	/* Two hours, and nothing before them. */
	expect_cover(-9000ULL, -7000ULL, 1, 0, (const u64[][2]){{1, 0}}, 1);
	expect_cover(-9000ULL, -7200ULL, 1, 0, NULL, 0);
	/* No span covers the end of the range. */
	expect_cover(7206, 7216, 1, 0, NULL, 0);
}

Test(history_spans, spans_below_the_least_length_are_not_read)
{
	expect_cover(6600, 7210, 1, 60, (const u64[][2]){{50, 0}}, 1);
	/* The range is inside the only one. */
	expect_cover(6600, 6720, 1, 600, (const u64[][2]){{50, 0}}, 1);
	expect_cover(7200, 7210, 1, 60, NULL, 0);
	expect_cover(6000, 7200, 2, 600, (const u64[][2]){{12, 0}, {50, 1}}, 2);
}

Test(history_spans, a_span_some_of_whose_children_were_dropped_counts_whole)
{
	const struct span_question question = {(FULL + 6660) * US, (FULL + 7200) * US, 1, 0};
	_cleanup_free_ struct span_use *uses = NULL;
	size_t n;

	two_hours();
	spans_remove(&spans, (size_t)spans_find(&spans, 13));
	cr_assert_eq(spans_cover(&spans, &question, &uses, &n), 0);
	cr_assert_eq(n, 1);
	cr_expect_eq(spans.list[uses[0].index].id, 50);
}
