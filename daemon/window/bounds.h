// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds (confidence intervals) between which the true value lies, as far as the samples can tell. Pure
 * functions.
 *
 * `effect`, at least 1: how many correlated samples carry as much information as one independent sample
 * (estimate/bursts.h). `confidence`, 0.5 <= c < 1, applies to each bound by itself: the true value lies below
 * `low` with a probability of at most 1 - c, and above `high` likewise. It lies between both with a
 * probability of at least 2c - 1. A bound that the samples do not yield is -INFINITY or INFINITY; 0 instead
 * of -INFINITY for values that cannot be negative.
 */
#ifndef PEBSD_BOUNDS_H
#define PEBSD_BOUNDS_H

#include <stdbool.h>

#include "pebsd/histogram.h"

struct bounds {
	double low;
	double high;
};

/*
 * The ranks that bound quantile `q`, 0 < q < 1, of `n` sorted values, by exact binomial order statistics. Rank 1 is the
 * smallest value. The quantile is not below the value of rank `*ret_low`, and not above that of rank `*ret_high`. Rank
 * 0 or n + 1: no bound. The values carry as much information as `worth` independent ones, at most n: the ranks among
 * `worth` values are scaled to ranks among n, rounded outwards.
 */
void bounds_ranks(u64 n, u64 worth, double q, double confidence, u64 *ret_low, u64 *ret_high);

/*
 * Returns true if a rank is a valid bound, even if not the tightest: all ranks from 1 to `low`, and all from
 * `high` on.
 */
bool bounds_rank_is_low(u64 rank, u64 n, double q, double confidence);
bool bounds_rank_is_high(u64 rank, u64 n, double q, double confidence);

/*
 * The bounds of a quantile of the `n` latencies in the histogram, in cycles, by its ranks: the outer edges of their
 * buckets. The quantile is above `low` and not above `high`.
 */
struct bounds bounds_between_ranks(const u32 histogram[FINE_BUCKETS], u64 n, u64 low, u64 high);

/*
 * Bounds of a share from 0 to 1 if `k` of `n` samples have the property (Clopper and Pearson). `k` and `n`
 * are real numbers, to allow effective counts.
 */
struct bounds bounds_share(double k, double n, double confidence);

/*
 * Events per second, from `samples` whose weights have the sum `weight` and the sum of squares
 * `weight_squared`, in `seconds`. The bounds are exact Poisson bounds if all weights are equal, else they are
 * scaled to the effective number of weights (Fay and Feuer). The largest weight is estimated from these sums
 * as the largest possible one (Samuelson), or is `largest`, if that is more: the largest weight that any
 * sample can have had, seen or not; 0: not known. Without samples the upper bound depends on `largest` alone.
 */
struct bounds bounds_rate(u64 samples, u64 weight, double weight_squared, double largest, double seconds,
			  double effect, double confidence);

/*
 * The numbers that bounds_rate() derives from the weights. Each bound is that of a Poisson variable, times a
 * unit, divided by the time. `low_number` is the observed number, `high_number` is with one sample more.
 */
struct bounds_weights {
	double low_number;
	double low_unit;
	double high_number;
	double high_unit; /* INFINITY: not known */
};
struct bounds_weights bounds_weights(u64 samples, u64 weight, double weight_squared, double largest);

/*
 * Bounds of the ratio of two such rates, which are estimated from samples that are independent of each other.
 * They are exact for equal weights: given the sum of both numbers, the number of one is a binomial variable
 * (Clopper and Pearson). Use this instead of bounds_ratio() of two bounds_rate(), which is wider.
 */
struct bounds_counted {
	u64 samples;
	u64 weight;
	double weight_squared;
	double largest;
	double seconds;
	double effect;
};
struct bounds bounds_rate_ratio(const struct bounds_counted *now, const struct bounds_counted *base,
				double confidence);

/*
 * The mean in cycles: Anderson's bound over the bucket edges, with Massart's constant for the band around the
 * distribution (Dvoretzky, Kiefer, Wolfowitz). It assumes no shape of the distribution. `low` bounds the mean
 * itself. A mean has no upper bound without a largest value, so `high` bounds the mean with each latency
 * limited to `cap` cycles, an upper bucket edge.
 */
struct bounds bounds_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect,
			  double confidence);

/* Bounds the mean with each latency limited to `cap` cycles, on both sides. Use this for ratios of such means. */
struct bounds bounds_capped_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect,
				 double confidence);

/* Bounds of now / base. For bounds of confidence c, pass bounds of two values, of confidence (1 + c) / 2 each. */
struct bounds bounds_ratio(const struct bounds *now, const struct bounds *base);

/*
 * The smallest number of independent values for which bounds_ranks() has both bounds. The larger of q^n and (1 - q)^n
 * decides.
 */
u64 bounds_quantile_needs(double q, double confidence);

#endif
