// SPDX-License-Identifier: GPL-2.0
#include "window/bounds.h"

#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/*
 * The probability that a bound is wrong. The slack is for confidences that have no exact binary value: 1 -
 * 0.9 is a little less than 0.1.
 */
static double chance_of(double confidence)
{
	return (1 - confidence) * (1 + 1e-9);
}

bool bounds_rank_is_low(u64 rank, u64 n, double q, double confidence)
{
	return rank > 0 && rank <= n &&
	       pbinom((double)(rank - 1), (double)n, q, true, false) <= chance_of(confidence);
}

bool bounds_rank_is_high(u64 rank, u64 n, double q, double confidence)
{
	return rank > n ||
	       (rank > 0 && pbinom((double)(rank - 1), (double)n, q, false, false) <= chance_of(confidence));
}

/*
 * Estimates the quantile of the binomial distribution of n and q that corresponds to the quantile `z` of the
 * normal distribution, by its first three moments (Cornish and Fisher).
 */
static u64 expected_rank(u64 n, double q, double z)
{
	double rank = (double)n * q + z * sqrt((double)n * q * (1 - q)) + (z * z - 1) * (1 - 2 * q) / 6;

	return rank > 1 ? (u64)fmin(rank + 0.5, (double)n) : 1;
}

/* Returns the smallest m for which m * worth / n, rounded down, is at least `count`. */
static u64 scaled_up(u64 count, u64 n, u64 worth)
{
	return (u64)(((unsigned __int128)count * n + worth - 1) / worth);
}

static void independent_ranks(u64 n, double q, double confidence, u64 *ret_low, u64 *ret_high)
{
	double z = qnorm(chance_of(confidence), 0, 1, true, false);
	u64 low = n ? expected_rank(n, q, z) : 0;
	u64 high = n ? expected_rank(n, q, -z) + 1 : 1;

	/* The exact tails decide; the estimate is rarely off by more than one. */
	if (bounds_rank_is_low(low, n, q, confidence))
		while (low < n && bounds_rank_is_low(low + 1, n, q, confidence))
			low++;
	else
		while (low > 0 && !bounds_rank_is_low(low, n, q, confidence))
			low--;
	if (bounds_rank_is_high(high, n, q, confidence))
		while (high > 1 && bounds_rank_is_high(high - 1, n, q, confidence))
			high--;
	else
		while (!bounds_rank_is_high(high, n, q, confidence))
			high++;
	*ret_low = low;
	*ret_high = high;
}

void bounds_ranks(u64 n, u64 worth, double q, double confidence, u64 *ret_low, u64 *ret_high)
{
	u64 low, high;

	independent_ranks(worth, q, confidence, &low, &high);
	if (worth >= n) {
		*ret_low = low;
		*ret_high = high;
		return;
	}
	/*
	 * So far, the ranks are those of `worth` independent samples. Convert them to ranks of all n samples:
	 * as many independent samples as before must be at or beyond each rank, so round outwards.
	 */
	*ret_low = low ? n + 1 - scaled_up(worth + 1 - low, n, worth) : 0;
	*ret_high = high > worth ? n + 1 : scaled_up(high, n, worth);
}

/* The bucket of the `rank`th smallest value, from 1. */
static u32 bucket_of_rank(const u32 histogram[FINE_BUCKETS], u64 rank)
{
	u64 counted = 0;

	for (u32 i = 0; i < FINE_OVERFLOW; i++) {
		counted += histogram[i];
		if (counted >= rank)
			return i;
	}
	return FINE_OVERFLOW;
}

/* The exclusive lower edge of a bucket, and its upper edge; the last bucket has no upper edge. */
static double lower_edge(u32 bucket)
{
	return histogram_fine_lower(bucket);
}

static double upper_edge(u32 bucket)
{
	return bucket >= FINE_OVERFLOW ? INFINITY : (double)histogram_fine_upper(bucket);
}

struct bounds bounds_between_ranks(const u32 histogram[FINE_BUCKETS], u64 n, u64 low, u64 high)
{
	return (struct bounds){
		.low = low == 0 ? 0 : lower_edge(bucket_of_rank(histogram, low)),
		.high = high > n ? INFINITY : upper_edge(bucket_of_rank(histogram, high)),
	};
}

struct bounds bounds_share(double k, double n, double confidence)
{
	double chance = chance_of(confidence);

