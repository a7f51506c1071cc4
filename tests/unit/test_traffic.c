// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "in_packed.h"
#include "neighbours/traffic.h"
#include "pebsd/data_source.h"
#include "pebsd/histogram.h"

#define SECOND NSEC_PER_SEC

static struct window *new_window(void)
{
	const struct timespec start = {.tv_sec = 1000};
	struct window *window;

	cr_assert_eq(window_new(1 << 20, 3600 * SECOND, 0, &start, &window), 0);
	return window;
}

static void begin(struct window *window, u64 now_ns)
{
	window_begin(window, now_ns, &(struct timespec){.tv_sec = 1000 + (time_t)(now_ns / SECOND)});
}

/* Puts `n` samples of one source with a total `weight` and latencies of `cycles` each. */
static void put(struct window *window, u32 entry, unsigned event, enum source source, u64 weight, u64 n,
		u32 cycles)
{
	struct counters counters = {0};

	counters.samples[source] = n;
	counters.weight[source] = weight;
	counters.latency_sum[source] = n * cycles;
	counters.latency[histogram_fine_index(cycles)] = n;
	window_put_counters(window, entry, event, &counters);
}

static const struct traffic_settings settings = {.span_ns = 600 * SECOND,
						 .bin_ns = 5 * SECOND,
						 .entry = 7,
						 .events = 1,
						 .latency_events = 1,
						 .samples_min = 8};

static struct traffic *new_traffic(const struct window *window, const struct traffic_settings *how)
{
	struct traffic *traffic;

	cr_assert_eq(traffic_new(window, how, &traffic), 0);
	return traffic;
}

static void expect_point(const struct traffic *traffic, size_t i, u32 entry, u32 bin, double value)
{
	cr_assert_lt(i, traffic->n_points);
	cr_expect_eq(traffic->points[i].entry, entry);
	cr_expect_eq(traffic->points[i].bin, bin);
	cr_expect_float_eq(traffic->points[i].traffic, value, 1e-9);
}

Test(traffic, without_collections_there_are_no_bins)
{
	_cleanup_(window_freep) struct window *window = new_window();
	struct traffic *traffic;

	cr_expect_eq(traffic_new(window, &settings, &traffic), -ENODATA);
}

/*
 * Collections of one second form bins of five, including a second in which entry 9 is idle. The last two
 * collections are less than half of a bin, so they are dropped.
 */
Test(traffic, collections_are_grouped_into_bins)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;

	for (u64 i = 1; i <= 12; i++) {
		begin(window, i * SECOND);
		if (i != 3)
			put(window, 9, 0, SOURCE_LOCAL_DRAM, 100 * i, 1, 300);
		put(window, 7, 0, SOURCE_L3, 10, 2, 100 * (u32)i);
		window_end(window);
	}
	traffic = new_traffic(window, &settings);
	cr_expect_eq(traffic->n, 2);
	cr_expect_eq(traffic->covered_ns, 10 * SECOND);
	cr_expect_eq(traffic->event, 0);
	cr_expect_eq(traffic->n_points, 4);
	expect_point(traffic, 0, 7, 0, 10);
	expect_point(traffic, 1, 7, 1, 10);
	expect_point(traffic, 2, 9, 0, (100 + 200 + 400 + 500) / 5.0);
	expect_point(traffic, 3, 9, 1, (600 + 700 + 800 + 900 + 1000) / 5.0);
	cr_expect_float_eq(traffic->latency[0], 300, 1e-9);
	cr_expect_float_eq(traffic->latency[1], 800, 1e-9);
	/*
	 * Two latencies each of 100, 200, ..., 500 have a standard deviation (n - 1) of 149. The tolerance is
	 * for the buckets, which are an eighth of an octave wide.
	 */
	cr_expect_float_eq(traffic->error[0], 149.07 / sqrt(10), 2.5);
}

/* Clocks are not exact: a second may be slightly longer or shorter. */
Test(traffic, a_bin_ends_at_the_collection_closest_to_its_length)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;

	for (u64 i = 1; i <= 50; i++) {
		begin(window, i * SECOND - (i % 2 ? 400000 : 0));
		window_end(window);
	}
	traffic = new_traffic(window, &settings);
	cr_expect_eq(traffic->n, 10);
	cr_expect_eq(traffic->covered_ns, 50 * SECOND);
}

Test(traffic, a_long_collection_is_a_bin)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;
	/* The machine was suspended during the third collection. */
	static const u64 ends[] = {10, 20, 100, 110};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		begin(window, ends[i] * SECOND);
		put(window, 7, 0, SOURCE_L3, 800, 8, 200);
		window_end(window);
	}
	traffic = new_traffic(window, &settings);
	cr_expect_eq(traffic->n, 4);
	expect_point(traffic, 0, 7, 0, 80);
	expect_point(traffic, 2, 7, 2, 10);
	cr_expect_float_eq(traffic->latency[1], 200, 1e-9);
	cr_expect(isnan(traffic->latency[2]), "no moment that others' traffic could be held against");
	cr_expect(isnan(traffic->error[2]));
	cr_expect_float_eq(traffic->latency[3], 200, 1e-9);
}

