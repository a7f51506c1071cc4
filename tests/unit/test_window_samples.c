// SPDX-License-Identifier: GPL-2.0
#include "estimate/window_samples.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "in_pairs.h"

#define START_NS (5 * NSEC_PER_SEC)

struct fixture {
	struct window *window;
	u64 now_ns;
	struct window_samples *samples;
};

static struct fixture new_fixture(size_t max_bytes)
{
	struct fixture fixture = {.now_ns = START_NS, .samples = malloc(sizeof(*fixture.samples))};

	cr_assert_not_null(fixture.samples);
	cr_assert_eq(
		window_new(max_bytes, 3600 * NSEC_PER_SEC, START_NS, &(struct timespec){0}, &fixture.window),
		0);
	return fixture;
}

static void done(struct fixture *fixture)
{
	window_free(fixture->window);
	free(fixture->samples);
}

static struct figures fast_and_slow(u64 fast, u64 slow)
{
	struct figures figures = {0};

	figures.samples[SOURCE_L1] = fast;
	figures.samples[SOURCE_REMOTE_DRAM] = slow;
	figures.latency[histogram_fine_index(20)] = fast;
	figures.latency[histogram_fine_index(500)] = slow;
	figures.latency_sum[SOURCE_L1] = 20 * fast;
	figures.latency_sum[SOURCE_REMOTE_DRAM] = 500 * slow;
	return figures;
}

/* A collection of one second, in which each of two cgroups has these samples of event 1. */
static void collect(struct fixture *fixture, u64 fast, u64 slow)
{
	struct figures figures = fast_and_slow(fast, slow);

	fixture->now_ns += NSEC_PER_SEC;
	window_begin(fixture->window, fixture->now_ns, &(struct timespec){0});
	if (fast + slow > 0) {
		window_put_figures(fixture->window, 7, 1, &figures);
		window_put_figures(fixture->window, 9, 1, &figures);
	}
	cr_assert_eq(window_end(fixture->window), 0);
}

static int read_entry(struct fixture *fixture, u64 seconds, u32 entry)
{
	return window_samples_of(fixture->window, seconds * NSEC_PER_SEC, &entry, 1, fixture->samples);
}

static struct estimate share(const struct fixture *fixture)
{
	struct estimate estimate;

	window_samples_share(fixture->samples, 1, SOURCE_REMOTE_DRAM, 0.95, &estimate);
	return estimate;
}

static struct estimate quantile(const struct fixture *fixture, double q)
{
	struct estimate estimate;

	window_samples_quantile(fixture->samples, 1, q, 0.95, &estimate);
	return estimate;
}

