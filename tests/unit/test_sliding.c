// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "random_numbers.h"
#include "window/sliding.h"

#define S     NSEC_PER_SEC
#define START (7 * S)

static struct sliding *new_window(u64 window_ns, size_t max_bytes)
{
	struct sliding_settings settings = {.window_ns = window_ns, .max_bytes = max_bytes};
	struct sliding *sliding;

	cr_assert_eq(sliding_new(&settings, START, &sliding), 0);
	return sliding;
}

static u32 open_one(struct sliding *sliding)
{
	u32 number;

	cr_assert_eq(sliding_open(sliding, &number), 0);
	return number;
}

static struct tally samples(u32 n, u64 period)
{
	struct tally tally = {.samples = n,
			      .latency_samples = n,
			      .weight = n * period,
			      .weight_squared = (double)n * (double)period * (double)period,
			      .sources[SOURCE_L3] = n,
			      .latency[33] = n};

	return tally;
}

static void begin(struct sliding *sliding, u64 at_ns)
{
	struct sliding_time time = {.expected = 10};

	sliding_begin(sliding, START + at_ns, &time);
}

/* Runs a collection with `n` samples of period 3 for one target, or without any if `n` is 0. */
static void collect(struct sliding *sliding, u64 at_ns, u32 target, u32 n)
{
	struct tally tally = samples(n, 3);

	begin(sliding, at_ns);
	if (n)
		sliding_put(sliding, target, &tally);
	cr_assert_eq(sliding_end(sliding), 0);
}

static u64 held(const struct sliding *sliding, u32 target)
{
	return sliding_tally(sliding, target)->samples;
}

static bool changed(const struct sliding *sliding, u32 target)
{
	size_t times = 0;
	size_t n;
	const u32 *list = sliding_changed(sliding, &n);

	for (size_t i = 0; i < n; i++)
		times += list[i] == target;
	cr_expect_leq(times, 1, "each once");
	return times;
}

static void expect_empty(const struct sliding *sliding, u32 target)
{
	static const struct tally nothing;

	cr_expect_eq(memcmp(sliding_tally(sliding, target), &nothing, sizeof(nothing)), 0);
}

Test(sliding, a_window_covers_its_length_and_slides)
{
	struct sliding *sliding = new_window(30 * S, 1 << 20);
	u32 target = open_one(sliding);

	for (u32 i = 1; i <= 29; i++) {
		collect(sliding, i * S, target, i);
		cr_expect_not(sliding_covered(sliding), "at %u", i);
	}
	collect(sliding, 30 * S, target, 30);
	cr_expect(sliding_covered(sliding));
	cr_expect_eq(held(sliding, target), 30 * 31 / 2);
	cr_expect_eq(sliding_time(sliding).elapsed_ns, 30 * S);
	cr_expect_eq(sliding_time(sliding).expected, 300);
	collect(sliding, 31 * S, target, 31);
	cr_expect_eq(held(sliding, target), 31 * 32 / 2 - 1, "the first has left");
	cr_expect_eq(sliding_time(sliding).elapsed_ns, 30 * S);
	(void)sliding_free(sliding);
}

Test(sliding, collections_of_one_pane_leave_together)
{
	struct sliding *sliding = new_window(300 * S, 1 << 20);
	u32 target = open_one(sliding);

	for (u32 i = 1; i <= 300; i++)
		collect(sliding, i * S, target, 1);
	cr_expect(sliding_covered(sliding));
	for (u32 i = 301; i <= 1000; i++) {
		collect(sliding, i * S, target, 1);
		cr_expect_geq(held(sliding, target), 300, "at %u", i);
		cr_expect_leq(held(sliding, target), 310, "at %u", i);
		cr_expect_eq(sliding_time(sliding).elapsed_ns, held(sliding, target) * S);
	}
	(void)sliding_free(sliding);
}

Test(sliding, inexact_intervals_each_have_a_pane)
{
	struct sliding *sliding = new_window(30 * S, 1 << 20);
	u32 target = open_one(sliding);

	for (u32 i = 1; i <= 100; i++)
		collect(sliding, i * S - (i % 2 ? S / 100 : 0), target, 1);
	cr_expect_leq(held(sliding, target), 31, "%llu", (unsigned long long)held(sliding, target));
	(void)sliding_free(sliding);
}

