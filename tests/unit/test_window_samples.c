// SPDX-License-Identifier: GPL-2.0
#include "estimate/window_samples.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "in_packed.h"

#define START_NS (5 * NSEC_PER_SEC)

struct fixture {
	struct window *window;
	u64 now_ns;
	struct window_samples *samples;
};

static struct fixture fixture;

static void begin(size_t max_bytes)
{
	fixture = (struct fixture){.now_ns = START_NS, .samples = malloc(sizeof(*fixture.samples))};
	cr_assert_not_null(fixture.samples);
	cr_assert_eq(
		window_new(max_bytes, 3600 * NSEC_PER_SEC, START_NS, &(struct timespec){0}, &fixture.window),
		0);
}

static void done(void)
{
	window_free(fixture.window);
	free(fixture.samples);
}

static struct counters fast_and_slow(u64 fast, u64 slow)
{
	struct counters counters = {0};

	counters.samples[SOURCE_L1] = fast;
	counters.samples[SOURCE_REMOTE_DRAM] = slow;
	counters.latency[histogram_fine_index(20)] = fast;
	counters.latency[histogram_fine_index(500)] = slow;
	counters.latency_sum[SOURCE_L1] = 20 * fast;
	counters.latency_sum[SOURCE_REMOTE_DRAM] = 500 * slow;
	return counters;
}

/* A collection of one second, in which each of two cgroups has these samples of event 1. */
static void collect(u64 fast, u64 slow)
{
	struct counters counters = fast_and_slow(fast, slow);

	fixture.now_ns += NSEC_PER_SEC;
	window_begin(fixture.window, fixture.now_ns, &(struct timespec){0});
	if (fast + slow > 0) {
		window_put_counters(fixture.window, 7, 1, &counters);
		window_put_counters(fixture.window, 9, 1, &counters);
	}
	cr_assert_eq(window_end(fixture.window), 0);
}

static int read_entry(u64 seconds, u32 entry)
{
	return window_samples_of(fixture.window, seconds * NSEC_PER_SEC, &entry, 1, fixture.samples);
}

static struct estimate share(void)
{
	struct estimate estimate;

	window_samples_share(fixture.samples, 1, SOURCE_REMOTE_DRAM, 0.95, &estimate);
	return estimate;
}

static struct estimate quantile(double q)
{
	struct estimate estimate;

	window_samples_quantile(fixture.samples, 1, q, 0.95, &estimate);
	return estimate;
}

TestSuite(window_samples, .fini = done);