Test(window_samples, evenly_spread_samples_are_worth_their_number)
{
	struct fixture fixture = new_fixture(1 << 20);
	struct estimate estimate;
	struct bounds alone;

	for (size_t i = 0; i < 60; i++)
		collect(&fixture, 90, 10);
	cr_assert_eq(read_entry(&fixture, 60, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 30);
	cr_expect_eq(fixture.samples->parts[1][0].seconds, 2);

	estimate = share(&fixture);
	alone = bounds_share(600, 6000, 0.95);
	cr_expect(estimate.known);
	cr_expect_eq(estimate.samples, 6000);
	cr_expect_eq(estimate.worth, 6000);
	cr_expect_eq(estimate.bounds.low, alone.low);
	cr_expect_eq(estimate.bounds.high, alone.high);

	estimate = quantile(&fixture, 0.5);
	cr_expect_eq(estimate.worth, 6000);
	cr_expect_eq(estimate.bounds.low, histogram_fine_lower(histogram_fine_index(20)));
	cr_expect_eq(estimate.bounds.high, histogram_fine_upper(histogram_fine_index(20)));
	estimate = quantile(&fixture, 0.95);
	cr_expect_eq(estimate.bounds.high, histogram_fine_upper(histogram_fine_index(500)));
	done(&fixture);
}

/* Every fifth second is slow. Half of the samples of that second are slow, and none of the others. */
Test(window_samples, bursts_widen_the_bounds)
{
	struct fixture fixture = new_fixture(1 << 20);
	struct bounds alone = bounds_share(600, 6000, 0.95);
	struct estimate estimate;

	for (size_t i = 0; i < 60; i++)
		collect(&fixture, i % 5 ? 100 : 50, i % 5 ? 0 : 50);
	cr_assert_eq(read_entry(&fixture, 60, 7), 0);
	estimate = share(&fixture);
	cr_expect_eq(estimate.value, 0.1);
	cr_expect(estimate.worth > 0 && estimate.worth < 3000, "%llu", (unsigned long long)estimate.worth);
	cr_expect(estimate.bounds.low > 0 && estimate.bounds.low < alone.low, "%g", estimate.bounds.low);
	cr_expect(estimate.bounds.high < 1 && estimate.bounds.high > alone.high, "%g", estimate.bounds.high);
	/* Nobody set a limit of 1 cycle, so samples above 1 cycle do not matter for the effect. */
	cr_expect_eq(quantile(&fixture, 0.95).worth, estimate.worth);
	done(&fixture);
}

Test(window_samples, one_long_burst_gives_no_bounds)
{
	struct fixture fixture = new_fixture(1 << 20);
	struct estimate estimate;

	for (size_t i = 0; i < 60; i++)
		collect(&fixture, i < 30 ? 100 : 50, i < 30 ? 0 : 50);
	cr_assert_eq(read_entry(&fixture, 60, 7), 0);
	estimate = share(&fixture);
	cr_expect(estimate.known && isinf(estimate.effect));
	cr_expect_eq(estimate.worth, 0);
	estimate = quantile(&fixture, 0.9);
	cr_expect(estimate.known && isinf(estimate.effect));
	cr_expect_eq(estimate.bounds.high, INFINITY);
	done(&fixture);
}

Test(window_samples, only_the_requested_time_and_cgroups_count)
{
	struct fixture fixture = new_fixture(1 << 20);

	for (size_t i = 0; i < 60; i++)
		collect(&fixture, i < 50 ? 100 : 10, 0);
	cr_assert_eq(read_entry(&fixture, 10, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 10, "a part has at least one collection");
	cr_expect_eq(quantile(&fixture, 0.5).samples, 100);
	cr_expect_eq(fixture.samples->sums[0].samples, 0, "of another event");

	cr_assert_eq(window_samples_of(fixture.window, 10 * NSEC_PER_SEC, (u32[]){9, 7}, 2, fixture.samples),
		     0);
	cr_expect_eq(quantile(&fixture, 0.5).samples, 200);

	cr_assert_eq(read_entry(&fixture, 10, 8), 0);
	cr_expect_not(quantile(&fixture, 0.5).known, "a cgroup without samples");
	cr_expect_not(share(&fixture).known);
	done(&fixture);
}

Test(window_samples, three_collections_are_too_few_to_detect_bursts)
{
	struct fixture fixture = new_fixture(1 << 20);

	cr_expect_eq(read_entry(&fixture, 60, 7), -ENODATA, "an empty window");
	for (size_t i = 0; i < 3; i++)
		collect(&fixture, 100, 0);
	cr_expect_eq(read_entry(&fixture, 60, 7), -ENODATA);
	collect(&fixture, 100, 0);
	cr_expect_eq(read_entry(&fixture, 3, 7), -ENODATA, "of four collections, three are in the span");
	cr_expect_eq(read_entry(&fixture, 60, 7), 0);
	cr_expect_eq(quantile(&fixture, 0.5).worth, 400);
	done(&fixture);
}

/* When memory is short, the window has merged its older collections, and some parts have no collection. */
Test(window_samples, merged_collections_count_once)
{
	struct fixture fixture = new_fixture(6000);
	u64 samples = 0;
	double seconds = 0;

	for (size_t i = 0; i < 600; i++)
		collect(&fixture, 90, 10);
	cr_assert_lt(window_collections(fixture.window), 100);
	cr_assert_eq(read_entry(&fixture, 300, 9), 0);
	cr_expect(fixture.samples->n_parts >= 4 && fixture.samples->n_parts <= 30, "%zu parts",
		  fixture.samples->n_parts);
	for (size_t i = 0; i < fixture.samples->n_parts; i++) {
		samples += fixture.samples->parts[1][i].tally.samples;
		seconds += fixture.samples->parts[1][i].seconds;
	}
	cr_expect_eq(samples, fixture.samples->sums[1].samples);
	cr_expect_eq((double)samples, 100 * seconds);
	cr_expect_eq(share(&fixture).worth, samples);
	done(&fixture);
}

/* Collections without a length: nothing divides by zero. */
Test(window_samples, collections_at_the_same_time_are_handled)
{
	struct fixture fixture = new_fixture(1 << 20);
	struct figures figures = fast_and_slow(9, 1);

	for (size_t i = 0; i < 5; i++) {
		window_begin(fixture.window, START_NS, &(struct timespec){0});
		window_put_figures(fixture.window, 7, 1, &figures);
		cr_assert_eq(window_end(fixture.window), 0);
	}
	cr_assert_eq(read_entry(&fixture, 1, 7), 0);
	cr_expect_eq(fixture.samples->n_parts, 1);
	cr_expect_eq(share(&fixture).samples, 50);
	done(&fixture);
}
