// SPDX-License-Identifier: GPL-2.0
#include "window/baseline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

#define HALF_LIFE (3600 * NSEC_PER_SEC)

static struct baseline baseline;

/* What baseline_tally() returned last. */
static struct tally ret;
static double seconds;

static void expect_near(double value, double expected, double relative)
{
	cr_expect(fabs(value - expected) <= relative * fabs(expected), "%.12g is not %.12g", value, expected);
}

static struct tally tally_of_window(u32 samples, u32 hitm)
{
	struct tally tally = {.samples = samples,
			      .weight = 100ULL * samples,
			      .weight_squared = 1e4 * samples,
			      .latency_sum = 40ULL * samples,
			      .latency_samples = samples,
			      .sources = {[SOURCE_L1] = samples},
			      .hitm = hitm};

	tally.latency[20] = samples - hitm;
	tally.latency[80] = hitm;
	return tally;
}

Test(baseline, an_empty_baseline_is_zero)
{
	memset(&ret, 0xff, sizeof(ret));
	baseline_tally(&baseline, &ret, &seconds);
	cr_expect_eq(ret.samples, 0);
	cr_expect_eq(ret.latency_samples, 0);
	cr_expect_eq(ret.latency[20], 0);
	cr_expect_eq(seconds, 0);
}

Test(baseline, a_baseline_of_one_window_equals_the_window)
{
	struct tally window = tally_of_window(1000, 30);

	baseline_add(&baseline, HALF_LIFE, 50 * NSEC_PER_SEC, 30, &window);
	baseline_tally(&baseline, &ret, &seconds);
	cr_expect_eq(memcmp(&ret, &window, sizeof(ret)), 0);
	cr_expect_eq(seconds, 30);
}

Test(baseline, weights_halve_with_each_half_life)
{
	struct tally old = tally_of_window(1000, 200);
	struct tally new = tally_of_window(1000, 0);

	baseline_add(&baseline, HALF_LIFE, 1, 30, &old);
	baseline_add(&baseline, HALF_LIFE, 1 + HALF_LIFE, 30, &new);
	expect_near(baseline.samples, 1500, 1e-9);
	expect_near(baseline.weight, 150000, 1e-9);
	expect_near(baseline.hitm, 100, 1e-6);

	/*
	 * 1000 samples of weight 1/2 and 1000 of weight 1 are worth 1500^2 / 1250 = 1800 samples of equal
	 * weight.
	 */
	baseline_tally(&baseline, &ret, &seconds);
	cr_expect_eq(ret.samples, 1800);
	cr_expect_eq(ret.latency_samples, 1800);
	cr_expect_eq(ret.hitm, 120, "100 of 1500, as before: %u", ret.hitm);
	cr_expect_eq(ret.sources[SOURCE_L1], 1800);
	cr_expect_eq(ret.latency[20], 1680);
	cr_expect_eq(ret.latency[80], 120);
	cr_expect_eq(ret.latency_sum, 72000, "a mean of 40 still");

	/*
	 * The rate is that of one window: the same weight in the same time. The sums of the weights also
	 * stand for 1800 samples of equal weight.
	 */
	expect_near((double)ret.weight / seconds, 100000.0 / 30, 1e-9);
	expect_near((double)ret.weight * (double)ret.weight / ret.weight_squared, 1800, 1e-6);
}

Test(baseline, a_time_without_samples_counts)
{
	struct tally window = tally_of_window(1000, 0);
	const struct tally nothing = {0};

	baseline_add(&baseline, HALF_LIFE, 1, 30, &window);
	baseline_add(&baseline, HALF_LIFE, 1 + 30 * NSEC_PER_SEC, 30, &nothing);
	baseline_tally(&baseline, &ret, &seconds);
	cr_expect_lt((double)ret.weight / seconds, 100000.0 / 59);
	cr_expect_gt((double)ret.weight / seconds, 100000.0 / 61);
	cr_expect_eq(ret.samples, 1000, "its age makes no sample worth less than another of that age");
}