Test(window_samples, evenly_spread_samples_are_worth_their_number)
{
	struct estimate estimate;
	struct bounds alone;

	begin(1 << 20);
	for (size_t i = 0; i < 60; i++)
		collect(90, 10);
	cr_assert_eq(read_entry(60, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 30);
	cr_expect_eq(fixture.samples->parts[1][0].seconds, 2);

	estimate = share();
	alone = bounds_share(600, 6000, 0.95);
	cr_expect(estimate.known);
	cr_expect_eq(estimate.samples, 6000);
	cr_expect_eq(estimate.worth, 6000);
	cr_expect_eq(estimate.bounds.low, alone.low);
	cr_expect_eq(estimate.bounds.high, alone.high);

	estimate = quantile(0.5);
	cr_expect_eq(estimate.worth, 6000);
	cr_expect_eq(estimate.bounds.low, histogram_fine_lower(histogram_fine_index(20)));
	cr_expect_eq(estimate.bounds.high, histogram_fine_upper(histogram_fine_index(20)));
	estimate = quantile(0.95);
	cr_expect_eq(estimate.bounds.high, histogram_fine_upper(histogram_fine_index(500)));
}

/* Every fifth second is slow. Half of the samples of that second are slow, and none of the others. */
Test(window_samples, bursts_widen_the_bounds)
{
	struct bounds alone = bounds_share(600, 6000, 0.95);
	struct estimate estimate;

	begin(1 << 20);
	for (size_t i = 0; i < 60; i++)
		collect(i % 5 ? 100 : 50, i % 5 ? 0 : 50);
	cr_assert_eq(read_entry(60, 7), 0);
	estimate = share();
	cr_expect_eq(estimate.value, 0.1);
	cr_expect(estimate.worth > 0 && estimate.worth < 3000, "%llu", (unsigned long long)estimate.worth);
	cr_expect(estimate.bounds.low > 0 && estimate.bounds.low < alone.low, "%g", estimate.bounds.low);
	cr_expect(estimate.bounds.high < 1 && estimate.bounds.high > alone.high, "%g", estimate.bounds.high);
	/* Nobody set a limit of 1 cycle, so samples above 1 cycle do not matter for the effect. */
	cr_expect_eq(quantile(0.95).worth, estimate.worth);
}

Test(window_samples, one_long_burst_gives_no_bounds)
{
	struct estimate estimate;

	begin(1 << 20);
	for (size_t i = 0; i < 60; i++)
		collect(i < 30 ? 100 : 50, i < 30 ? 0 : 50);
	cr_assert_eq(read_entry(60, 7), 0);
	estimate = share();
	cr_expect(estimate.known && isinf(estimate.effect));
	cr_expect_eq(estimate.worth, 0);
	estimate = quantile(0.9);
	cr_expect(estimate.known && isinf(estimate.effect));
	cr_expect_eq(estimate.bounds.high, INFINITY);
}

Test(window_samples, only_the_requested_time_and_cgroups_count)
{
	begin(1 << 20);
	for (size_t i = 0; i < 60; i++)
		collect(i < 50 ? 100 : 10, 0);
	cr_assert_eq(read_entry(10, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 10, "a part has at least one collection");
	cr_expect_eq(quantile(0.5).samples, 100);
	cr_expect_eq(fixture.samples->sums[0].samples, 0, "of another event");

	cr_assert_eq(window_samples_of(fixture.window, 10 * NSEC_PER_SEC, (u32[]){9, 7}, 2, fixture.samples),
		     0);
	cr_expect_eq(quantile(0.5).samples, 200);

	cr_assert_eq(read_entry(10, 8), 0);
	cr_expect_not(quantile(0.5).known, "a cgroup without samples");
	cr_expect_not(share().known);
}

Test(window_samples, three_collections_are_too_few_to_detect_bursts)
{
	begin(1 << 20);
	cr_expect_eq(read_entry(60, 7), -ENODATA, "an empty window");
	for (size_t i = 0; i < 3; i++)
		collect(100, 0);
	cr_expect_eq(read_entry(60, 7), -ENODATA);
	collect(100, 0);
	cr_expect_eq(read_entry(3, 7), -ENODATA, "of four collections, three are in the span");
	cr_expect_eq(read_entry(60, 7), 0);
	cr_expect_eq(quantile(0.5).worth, 400);
}

/* When memory is short, the window has merged its older collections, and some parts have no collection. */
Test(window_samples, merged_collections_count_once)
{
	u64 samples = 0;
	double seconds = 0;

	begin(6000);
	for (size_t i = 0; i < 600; i++)
		collect(90, 10);
	cr_assert_lt(window_collections(fixture.window), 100);
	cr_assert_eq(read_entry(300, 9), 0);
	cr_expect(fixture.samples->n_parts >= 4 && fixture.samples->n_parts <= 30, "%zu parts",
		  fixture.samples->n_parts);
	for (size_t i = 0; i < fixture.samples->n_parts; i++) {
		samples += fixture.samples->parts[1][i].tally.samples;
		seconds += fixture.samples->parts[1][i].seconds;
	}
	cr_expect_eq(samples, fixture.samples->sums[1].samples);
	cr_expect_eq((double)samples, 100 * seconds);
	cr_expect_eq(share().worth, samples);
}

/* Collections without a length: nothing divides by zero. */
Test(window_samples, collections_at_the_same_time_are_handled)
{
	struct counters counters = fast_and_slow(9, 1);

	begin(1 << 20);
	for (size_t i = 0; i < 5; i++) {
		window_begin(fixture.window, START_NS, &(struct timespec){0});
		window_put_counters(fixture.window, 7, 1, &counters);
		cr_assert_eq(window_end(fixture.window), 0);
	}
	cr_assert_eq(read_entry(1, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 1);
	cr_expect_eq(share().samples, 50);
}
