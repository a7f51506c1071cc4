// SPDX-License-Identifier: GPL-2.0
/*
 * Between which bounds a figure of the whole lies, as far as the samples can tell. Pure.
 *
 * `effect`, at least 1: how many samples say no more than one independent sample would (policy/bursts.h).
 * `confidence`, 0.5 <= c < 1, is that of each bound by itself: the true value lies below `low` with a chance
 * of at most 1 - c, and above `high` likewise; between both with at least 2c - 1. A bound that the samples do
 * not yield is -INFINITY or INFINITY; what can't be negative has 0 for the former.
 */
#ifndef PEBSD_INTERVAL_H
#define PEBSD_INTERVAL_H

#include <stdbool.h>

#include "pebsd/histogram.h"

struct interval {
	double low;
	double high;
};

/* Quantile `q`, 0 < q < 1, of the `n` latencies in the histogram: exact binomial order statistics, widened to
 * the outer edges of their buckets: the value is above `low` and not above `high`. Cycles. */
struct interval interval_quantile(const u32 histogram[FINE_BUCKETS], u64 n, double q, double confidence);

/*
 * Between which of `n` ordered values quantile `q` lies: above or at the `low`th smallest, at or below the
 * `high`th. 0 and n + 1 where there is none.
 */
void interval_ranks(u64 n, double q, double confidence, u64 *ret_low, u64 *ret_high);

/* The same where the n values say as much as `worth` independent ones do, at most n: ranks of these, moved to the
 * ranks of n that say no less. */
void interval_worth_ranks(u64 n, u64 worth, double q, double confidence, u64 *ret_low, u64 *ret_high);

/* Whether a rank is such a bound, if not the nearest one: up to `low`, and from `high` on. */
bool interval_rank_is_low(u64 rank, u64 n, double q, double confidence);
bool interval_rank_is_high(u64 rank, u64 n, double q, double confidence);

/* The outer edges of the buckets of two ranks. */
struct interval interval_between_ranks(const u32 histogram[FINE_BUCKETS], u64 n, u64 low, u64 high);

/* The share of which `k` of `n` samples are: Clopper and Pearson's. 0 to 1. Real numbers, for effective
 * counts. */
struct interval interval_share(double k, double n, double confidence);

/*
 * Events a second, of `samples` that came with weights summing up to `weight`, their squares to
 * `weight_squared`, in `seconds`: exact Poisson where all weights are equal, else scaled to the weights'
 * effective number (Fay and Feuer), where the largest weight is taken for as large as these sums allow
 * (Samuelson), or for `largest`: the largest that a sample, seen or not, can have had; 0: not known. Without
 * a sample the upper bound rests on it alone.
 */
struct interval interval_rate(u64 samples, u64 weight, double weight_squared, double largest, double seconds,
			      double effect, double confidence);

/* What interval_rate() makes of the weights: each bound is that of a Poisson variable of which so many were
 * seen (for `high` one more), times a unit, by the time. */
struct interval_weights {
	double low_number;
	double low_unit;
	double high_number;
	double high_unit; /* INFINITY: not known */
};
struct interval_weights interval_weights(u64 samples, u64 weight, double weight_squared, double largest);

/*
 * The mean in cycles: Anderson's bound over the bucket edges, with Massart's constant in the band around the
 * distribution (Dvoretzky, Kiefer, Wolfowitz): no shape is assumed. `low` is of the mean itself; `high` is of
 * the mean where each latency counts at most `cap` cycles, an upper bucket edge, as without a largest value a
 * mean has no upper bound.
 */
struct interval interval_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect,
			      double confidence);

/* Both bounds are of the mean where each latency counts at most `cap` cycles: for a quotient of such. */
struct interval interval_capped_mean(const u32 histogram[FINE_BUCKETS], u64 n, u32 cap, double effect,
				     double confidence);

/* now / base: the quotient of the bounds. For bounds of confidence c give it two of (1 + c) / 2 each. */
struct interval interval_ratio(const struct interval *now, const struct interval *base);

/* The least n with which interval_quantile() has both bounds: the smaller of q^n and (1 - q)^n settles it. */
u64 interval_quantile_needs(double q, double confidence);

#endif