Test(sliding, puts_of_one_collection_add_up_and_only_changes_are_reported)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 one = open_one(sliding);
	u32 two = open_one(sliding);
	struct tally tally = samples(2, 5);
	struct tally nothing = {0};

	begin(sliding, S);
	sliding_put(sliding, one, &tally);
	sliding_put(sliding, one, &tally);
	sliding_put(sliding, two, &nothing);
	cr_assert_eq(sliding_end(sliding), 0);
	cr_expect_eq(held(sliding, one), 4);
	cr_expect_eq(sliding_tally(sliding, one)->weight_squared, 4 * 25.0);
	cr_expect(changed(sliding, one));
	cr_expect_not(changed(sliding, two), "nothing came");
	for (u32 i = 2; i <= 10; i++) {
		collect(sliding, i * S, two, 1);
		cr_expect_not(changed(sliding, one), "at %u", i);
	}
	collect(sliding, 11 * S, two, 1);
	cr_expect(changed(sliding, one), "it has left");
	expect_empty(sliding, one);
	(void)sliding_free(sliding);
}

Test(sliding, after_a_changed_period_old_samples_keep_their_weight)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 target = open_one(sliding);
	struct tally before = samples(6, 100);
	struct tally after = samples(3, 7000);

	begin(sliding, S);
	sliding_put(sliding, target, &before);
	cr_assert_eq(sliding_end(sliding), 0);
	begin(sliding, 2 * S);
	sliding_put(sliding, target, &after);
	sliding_put(sliding, target, &before); /* different weights in one pane */
	cr_assert_eq(sliding_end(sliding), 0);
	cr_expect_eq(sliding_tally(sliding, target)->weight, 2 * 600 + 21000);
	cr_expect_eq(sliding_tally(sliding, target)->weight_squared, 2 * 6 * 1e4 + 3 * 49e6);
	collect(sliding, 11 * S, target, 0);
	cr_expect_eq(sliding_tally(sliding, target)->weight_squared, 6 * 1e4 + 3 * 49e6, "%g",
		     sliding_tally(sliding, target)->weight_squared);
	collect(sliding, 12 * S, target, 0);
	expect_empty(sliding, target);
	(void)sliding_free(sliding);
}

Test(sliding, an_idle_gap_and_a_late_collection_are_handled)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 target = open_one(sliding);

	collect(sliding, 1 * S, target, 5);
	for (u32 i = 2; i <= 10; i++)
		collect(sliding, i * S, target, 0);
	cr_expect(sliding_covered(sliding));
	cr_expect_eq(held(sliding, target), 5);
	collect(sliding, 11 * S, target, 0);
	expect_empty(sliding, target);
	collect(sliding, 100 * S, target, 9); /* there was no collection for 89 s */
	cr_expect_eq(held(sliding, target), 9);
	cr_expect_eq(sliding_time(sliding).elapsed_ns, 89 * S);
	cr_expect(sliding_covered(sliding));
	collect(sliding, 109 * S, target, 1);
	cr_expect_eq(held(sliding, target), 10, "the long one is still needed");
	collect(sliding, 110 * S, target, 1);
	cr_expect_eq(held(sliding, target), 2);
	(void)sliding_free(sliding);
}

Test(sliding, a_new_start_is_not_covered)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);

	cr_expect_not(sliding_covered(sliding));
	cr_expect_eq(sliding_time(sliding).elapsed_ns, 0);
	collect(sliding, 10 * S, 0, 0);
	cr_expect(sliding_covered(sliding), "what came since its start is all there is");
	(void)sliding_free(sliding);
}