Test(baseline, constant_windows_settle_at_their_value)
{
	struct tally window = tally_of_window(1000, 3);
	u64 now_ns = 0;

	for (unsigned i = 0; i < 5000; i++) {
		now_ns += NSEC_PER_SEC;
		baseline_add(&baseline, HALF_LIFE, now_ns, 1, &window);
	}
	/* The weights form a geometric series with the ratio r and 5000 terms. */
	{
		double r = exp2(-1.0 / 3600);
		double samples = 1000 * (1 - pow(r, 5000)) / (1 - r);
		double squared = 1000 * (1 - pow(r, 10000)) / (1 - r * r);

		baseline_tally(&baseline, &ret, &seconds);
		expect_near(baseline.samples, samples, 1e-9);
		expect_near((double)ret.samples, samples * samples / squared, 1e-6);
	}
	expect_near((double)ret.hitm / (double)ret.samples, 0.003, 1e-3);
	expect_near((double)ret.latency[80] / (double)ret.latency_samples, 0.003, 1e-3);
	expect_near((double)ret.weight / seconds, 100000, 1e-6);

	/*
	 * Then the windows change. After three half-lives, the new windows make up seven eighths of the
	 * baseline.
	 */
	window = tally_of_window(1000, 100);
	for (unsigned i = 0; i < 3 * 3600; i++) {
		now_ns += NSEC_PER_SEC;
		baseline_add(&baseline, HALF_LIFE, now_ns, 1, &window);
	}
	baseline_tally(&baseline, &ret, &seconds);
	cr_expect_gt(ret.hitm, 0.087 * (double)ret.samples);
	cr_expect_lt(ret.hitm, 0.1 * (double)ret.samples);
}

Test(baseline, age_alone_does_not_change_the_time_that_it_covers)
{
	const struct tally nothing = {0};
	u64 now_ns = 1;

	cr_expect_eq(baseline_covered(&baseline), 0);
	baseline_add(&baseline, HALF_LIFE, now_ns, 30, &nothing);
	cr_expect_eq(baseline_covered(&baseline), 30);
	baseline_add(&baseline, HALF_LIFE, 5 * HALF_LIFE, 0, &nothing);
	expect_near(baseline.seconds, 30.0 / 32, 1e-9);
	expect_near(baseline_covered(&baseline), 30, 1e-9);

	/* As many samples each second would be worth the samples of 2 / ln 2 half-lives. */
	baseline = (struct baseline){0};
	for (now_ns = 1; now_ns < 20 * HALF_LIFE; now_ns += NSEC_PER_SEC)
		baseline_add(&baseline, HALF_LIFE, now_ns, 1, &nothing);
	expect_near(baseline_covered(&baseline), 3600 * 2 / log(2), 1e-3);
}

Test(baseline, small_counts_in_many_buckets_are_not_lost)
{
	struct tally window = {.samples = 100, .latency_samples = 100};
	const struct tally other = {.samples = 1, .latency_samples = 1, .latency = {[3] = 1}};
	u64 sum = 0;

	for (u32 i = 40; i < 140; i++)
		window.latency[i] = 1;
	baseline_add(&baseline, HALF_LIFE, 1, 30, &window);
	baseline_add(&baseline, HALF_LIFE, 1 + HALF_LIFE, 30, &other);
	/*
	 * The samples are worth 51^2 / 26 = 100 of equal weight. Each of the 100 old buckets has the weight
	 * of half a sample. Rounding each bucket down would lose all old samples.
	 */
	baseline_tally(&baseline, &ret, &seconds);
	for (u32 i = 0; i < FINE_BUCKETS; i++)
		sum += ret.latency[i];
	cr_expect_eq(sum, 100);
	cr_expect_eq(ret.latency_samples, 100);
	cr_expect_eq(ret.latency[3], 2);
}

Test(baseline, very_old_windows_are_forgotten)
{
	struct tally window = tally_of_window(1000, 3);
	const struct tally nothing = {0};

	baseline_add(&baseline, NSEC_PER_SEC, 1, 1, &window);
	for (u64 i = 1; i < 200; i++)
		baseline_add(&baseline, NSEC_PER_SEC, 1 + i * NSEC_PER_SEC, 1, &nothing);
	cr_expect_eq(baseline.latency[80], 0);
	cr_expect_eq(baseline.hitm, 0);
	expect_near(baseline.seconds, 2, 1e-9);
}

Test(baseline, a_stopped_clock_ages_nothing)
{
	struct tally window = tally_of_window(1000, 3);

	baseline_add(&baseline, HALF_LIFE, 100 * NSEC_PER_SEC, 1, &window);
	baseline_add(&baseline, HALF_LIFE, 100 * NSEC_PER_SEC, 1, &window);
	cr_expect_eq(baseline.samples, 2000);
	cr_expect_eq(baseline.at_ns, 100 * NSEC_PER_SEC);
}