	return (struct bounds){
		.low = k > 0 ? qbeta(chance, fmin(k, n), fmax(n - k, 0) + 1, true, false) : 0,
		.high = k < n ? qbeta(chance, fmax(k, 0) + 1, n - fmax(k, 0), false, false) : 1,
	};
}

struct bounds_weights bounds_weights(u64 samples, u64 weight, double weight_squared, double largest)
{
	double n = (double)samples;
	double sum = (double)weight;
	double mean;
	double spread;

	if (samples == 0 || weight == 0)
		return (struct bounds_weights){
			.high_number = 1,
			.high_unit = samples == 0 && largest > 0 ? largest : INFINITY,
		};
	mean = sum / n;
	/* No weight is further above the mean than if a single sample caused all of the spread (Samuelson). */
	spread = weight_squared - sum * mean;
	if (spread > 1e-9 * weight_squared) {
		largest = fmax(largest, mean + sqrt(spread * (n - 1) / n));
	} else {
		weight_squared = sum * mean;
		largest = fmax(largest, mean);
	}
	return (struct bounds_weights){
		.low_number = sum * sum / weight_squared,
		.low_unit = weight_squared / sum,
		.high_number = (sum + largest) * (sum + largest) / (weight_squared + largest * largest),
		.high_unit = (weight_squared + largest * largest) / (sum + largest),
	};
}

/*
 * Computes as if samples came in groups of `effect`. The additional sample of the upper bound is also such a
 * group.
 */
static struct bounds_weights in_groups(struct bounds_weights weights, double effect)
{
	weights.low_number /= effect;
	weights.low_unit *= effect;
	weights.high_number = (weights.high_number - 1) / effect + 1;
	weights.high_unit *= effect;
	return weights;
}

struct bounds bounds_rate(u64 samples, u64 weight, double weight_squared, double largest, double seconds,
			  double effect, double confidence)
{
	struct bounds_weights weights =
		in_groups(bounds_weights(samples, weight, weight_squared, largest), effect);
	double chance = chance_of(confidence);
	struct bounds ret = {.low = 0, .high = INFINITY};

	if (seconds <= 0)
		return ret;
	if (weights.low_number > 0)
		ret.low = weights.low_unit * qgamma(chance, weights.low_number, 1, true, false) / seconds;
	if (isfinite(weights.high_unit))
		ret.high = weights.high_unit * qgamma(chance, weights.high_number, 1, false, false) / seconds;
	return ret;
}

/*
 * The lower bound of `now` / `base`. Each rate is a gamma variable times its unit, so the quotient of both
 * gamma variables is that of a beta variable and its complement.
 */
static double lowest_ratio(const struct bounds_weights *now, const struct bounds_weights *base, double chance)
{
	double share;

	if (!(now->low_number > 0) || !isfinite(base->high_unit))
		return 0;
	share = qbeta(chance, now->low_number, base->high_number, true, false);
	return share / (1 - share) * now->low_unit / base->high_unit;
}

struct bounds bounds_rate_ratio(const struct bounds_counted *now, const struct bounds_counted *base,
				double confidence)
{
	struct bounds ret = {.low = 0, .high = INFINITY};
	struct bounds_weights of_now, of_base;
	double highest_inverse;

	if (now->seconds <= 0 || base->seconds <= 0 || isinf(now->effect) || isinf(base->effect))
		return ret;
	of_now = in_groups(bounds_weights(now->samples, now->weight, now->weight_squared, now->largest),
			   now->effect);
	of_base = in_groups(bounds_weights(base->samples, base->weight, base->weight_squared, base->largest),
			    base->effect);
	ret.low = lowest_ratio(&of_now, &of_base, chance_of(confidence)) * base->seconds / now->seconds;
	highest_inverse = lowest_ratio(&of_base, &of_now, chance_of(confidence));
	if (highest_inverse > 0)
		ret.high = base->seconds / now->seconds / highest_inverse;
	return ret;
}

/* The number of samples, out of `n`, by which the true distribution may differ from the observed one (Massart). */
static double band_of(u64 n, double effect, double confidence)
{
	return sqrt(-log(chance_of(confidence)) * (double)n * effect / 2);
}

/* The upper edges of all buckets: histogram_fine_upper() would be too slow here. */
#define OCTAVE(shift)                                                                                  \
	9U << (shift), 10U << (shift), 11U << (shift), 12U << (shift), 13U << (shift), 14U << (shift), \
		15U << (shift), 16U << (shift)