Test(sliding, a_clock_that_stops_or_goes_back_is_handled)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 target = open_one(sliding);

	collect(sliding, 5 * S, target, 1);
	collect(sliding, 5 * S, target, 2);
	cr_expect_eq(held(sliding, target), 3);
	cr_expect_eq(sliding_time(sliding).elapsed_ns, 5 * S);
	begin(sliding, 4 * S);
	cr_expect_eq(sliding_end(sliding), -EINVAL);
	expect_empty(sliding, target);
	cr_expect(changed(sliding, target));
	cr_expect_not(sliding_covered(sliding));
	collect(sliding, 13 * S, target, 4);
	cr_expect_not(sliding_covered(sliding));
	collect(sliding, 14 * S, target, 4);
	cr_expect(sliding_covered(sliding), "ten seconds since it began again");
	cr_expect_eq(held(sliding, target), 8);
	(void)sliding_free(sliding);
}

Test(sliding, closing_a_target_removes_all_its_counts)
{
	struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 gone = open_one(sliding);
	u32 stays = open_one(sliding);
	u32 new;

	collect(sliding, 1 * S, gone, 5);
	begin(sliding, 2 * S);
	sliding_put(sliding, gone, &(struct tally){.samples = 1});
	sliding_close(sliding, gone);
	new = open_one(sliding);
	cr_expect_neq(new, gone, "records of it are still held");
	cr_assert_eq(sliding_end(sliding), 0);
	expect_empty(sliding, new);
	for (u32 i = 3; i <= 12; i++)
		collect(sliding, i * S, new, 1);
	cr_expect_eq(held(sliding, new), 10);
	cr_expect_eq(open_one(sliding), gone, "all of them have left");
	expect_empty(sliding, gone);
	expect_empty(sliding, stays);
	(void)sliding_free(sliding);
}

Test(sliding, a_window_beyond_its_memory_is_not_covered)
{
	struct sliding *sliding = new_window(30 * S, 1000);
	u32 target = open_one(sliding);

	for (u32 i = 1; i <= 60; i++)
		collect(sliding, i * S, target, 1);
	cr_expect_not(sliding_covered(sliding));
	cr_expect_leq(sliding_pane_bytes(sliding), 1000);
	cr_expect_lt(held(sliding, target), 30);
	cr_expect_gt(held(sliding, target), 0);
	cr_expect_eq(sliding_time(sliding).elapsed_ns, held(sliding, target) * S, "what it has is whole");
	sliding_limit(sliding, 0);
	expect_empty(sliding, target);
	(void)sliding_free(sliding);
}

Test(sliding, after_churn_all_memory_is_freed)
{
	struct sliding *sliding = new_window(10 * S, 64 << 20);
	size_t before = sliding_bytes(sliding);
	u32 *numbers = calloc(5000, sizeof(*numbers));
	struct tally tally = samples(3, 1);
	u64 at = 0;

	for (u32 round = 0; round < 5; round++) {
		for (u32 i = 0; i < 5000; i++)
			numbers[i] = open_one(sliding);
		begin(sliding, at += S);
		for (u32 i = 0; i < 5000; i++)
			sliding_put(sliding, numbers[i], &tally);
		cr_assert_eq(sliding_end(sliding), 0);
		cr_expect_gt(sliding_bytes(sliding), before + (size_t)5000 * sizeof(tally));
		for (u32 i = 0; i < 5000; i++)
			sliding_close(sliding, numbers[i]);
	}
	for (u32 i = 0; i < 25; i++)
		collect(sliding, at += S, 0, 0);
	cr_expect_lt(sliding_bytes(sliding), before + 16384, "%zu after %zu", sliding_bytes(sliding), before);
	free(numbers);
	(void)sliding_free(sliding);
}