Test(traffic, only_shared_levels_and_requested_events_count)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;
	double expected = 0;

	begin(window, 5 * SECOND);
	for (unsigned source = 0; source < SOURCE_COUNT; source++) {
		static const bool shared[SOURCE_COUNT] = {
			[SOURCE_L3] = true,          [SOURCE_L4] = true,           [SOURCE_MSC] = true,
			[SOURCE_LOCAL_CACHE] = true, [SOURCE_REMOTE_CACHE] = true, [SOURCE_LOCAL_DRAM] = true,
			[SOURCE_REMOTE_DRAM] = true, [SOURCE_PMEM] = true,         [SOURCE_CXL] = true};

		put(window, 9, 1, source, 5ULL << source, 1, 100);
		expected += shared[source] ? (double)(1U << source) : 0; /* 5 << source in 5 s */
		put(window, 10, 2, source, 5, 1, 100);
	}
	put(window, 11, 0, SOURCE_L1, 5, 1, 100);
	put(window, 12, 0, SOURCE_L3, 0, 30, 100); /* without periods, as in some recordings */
	window_end(window);
	traffic = new_traffic(window, &(struct traffic_settings){.span_ns = 5 * SECOND,
								 .bin_ns = 5 * SECOND,
								 .entry = 7,
								 .events = 3,
								 .latency_events = 3,
								 .samples_min = 8});
	cr_expect_eq(traffic->n_points, 2);
	expect_point(traffic, 0, 9, 0, expected);
	expect_point(traffic, 1, 12, 0, 30 / 5.0);
	cr_expect(isnan(traffic->latency[0]), "it had no sample");
	cr_expect_eq(traffic->event, 0);
}

/* Traffic is the sum over all PMUs. The latency is that of one PMU, because they measure differently. */
Test(traffic, the_latency_is_that_of_the_event_with_most_latencies)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;
	struct traffic_settings both = settings;

	both.events = both.latency_events = 1U << 2 | 1U << 5;
	for (u64 i = 1; i <= 2; i++) {
		begin(window, i * 5 * SECOND);
		put(window, 7, 2, SOURCE_L3, 50, 9, 100);
		put(window, 7, 5, SOURCE_LOCAL_DRAM, 500, i == 1 ? 7 : 80, 300);
		put(window, 7, 0, SOURCE_L3, 50, 900, 900);
		window_end(window);
	}
	traffic = new_traffic(window, &both);
	cr_expect_eq(traffic->event, 5);
	cr_expect(isnan(traffic->latency[0]), "7 are too few");
	cr_expect_float_eq(traffic->latency[1], 300, 1e-9);
	cr_expect_eq(traffic->n_points, 2);
	expect_point(traffic, 0, 7, 0, 110);
	expect_point(traffic, 1, 7, 1, 110);
}

/* The event of misses ran for half of the first bin and for all of the second one. */
Test(traffic, misses_are_lines_of_64_bytes_scaled_for_the_time_that_they_ran)
{
	_cleanup_(window_freep) struct window *window = new_window();
	_cleanup_(readings_freep) struct readings *readings = NULL;
	_cleanup_(traffic_freep) struct traffic *traffic = NULL;
	struct traffic_settings misses = settings;

	cr_assert_eq(readings_new(600 * SECOND, 2, &readings), 0);
	for (u64 i = 1; i <= 2; i++) {
		const struct reading now[2] = {
			[1] = {.counted = true,
			       .enabled_ns = 5 * i * SECOND,
			       .running_ns = i == 1 ? 5 * SECOND / 2 : 15 * SECOND / 2}};

		begin(window, i * 5 * SECOND);
		put(window, 7, 0, SOURCE_L3, 50, 9, 100);
		put(window, 7, 1, SOURCE_UNKNOWN, 1000, 1, 0);
		put(window, 9, 1, SOURCE_UNKNOWN, 5000, 5, 0);
		window_end(window);
		readings_push(readings, i * 5 * SECOND, now);
	}
	misses.events = 0;
	misses.misses = 1U << 1;
	misses.readings = readings;
	traffic = new_traffic(window, &misses);
	cr_expect_eq(traffic->n_points, 4, "loads do not count");
	expect_point(traffic, 0, 7, 0, 1000 * 64 * 2 / 5.0);
	expect_point(traffic, 1, 7, 1, 1000 * 64 / 5.0);
	expect_point(traffic, 2, 9, 0, 5000 * 64 * 2 / 5.0);
	expect_point(traffic, 3, 9, 1, 5000 * 64 / 5.0);
	cr_expect_float_eq(traffic->latency[1], 100, 1e-9);
}
