// SPDX-License-Identifier: GPL-2.0
#include "coverage.h"

#include <math.h>
#include <string.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "estimate/estimate.h"
#include "window/baseline.h"

static void begin(const struct coverage_settings *settings)
{
	set_seed(settings->seed, 2463534242U);
}

void law_of_memory(struct law *ret)
{
	double sum = 0;
	unsigned n = 0;

	memset(ret, 0, sizeof(*ret));
	for (u32 cycles = 6; cycles < 4000; cycles += cycles / 20 + 1, n++) {
		double fast = (log(cycles) - log(30)) / 0.5;
		double slow = (log(cycles) - log(300)) / 0.6;

		ret->cycles[n] = cycles;
		ret->chance[n] = 0.95 * exp(-fast * fast / 2) + 0.05 * exp(-slow * slow / 2);
		sum += ret->chance[n];
	}
	ret->n = n;
	for (unsigned i = 0; i < n; i++)
		ret->chance[i] /= sum;
}

void law_of_two(double chance_of_lower, struct law *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->n = 2;
	ret->cycles[0] = 64;
	ret->cycles[1] = 1024;
	ret->chance[0] = chance_of_lower;
	ret->chance[1] = 1 - chance_of_lower;
}

double law_quantile(const struct law *law, double q)
{
	double sum = 0;

	for (unsigned i = 0; i + 1 < law->n; i++) {
		sum += law->chance[i];
		if (sum >= q)
			return law->cycles[i];
	}
	return law->cycles[law->n - 1];
}

double law_mean(const struct law *law, u32 cap)
{
	double sum = 0;

	for (unsigned i = 0; i < law->n; i++)
		sum += law->chance[i] * (law->cycles[i] < cap ? law->cycles[i] : cap);
	return sum;
}

/* Draws `n` latencies: the number of each value, one binomial after the other. */
static void draw(const struct law *law, u64 n, u32 histogram[FINE_BUCKETS], u64 *ret_sum)
{
	double left = 1;
	u64 sum = 0;

	memset(histogram, 0, FINE_BUCKETS * sizeof(*histogram));
	for (unsigned i = 0; i < law->n && n > 0; i++) {
		double chance = i + 1 == law->n ? 1 : fmin(1, law->chance[i] / left);
		u64 k = (u64)rbinom((double)n, chance);

		histogram[histogram_fine_index(law->cycles[i])] += (u32)k;
		sum += k * law->cycles[i];
		n -= k;
		left -= law->chance[i];
	}
	*ret_sum = sum;
}

static struct coverage share_of(const struct coverage_settings *settings, unsigned low, unsigned high)
{
	return (struct coverage){(double)low / settings->draws, (double)high / settings->draws};
}

struct coverage coverage_quantile(const struct coverage_settings *settings, const struct law *law, u64 n,
				  double q)
{
	double truth = law_quantile(law, q);
	u32 histogram[FINE_BUCKETS];
	unsigned low = 0;
	unsigned high = 0;
	u64 sum;

	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		struct bounds bounds;

		draw(law, n, histogram, &sum);
		bounds = quantile_bounds(histogram, n, q, settings->confidence);
		low += truth > bounds.low;
		high += truth <= bounds.high;
	}
	return share_of(settings, low, high);
}

struct coverage coverage_edge(const struct coverage_settings *settings, u64 n, double q)
{
	struct law law;
	u32 histogram[FINE_BUCKETS];
	unsigned low = 0;
	unsigned high = 0;
	u64 sum;

	law_of_two(q, &law);
	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		struct bounds bounds;

		draw(&law, n, histogram, &sum);
		bounds = quantile_bounds(histogram, n, q, settings->confidence);
		low += law.cycles[0] > bounds.low;
		high += law.cycles[1] <= bounds.high;
	}
	return share_of(settings, low, high);
}

struct coverage coverage_mean(const struct coverage_settings *settings, const struct law *law, u64 n, u32 cap)
{
	double truth = law_mean(law, ~0U);
	double capped = law_mean(law, cap);
	u32 histogram[FINE_BUCKETS];
	unsigned low = 0;
	unsigned high = 0;
	u64 sum;

	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		struct bounds bounds;