/* A window of an hour, in which each of the targets lives only for one collection. */
Test(sliding, memory_of_closed_targets_is_bounded)
{
	struct sliding *sliding = new_window(3600 * S, 64 << 20);
	struct tally tally = samples(3, 1);
	u32 stays = open_one(sliding);
	size_t pane_bytes = 0;
	u32 numbers[500];
	u32 n = 0;

	for (u64 at = S; at < 3500 * S; at += 5 * S) {
		for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
			numbers[i] = open_one(sliding);
		begin(sliding, at);
		for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
			sliding_put(sliding, numbers[i], &tally);
		sliding_put(sliding, stays, &tally);
		n += 3;
		cr_assert_eq(sliding_end(sliding), 0);
		for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
			sliding_close(sliding, numbers[i]);
		if (sliding_pane_bytes(sliding) > pane_bytes)
			pane_bytes = sliding_pane_bytes(sliding);
		cr_assert_lt(sliding_bytes(sliding), 4 * ARRAY_SIZE(numbers) * sizeof(tally), "%zu",
			     sliding_bytes(sliding));
	}
	cr_expect_lt(pane_bytes, 2 * ARRAY_SIZE(numbers) * 40 + (size_t)SLIDING_PANES * 200, "%zu",
		     pane_bytes);
	cr_expect_eq(held(sliding, stays), n);
	(void)sliding_free(sliding);
}

struct left {
	u64 samples;
	u64 panes_ns;
};

static void note_leaving(void *userdata, u32 target, const struct tally *tally,
			 const struct sliding_time *time)
{
	struct left *left = userdata;

	(void)target;
	cr_expect_eq(time->elapsed_ns, S);
	left->samples += tally->samples;
}

static void note_passing(void *userdata, const struct sliding_time *time)
{
	struct left *left = userdata;

	left->panes_ns += time->elapsed_ns;
}

Test(sliding, leaving_counts_are_reported)
{
	struct left left = {0};
	struct sliding_settings settings = {.window_ns = 10 * S,
					    .max_bytes = 1 << 20,
					    .leaving = note_leaving,
					    .passing = note_passing,
					    .userdata = &left};
	struct sliding *sliding;
	u32 target;

	cr_assert_eq(sliding_new(&settings, START, &sliding), 0);
	target = open_one(sliding);
	for (u32 i = 1; i <= 25; i++)
		collect(sliding, i * S, target, i % 2 ? i : 0);
	cr_expect_eq(left.panes_ns, 15 * S);
	cr_expect_eq(left.samples, 1 + 3 + 5 + 7 + 9 + 11 + 13 + 15);
	(void)sliding_free(sliding);
}

/* xorshift */
static u64 random_state = 42;

static u32 random_below(u32 n)
{
	return (u32)((xorshift(&random_state) >> 11) % n);
}

#define TARGETS     20
#define OTHERS      20 /* some of them live only for a short time */
#define COLLECTIONS 600

static struct tally random_tally(void)
{
	struct tally tally = samples(1 + random_below(5), 1 + random_below(3) * 1000);

	tally.sources[random_below(SOURCE_SLOTS)] += random_below(300);
	tally.latency[random_below(FINE_BUCKETS)] += random_below(70000);
	tally.hitm = random_below(2) * random_below(1 << 24); /* small enough that no sum saturates */
	return tally;
}

/* Compares the window of each target with the sum of all collections that the window says it covers. */
Test(sliding, sums_equal_those_computed_from_scratch)
{
	static struct tally all[COLLECTIONS][TARGETS];
	static u64 ends[COLLECTIONS];
	struct sliding *sliding = new_window(20 * S, 64 << 20);
	struct tally others_have = samples(1, 1);
	u32 numbers[TARGETS];
	u32 others[OTHERS];
	u64 at = 0;

	for (u32 i = 0; i < TARGETS; i++)
		numbers[i] = open_one(sliding);
	for (u32 i = 0; i < OTHERS; i++)
		others[i] = open_one(sliding);
	for (u32 c = 0; c < COLLECTIONS; c++) {
		static const u64 steps[] = {S / 3, S, S, 2 * S, 0, 7 * S};
		u64 covered;

		at += steps[random_below(ARRAY_SIZE(steps))];
		ends[c] = START + at;
		begin(sliding, at);
		for (u32 i = 0; i < OTHERS; i++)
			sliding_put(sliding, others[i], &others_have);
		for (u32 i = 0; i < TARGETS; i++) {
			if (random_below(4))
				continue;
			all[c][i] = random_tally();
			sliding_put(sliding, numbers[i], &all[c][i]);
		}
		cr_assert_eq(sliding_end(sliding), 0);
		covered = sliding_time(sliding).elapsed_ns;
		cr_assert_eq(sliding_covered(sliding), covered >= 20 * S);
		for (u32 i = 0; i < OTHERS; i++) {
			if (random_below(3))
				continue;
			sliding_close(sliding, others[i]);
			others[i] = open_one(sliding);
			expect_empty(sliding, others[i]);
		}
		for (u32 i = 0; i < TARGETS; i++) {
			struct tally sum = {0};

			for (u32 b = 0; b <= c; b++)
				if (b == 0 ? covered == at : ends[b - 1] >= START + at - covered)
					tally_add(&sum, &all[b][i]);
			cr_assert_eq(memcmp(&sum, sliding_tally(sliding, numbers[i]), sizeof(sum)), 0,
				     "target %u after collection %u", i, c);
		}
	}
	(void)sliding_free(sliding);
}

