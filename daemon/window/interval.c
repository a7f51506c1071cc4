// SPDX-License-Identifier: GPL-2.0
#include "window/interval.h"

#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/* The chance of a bound to be wrong. The slack is for confidences that binary fractions can't hold: 1 - 0.9
 * is a little less than 0.1. */
static double chance_of(double confidence)
{
	return (1 - confidence) * (1 + 1e-9);
}

bool interval_rank_is_low(u64 rank, u64 n, double q, double confidence)
{
	return rank > 0 && rank <= n &&
	       pbinom((double)(rank - 1), (double)n, q, true, false) <= chance_of(confidence);
}

bool interval_rank_is_high(u64 rank, u64 n, double q, double confidence)
{
	return rank > n ||
	       (rank > 0 && pbinom((double)(rank - 1), (double)n, q, false, false) <= chance_of(confidence));
}

void interval_ranks(u64 n, double q, double confidence, u64 *ret_low, u64 *ret_high)
{
	double chance = chance_of(confidence);
	u64 low = (u64)qbinom(chance, (double)n, q, true, false);
	u64 high = (u64)qbinom(chance, (double)n, q, false, false) + 1;

	/* qbinom() has a slack of its own: what the tails say counts. */
	while (low < n && interval_rank_is_low(low + 1, n, q, confidence))
		low++;
	while (low > 0 && !interval_rank_is_low(low, n, q, confidence))
		low--;
	while (high > 1 && interval_rank_is_high(high - 1, n, q, confidence))
		high--;
	while (!interval_rank_is_high(high, n, q, confidence))
		high++;
	*ret_low = low;
	*ret_high = high;
}

/* The bucket of the `rank`th smallest, from 1. */
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

/* The exclusive lower edge of a bucket, and the upper one, which the last has not. */
static double lower_edge(u32 bucket)
{
	return histogram_fine_lower(bucket);
}

static double upper_edge(u32 bucket)
{
	return bucket >= FINE_OVERFLOW ? INFINITY : (double)histogram_fine_upper(bucket);
}

struct interval interval_between_ranks(const u32 histogram[FINE_BUCKETS], u64 n, u64 low, u64 high)
{
	return (struct interval){
		.low = low == 0 ? 0 : lower_edge(bucket_of_rank(histogram, low)),
		.high = high > n ? INFINITY : upper_edge(bucket_of_rank(histogram, high)),
	};
}

struct interval interval_quantile(const u32 histogram[FINE_BUCKETS], u64 n, double q, double confidence)
{
	u64 low;
	u64 high;

	interval_ranks(n, q, confidence, &low, &high);
	return interval_between_ranks(histogram, n, low, high);
}

struct interval interval_share(double k, double n, double confidence)
{
	double chance = chance_of(confidence);

	return (struct interval){
		.low = k > 0 ? qbeta(chance, fmin(k, n), fmax(n - k, 0) + 1, true, false) : 0,
		.high = k < n ? qbeta(chance, fmax(k, 0) + 1, n - fmax(k, 0), false, false) : 1,
	};
}

struct interval_weights interval_weights(u64 samples, u64 weight, double weight_squared, double largest)
{
	double n = (double)samples;
	double sum = (double)weight;
	double mean;
	double spread;

	if (samples == 0 || weight == 0)
		return (struct interval_weights){
			.high_number = 1,
			.high_unit = samples == 0 && largest > 0 ? largest : INFINITY,
		};
	mean = sum / n;
	/* No weight is further above the mean than all of the spread in one sample (Samuelson). */
	spread = weight_squared - sum * mean;
	if (spread > 1e-9 * weight_squared) {
		largest = fmax(largest, mean + sqrt(spread * (n - 1) / n));
	} else {
		weight_squared = sum * mean;
		largest = fmax(largest, mean);
	}
	return (struct interval_weights){
		.low_number = sum * sum / weight_squared,
		.low_unit = weight_squared / sum,
		.high_number = (sum + largest) * (sum + largest) / (weight_squared + largest * largest),
		.high_unit = (weight_squared + largest * largest) / (sum + largest),
	};
}

struct interval interval_rate(u64 samples, u64 weight, double weight_squared, double largest, double seconds,
			      double confidence)
{
	struct interval_weights weights = interval_weights(samples, weight, weight_squared, largest);
	double chance = chance_of(confidence);
	struct interval ret = {.low = 0, .high = INFINITY};

	if (seconds <= 0)
		return ret;
	if (weights.low_number > 0)
		ret.low = weights.low_unit * qgamma(chance, weights.low_number, 1, true, false) / seconds;
	if (isfinite(weights.high_unit))
		ret.high = weights.high_unit * qgamma(chance, weights.high_number, 1, false, false) / seconds;
	return ret;
}

/* How many of `n` samples the true distribution may have moved by, past what was seen (Massart). */
static double band_of(u64 n, double confidence)
{
	return sqrt(-log(chance_of(confidence)) * (double)n / 2);
}

/* The mean over lower edges, each counting at most `cap`, with the `band` largest samples taken for 0. */
static double mean_low(const u32 histogram[FINE_BUCKETS], u64 n, double cap, double band)
{
	double sum = 0;

	for (u32 i = FINE_BUCKETS; i-- > 0;) {
		double count = histogram[i];
		double left_out = fmin(count, band);

		band -= left_out;
		sum += (count - left_out) * fmin(lower_edge(i), cap);
	}
	return sum / (double)n;
}

/* The mean over upper edges, each counting at most `cap`, with the `band` smallest taken for `cap`. */
static double mean_high(const u32 histogram[FINE_BUCKETS], u64 n, double cap, double band)
{
	double rest = (double)n;
	double sum = 0;

	for (u32 i = 0; i < FINE_BUCKETS; i++) {
		double count = histogram[i];
		double left_out = fmin(count, band);

		band -= left_out;
		rest -= count - left_out;
		sum += (count - left_out) * fmin(upper_edge(i), cap);
	}
	return (sum + fmax(rest, 0) * cap) / (double)n;
}

static struct interval mean_between(const u32 histogram[FINE_BUCKETS], u64 n, double low_cap, double cap,
				    double confidence)
{
	double band = band_of(n, confidence);

	if (n == 0 || band >= (double)n)
		return (struct interval){.low = 0, .high = INFINITY};
	return (struct interval){
		.low = mean_low(histogram, n, low_cap, band),
		.high = mean_high(histogram, n, cap, band),
	};
}

struct interval interval_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double confidence)
{
	return mean_between(histogram, n, INFINITY, cap, confidence);
}

struct interval interval_capped_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double confidence)
{
	return mean_between(histogram, n, cap, cap, confidence);
}

struct interval interval_ratio(const struct interval *now, const struct interval *base)
{
	struct interval ret = {.low = 0, .high = INFINITY};

	if (now->low > 0)
		ret.low = now->low / base->high;
	if (base->low > 0)
		ret.high = now->high / base->low;
	return ret;
}

u64 interval_quantile_needs(double q, double confidence)
{
	double larger = fmax(q, 1 - q);
	u64 n = (u64)fmax(1, ceil(log(chance_of(confidence)) / log(larger)));

	/* A logarithm's last digit does not decide. */
	while (n > 1 && pow(larger, (double)(n - 1)) <= chance_of(confidence))
		n--;
	while (pow(larger, (double)n) > chance_of(confidence))
		n++;
	return n;
}