		draw(law, n, histogram, &sum);
		bounds = bounds_mean(histogram, n, cap, 1, settings->confidence);
		low += truth >= bounds.low;
		high += capped <= bounds.high;
	}
	return share_of(settings, low, high);
}

struct coverage coverage_share(const struct coverage_settings *settings, u64 n, double p)
{
	unsigned low = 0;
	unsigned high = 0;

	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		struct bounds bounds = bounds_share(rbinom((double)n, p), (double)n, settings->confidence);

		low += p >= bounds.low;
		high += p <= bounds.high;
	}
	return share_of(settings, low, high);
}

struct coverage coverage_rate(const struct coverage_settings *settings, double expected, const u64 *weights,
			      unsigned n_weights)
{
	const double seconds = 30;
	double truth = 0;
	double largest = 0;
	unsigned low = 0;
	unsigned high = 0;

	for (unsigned i = 0; i < n_weights; i++) {
		truth += expected / n_weights * (double)weights[i] / seconds;
		largest = fmax(largest, (double)weights[i]);
	}
	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		u64 samples = 0;
		u64 weight = 0;
		double squared = 0;
		struct bounds bounds;

		for (unsigned j = 0; j < n_weights; j++) {
			u64 k = (u64)rpois(expected / n_weights);

			samples += k;
			weight += k * weights[j];
			squared += (double)k * (double)weights[j] * (double)weights[j];
		}
		bounds = bounds_rate(samples, weight, squared, largest, seconds, 1, settings->confidence);
		low += truth >= bounds.low;
		high += truth <= bounds.high;
	}
	return share_of(settings, low, high);
}

#define RATIO_SHARE_CHANCE 0.05
#define RATIO_WEIGHT       10007
#define RATIO_WINDOW_NS    (30 * NSEC_PER_SEC)

static void draw_tally(const struct law *law, enum coverage_ratio metric, u64 n, struct tally *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->samples = metric == RATIO_RATE ? (u64)rpois((double)n) : n;
	ret->weight = ret->samples * RATIO_WEIGHT;
	ret->weight_squared = (double)ret->weight * RATIO_WEIGHT;
	if (metric == RATIO_SHARE)
		ret->hitm = (u32)rbinom((double)n, RATIO_SHARE_CHANCE);
	if (metric > RATIO_MEAN)
		return;
	ret->latency_samples = n;
	draw(law, n, ret->latency, &ret->latency_sum);
}

struct coverage coverage_ratio(const struct coverage_settings *settings, enum coverage_ratio metric, u64 n,
			       unsigned half_life)
{
	static const struct metric metrics[] = {
		[RATIO_P50] = {METRIC_QUANTILE, .ratio = true, .quantile = 0.5},
		[RATIO_P90] = {METRIC_QUANTILE, .ratio = true, .quantile = 0.9},
		[RATIO_MEAN] = {METRIC_MEAN, .ratio = true},
		[RATIO_SHARE] = {METRIC_SHARE, .ratio = true, .share = METRIC_SHARE_HITM},
		[RATIO_RATE] = {METRIC_RATE, .ratio = true},
	};
	struct rule rule = {.metric = metrics[metric], .threshold = 1.5, .clear = 1.2};
	struct limits limits = rule_limits(&rule, rule.threshold);
	struct baseline baseline = {0};
	struct law law;
	struct tally tally;
	struct tally base;
	struct measured measured = {.tally = &tally, .seconds = 30, .base = &base};
	unsigned low = 0;
	unsigned high = 0;
	u64 now_ns = 0;

	rule.confidence = settings->confidence;
	law_of_memory(&law);
	begin(settings);
	for (unsigned i = 0; i < settings->draws; i++) {
		struct estimate estimate;

		/* After this number of new windows, little is left of the previous draw's baseline. */
		for (unsigned j = 0; j < 3 * half_life; j++) {
			draw_tally(&law, metric, n, &tally);
			now_ns += RATIO_WINDOW_NS;
			baseline_add(&baseline, half_life * RATIO_WINDOW_NS, now_ns, 30, &tally);
		}
		baseline_tally(&baseline, &base, &measured.base_seconds);
		draw_tally(&law, metric, n, &tally);
		estimate_of(&rule, &limits, &measured, &estimate);
		low += 1 >= estimate.bounds.low;
		high += 1 <= estimate.bounds.high;
	}
	return share_of(settings, low, high);
}