struct collected {
	u64 samples[64];
	u64 elapsed_ns[64];
	size_t n;
};

static void collect_part(void *userdata, const struct tally *tally, const struct sliding_time *time)
{
	struct collected *collected = userdata;

	cr_assert_lt(collected->n, 64);
	cr_expect_eq(tally->latency[33], tally->samples);
	collected->samples[collected->n] = tally->samples;
	collected->elapsed_ns[collected->n++] = time->elapsed_ns;
}

static struct collected parts_of(const struct sliding *sliding, u32 target)
{
	struct collected collected = {0};

	sliding_parts(sliding, target, collect_part, &collected);
	return collected;
}

/*
 * Each pane has enough targets for a search to use its marks. The order of the targets differs in each
 * second. A third of them have samples in a second, and most are closed at the end.
 */
Test(sliding, parts_are_the_counts_of_each_pane)
{
	enum { MANY = 150, LAST = 12 };
	_cleanup_(sliding_freep) struct sliding *sliding = new_window(10 * S, 1 << 20);
	u32 numbers[MANY];

	for (u32 i = 0; i < MANY; i++)
		numbers[i] = open_one(sliding);
	for (u32 s = 1; s <= LAST; s++) {
		begin(sliding, s * S);
		for (u32 i = 0; i < MANY; i++) {
			u32 which = (i * 7 + s * 31) % MANY;
			struct tally tally = samples(1 + which + s, 3);

			if ((which + s) % 3 == 0)
				sliding_put(sliding, numbers[which], &tally);
		}
		cr_assert_eq(sliding_end(sliding), 0);
	}
	for (u32 i = 0; i < MANY; i += 2)
		sliding_close(sliding, numbers[i]);
	/* More targets are closed than remain: the panes then release the closed ones. */
	for (u32 i = 1; i < MANY; i += 4)
		sliding_close(sliding, numbers[i]);
	collect(sliding, (LAST + 1) * S, numbers[3], 0);
	for (u32 i = 3; i < MANY; i += 4) {
		struct collected collected = parts_of(sliding, numbers[i]);

		cr_assert_eq(collected.n, 10);
		for (u32 part = 0; part < 10; part++) {
			u32 s = LAST + 1 - 9 + part;

			cr_expect_eq(collected.samples[part], s <= LAST && (i + s) % 3 == 0 ? 1 + i + s : 0,
				     "target %u, second %u", i, s);
			cr_expect_eq(collected.elapsed_ns[part], S);
		}
	}
}

Test(sliding, the_open_pane_is_the_last_part)
{
	_cleanup_(sliding_freep) struct sliding *sliding = new_window(60 * S, 1 << 20);
	u32 number = open_one(sliding);
	struct collected collected;

	for (u32 s = 1; s <= 5; s++)
		collect(sliding, s * S, number, s);
	collected = parts_of(sliding, number);
	cr_assert_eq(collected.n, 3);
	cr_expect_eq(collected.samples[0], 3);
	cr_expect_eq(collected.samples[1], 7);
	cr_expect_eq(collected.samples[2], 5);
	cr_expect_eq(collected.elapsed_ns[2], S);
	cr_expect_eq(parts_of(sliding, 12345).n, 0, "nobody's number");
}
