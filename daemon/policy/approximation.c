// SPDX-License-Identifier: GPL-2.0
#include "policy/approximation.h"

#include <math.h>

/*
 * Outer bounds come from inequalities (Chernoff, Bernstein) that hold for any n. Inner bounds are medians, or
 * limits that a median cannot pass: a bound that is right in at least half of all cases does not lie further
 * in.
 */

/* Covers rounding errors in the inequalities. */
#define MARGIN 1.000001

static struct approximation rough_quantile(const struct tally *tally, double q, double log_chance)
{
	double l = log_chance * MARGIN;
	double n = (double)tally->latency_samples;
	double off = l / 3 + sqrt(l * l / 9 + 2 * n * q * (1 - q) * l);
	u64 all = tally->latency_samples;
	u64 outer_low = n * q >= off ? (u64)(n * q - off) + 1 : 0;
	double outer_high = ceil(n * q + off);
	u64 inner_low = (u64)(n * q) + 2;
	u64 inner_high = n * q > 1 ? (u64)(n * q) : 1;

	return (struct approximation){
		.outer = interval_between_ranks(tally->latency, all, outer_low,
						outer_high > n ? all + 1 : (u64)outer_high),
		.inner = interval_between_ranks(tally->latency, all, inner_low < all ? inner_low : all,
						inner_high),
	};
}

/* Bounds of `k` samples of `n`: Bernstein's inequality for a Poisson variable also bounds the binomial tails. */
static struct approximation rough_share(double k, double n, double log_chance)
{
	double l = log_chance * MARGIN;
	double below = sqrt(4 * l * l / 9 + 2 * l * k) - 2 * l / 3;
	double above = l + sqrt(l * l + 2 * l * k);

	return (struct approximation){
		.outer = {fmax(k - below, 0) / n, fmin((k + above) / n, 1)},
		.inner = {(k + 1) / n, fmax(k - 1, 0) / n},
	};
}

/*
 * The exact bounds of a rate are quantiles of gamma distributions of scale 1. The median of such a
 * distribution is less than one third below its mean. With a chance of at most exp(-l) a value is more than
 * sqrt(2 mean l) below the mean, or more than sqrt(2 mean l) + l above it.
 */
static struct approximation rough_rate(const struct tally *tally, double seconds, double largest,
				       double log_chance)
{
	double l = log_chance * MARGIN;
	struct interval_weights weights =
		interval_weights(tally->samples, tally->weight, tally->weight_squared, largest);
	double low = weights.low_number;
	double high = weights.high_number;

	return (struct approximation){
		.outer = {fmax(low - sqrt(2 * low * l), 0) * weights.low_unit / seconds,
			  (high + sqrt(2 * high * l) + l) * weights.high_unit / seconds},
		.inner = {low * weights.low_unit / seconds, (high - 0.5) * weights.high_unit / seconds},
	};
}

static struct approximation rough_side(const struct rule *rule, const struct tally *tally, double seconds,
				       double largest, double log_chance)
{
	if (rule->metric.kind == METRIC_QUANTILE)
		return rough_quantile(tally, rule->metric.quantile, log_chance);
	if (rule->metric.kind == METRIC_SHARE)
		return rough_share((double)estimate_share_count(&rule->metric, tally), (double)tally->samples,
				   log_chance);
	return rough_rate(tally, seconds, largest, log_chance);
}

struct approximation approximate_bounds(const struct rule *rule, const struct measured *measured,
					double log_chance)
{
	struct approximation now =
		rough_side(rule, measured->tally, measured->seconds, measured->sample_weight, log_chance);
	struct approximation base;

	if (!rule->metric.ratio)
		return now;
	base = rough_side(rule, measured->base, measured->base_seconds, 0, log_chance);
	return (struct approximation){
		.outer = interval_ratio(&now.outer, &base.outer),
		.inner = interval_ratio(&now.inner, &base.inner),
	};
}
