// SPDX-License-Identifier: GPL-2.0
/*
 * Counts how often each bound of each metric holds, compared with the promise. Prints a table and exits with 1
 * if a bound's share is more than half a point below the promise. Metrics that need one random number per draw
 * are drawn ten times as often, because their bounds hold hardly more often than promised. With 10,000 draws,
 * chance alone would move a bound that is promised at 50 % by half a point in a third of the cells.
 *   coverage [DRAWS]
 */
#include "coverage.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ALLOWED      0.005
#define CHEAP_TIMES  10
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sweep {
	struct coverage_settings settings;
	unsigned draws;
	unsigned cells;
	unsigned failures;
	double least; /* the lowest of coverage minus promise */
};

static void report(struct sweep *sweep, const char *metric, const char *of, double n,
		   struct coverage coverage)
{
	double nominal = sweep->settings.confidence;
	double least = fmin(coverage.low, coverage.high) - nominal;
	bool failed = least < -ALLOWED;

	printf("%-12s %-14s %8g %8.2f %8.2f %8.2f%s\n", metric, of, n, 100 * nominal, 100 * coverage.low,
	       100 * coverage.high, failed ? "  under" : "");
	sweep->cells++;
	sweep->failures += failed;
	sweep->least = fmin(sweep->least, least);
	/* Each cell draws other numbers. */
	sweep->settings.seed++;
}

static const struct coverage_settings *settings_of(struct sweep *sweep, unsigned times)
{
	sweep->settings.draws = sweep->draws * times;
	return &sweep->settings;
}

static void quantiles(struct sweep *sweep)
{
	static const double qs[] = {0.5, 0.9, 0.95, 0.99, 0.999};
	static const u64 ns[] = {20, 100, 500, 3000, 20000};
	static const u64 memory_ns[] = {100, 1000, 10000};
	struct law law;
	char of[32];

	law_of_memory(&law);
	for (size_t i = 0; i < COUNT(qs); i++) {
		(void)snprintf(of, sizeof(of), "p%g", qs[i] * 100);
		for (size_t j = 0; j < COUNT(ns); j++)
			report(sweep, "quantile", of, (double)ns[j],
			       coverage_edge(settings_of(sweep, CHEAP_TIMES), ns[j], qs[i]));
		for (size_t j = 0; j < COUNT(memory_ns); j++)
			report(sweep, "  of memory", of, (double)memory_ns[j],
			       coverage_quantile(settings_of(sweep, 1), &law, memory_ns[j], qs[i]));
	}
}

static void shares(struct sweep *sweep)
{
	static const double ps[] = {0.001, 0.01, 0.1, 0.5, 0.9, 0.999};
	static const u64 ns[] = {20, 100, 500, 3000, 20000};
	char of[32];

	for (size_t i = 0; i < COUNT(ps); i++) {
		(void)snprintf(of, sizeof(of), "p = %g", ps[i]);
		for (size_t j = 0; j < COUNT(ns); j++)
			report(sweep, "share", of, (double)ns[j],
			       coverage_share(settings_of(sweep, CHEAP_TIMES), ns[j], ps[i]));
	}
}

static void rates(struct sweep *sweep)
{
	static const struct {
		const char *name;
		double from; /* least number of expected samples */
		u64 weights[6];
		unsigned n;
	} kinds[] = {
		{"equal", 0, {10007}, 1},
		{"1 to 2", 3, {10007, 20011}, 2},
		{"1 to 10", 3, {1009, 10007}, 2},
		{"1 to 32", 3, {1000, 2000, 4000, 8000, 16000, 32000}, 6},
	};
	static const double expected[] = {0.5, 3, 20, 100, 500, 20000};

	for (size_t i = 0; i < COUNT(kinds); i++)
		for (size_t j = 0; j < COUNT(expected); j++)
			if (expected[j] >= kinds[i].from)
				report(sweep, "rate", kinds[i].name, expected[j],
				       coverage_rate(settings_of(sweep, CHEAP_TIMES), expected[j],
						     kinds[i].weights, kinds[i].n));
}

static void means(struct sweep *sweep)
{
	static const u64 ns[] = {20, 100, 500, 3000, 20000};
	static const u32 caps[] = {512, 2048};
	struct law memory;
	struct law two;
	char of[32];

	law_of_memory(&memory);
	law_of_two(0.9, &two);
	for (size_t i = 0; i < COUNT(caps); i++)
		for (size_t j = 0; j < COUNT(ns); j++) {
			(void)snprintf(of, sizeof(of), "cap %u", caps[i]);
			report(sweep, "mean", of, (double)ns[j],
			       coverage_mean(settings_of(sweep, 1), &memory, ns[j], caps[i]));
			report(sweep, "  of two", of, (double)ns[j],
			       coverage_mean(settings_of(sweep, 1), &two, ns[j], caps[i]));
		}
}

static void ratios(struct sweep *sweep)
{
	static const struct {
		const char *name;
		enum coverage_ratio metric;
	} metrics[] = {
		{"p50", RATIO_P50},        {"p90", RATIO_P90},   {"mean", RATIO_MEAN},
		{"share 5%", RATIO_SHARE}, {"rate", RATIO_RATE},
	};
	static const u64 ns[] = {500, 3000};

	for (size_t i = 0; i < COUNT(metrics); i++)
		for (size_t j = 0; j < COUNT(ns); j++)
			report(sweep, "ratio", metrics[i].name, (double)ns[j],
			       coverage_ratio(settings_of(sweep, 1), metrics[i].metric, ns[j], 8));
}

int main(int argc, char *argv[])
{
	static const double confidences[] = {0.5, 0.9, 0.95, 0.99};
	unsigned draws = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;
	struct sweep sweep = {.settings = {.seed = 1}, .draws = draws, .least = INFINITY};

	if (argc > 2 || draws == 0) {
		(void)fprintf(stderr, "usage: coverage [DRAWS]\n");
		return 2;
	}
	printf("How often a bound holds, in %u draws each, and %u of what is one number, in percent\n", draws,
	       draws * CHEAP_TIMES);
	printf("%-12s %-14s %8s %8s %8s %8s\n", "metric", "of", "n", "promised", "low", "high");
	for (size_t i = 0; i < COUNT(confidences); i++) {
		sweep.settings.confidence = confidences[i];
		quantiles(&sweep);
		shares(&sweep);
		rates(&sweep);
		means(&sweep);
		ratios(&sweep);
	}
	printf("%u cells, %u under by more than half a point; the least is %+.2f points\n", sweep.cells,
	       sweep.failures, 100 * sweep.least);
	return sweep.failures > 0;
}