static const u32 upper_edges[FINE_BUCKETS] = {
	1,          2,          3,          4,          5,          6,          7,
	8,          OCTAVE(0),  OCTAVE(1),  OCTAVE(2),  OCTAVE(3),  OCTAVE(4),  OCTAVE(5),
	OCTAVE(6),  OCTAVE(7),  OCTAVE(8),  OCTAVE(9),  OCTAVE(10), OCTAVE(11), OCTAVE(12),
	OCTAVE(13), OCTAVE(14), OCTAVE(15), OCTAVE(16), ~0U,
};

/*
 * Sums over the lower and the upper edges, each limited to its cap. They are exact, because they are
 * integers.
 */
struct sums {
	u64 samples;
	u64 lower;
	u64 upper;
};

static struct sums sum_edges(const u32 histogram[FINE_BUCKETS], u32 low_cap, u32 cap)
{
	struct sums sums = {histogram[0], 0, histogram[0]};

	/*
	 * Takes 8 buckets at a time, because most groups of 8 are empty. The last group ends with the
	 * overflow bucket.
	 */
	for (u32 i = 1; i < FINE_BUCKETS; i += 8) {
		u64 samples = 0;

		for (u32 j = i; j < i + 8; j++)
			samples += histogram[j];
		if (samples == 0)
			continue;
		sums.samples += samples;
		for (u32 j = i; j < i + 8; j++) {
			u64 lower = upper_edges[j - 1];
			u64 upper = upper_edges[j];

			sums.lower += histogram[j] * (lower < low_cap ? lower : low_cap);
			sums.upper += histogram[j] * (upper < cap ? upper : cap);
		}
	}
	return sums;
}
_Static_assert(FINE_BUCKETS % 8 == 1, "the buckets are one and groups of eight");

/* Counts the `band` largest samples as 0. */
static double mean_low(const u32 histogram[FINE_BUCKETS], u64 n, double sum, u32 cap, double band)
{
	for (u32 i = FINE_BUCKETS; i-- > 1 && band > 0;) {
		double left_out = histogram[i] < band ? histogram[i] : band;

		band -= left_out;
		sum -= left_out * (upper_edges[i - 1] < cap ? upper_edges[i - 1] : cap);
	}
	return fmax(sum, 0) / (double)n;
}

/* Counts the `band` smallest samples as `cap`. */
static double mean_high(const u32 histogram[FINE_BUCKETS], u64 n, double sum, u32 cap, double band)
{
	for (u32 i = 0; i < FINE_BUCKETS && band > 0; i++) {
		double moved = histogram[i] < band ? histogram[i] : band;

		band -= moved;
		sum += moved * (upper_edges[i] < cap ? cap - upper_edges[i] : 0);
	}
	return sum / (double)n;
}

static struct bounds mean_between(const u32 histogram[FINE_BUCKETS], u64 n, u32 low_cap, u32 cap,
				  double effect, double confidence)
{
	double band = band_of(n, effect, confidence);
	struct sums sums;

	if (n == 0 || band >= (double)n)
		return (struct bounds){.low = 0, .high = INFINITY};
	sums = sum_edges(histogram, low_cap, cap);
	/* Samples that saturated counters do not include may have any value. */
	if (sums.samples < n)
		sums.upper += (n - sums.samples) * cap;
	return (struct bounds){
		.low = mean_low(histogram, n, (double)sums.lower, low_cap, band),
		.high = mean_high(histogram, n, (double)sums.upper, cap, band),
	};
}

struct bounds bounds_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect, double confidence)
{
	return mean_between(histogram, n, ~0U, cap, effect, confidence);
}

struct bounds bounds_capped_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect,
				 double confidence)
{
	return mean_between(histogram, n, cap, cap, effect, confidence);
}

struct bounds bounds_ratio(const struct bounds *now, const struct bounds *base)
{
	struct bounds ret = {.low = 0, .high = INFINITY};

	if (now->low > 0)
		ret.low = now->low / base->high;
	if (base->low > 0)
		ret.high = now->high / base->low;
	return ret;
}

u64 bounds_quantile_needs(double q, double confidence)
{
	double larger = fmax(q, 1 - q);
	u64 n = (u64)fmax(1, ceil(log(chance_of(confidence)) / log(larger)));

	/* Corrects the rounding error of the logarithm. */
	while (n > 1 && pow(larger, (double)(n - 1)) <= chance_of(confidence))
		n--;
	while (pow(larger, (double)n) > chance_of(confidence))
		n++;
	return n;
}
