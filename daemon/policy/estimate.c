// SPDX-License-Identifier: GPL-2.0
#include "policy/estimate.h"

#include <math.h>

#include "policy/bursts.h"
#include "window/quantile.h"

/* One side of a comparison: the window, or the baseline of a ratio. */
struct side {
	const struct tally *tally;
	double seconds;
	double sample_weight;
};

u64 estimate_samples(const struct rule *rule, const struct tally *tally)
{
	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		return tally->latency_samples;
	case METRIC_RATE:
	case METRIC_SHARE:
		break;
	}
	return tally->samples;
}

u64 estimate_share_count(const struct metric *metric, const struct tally *tally)
{
	u64 count = 0;

	switch (metric->share) {
	case METRIC_SHARE_SOURCE:
		count = metric->source < SOURCE_SLOTS ? tally->sources[metric->source] : 0;
		break;
	case METRIC_SHARE_HITM:
		count = tally->hitm;
		break;
	case METRIC_SHARE_TLB_WALK:
		count = tally->tlb_walk;
		break;
	case METRIC_SHARE_LOCKED:
		count = tally->locked;
		break;
	}
	/* A sample that is just being counted may be in one counter and not yet in the other. */
	return count < tally->samples ? count : tally->samples;
}

static bool is_known(const struct rule *rule, const struct side *side)
{
	if (rule->metric.kind == METRIC_RATE)
		return side->seconds > 0 &&
		       (side->tally->samples ? side->tally->weight > 0 : side->sample_weight > 0);
	return estimate_samples(rule, side->tally) > 0;
}

static double quantile_value(const struct tally *tally, double q)
{
	u64 histogram[FINE_BUCKETS];
	struct quantile quantile;

	for (u32 i = 0; i < FINE_BUCKETS; i++)
		histogram[i] = tally->latency[i];
	return quantile_of(histogram, q, &quantile) < 0 ? NAN : quantile.value;
}

static double value_of(const struct rule *rule, const struct side *side)
{
	const struct tally *tally = side->tally;

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return quantile_value(tally, rule->metric.quantile);
	case METRIC_MEAN:
		return (double)tally->latency_sum / (double)tally->latency_samples;
	case METRIC_RATE:
		return tally->samples ? (double)tally->weight / side->seconds : 0;
	case METRIC_SHARE:
		break;
	}
	return (double)estimate_share_count(&rule->metric, tally) / (double)tally->samples;
}

static struct interval bounds_of(const struct rule *rule, const struct limits *limits,
				 const struct side *side, double effect, double confidence)
{
	const struct tally *tally = side->tally;
	u64 low = 0, high = 0;

	if (isinf(effect))
		return (struct interval){.low = 0, .high = INFINITY};

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		interval_worth_ranks(tally->latency_samples, estimate_worth(tally->latency_samples, effect),
				     rule->metric.quantile, confidence, &low, &high);
		return interval_between_ranks(tally->latency, tally->latency_samples, low, high);
	case METRIC_MEAN:
		/* Both sides of a quotient must cap latencies, not only one. */
		return (rule->metric.ratio ? interval_capped_mean
					   : interval_mean)(tally->latency, tally->latency_samples,
							    rule_mean_cap(rule, limits), effect, confidence);
	case METRIC_RATE:
		return interval_rate(tally->samples, tally->weight, tally->weight_squared,
				     side->sample_weight, side->seconds, effect, confidence);
	case METRIC_SHARE:
		break;
	}
	return interval_share((double)estimate_share_count(&rule->metric, tally) / effect,
			      (double)tally->samples / effect, confidence);
}

u64 estimate_worth(u64 n, double effect)
{
	if (isinf(effect))
		return 0;
	return effect > 1 ? (u64)((double)n / effect) : n;
}

u64 estimate_worth_count(u64 count, u64 n, u64 worth)
{
	return worth < n ? (u64)((unsigned __int128)count * worth / n) : count;
}

static double effect_of(const struct measured *measured)
{
	return measured->effect > 1 ? measured->effect : 1;
}

static struct side now_of(const struct measured *measured)
{
	return (struct side){measured->tally, measured->seconds, measured->sample_weight};
}

static struct side base_of(const struct measured *measured)
{
	return (struct side){measured->base, measured->base_seconds, 0};
}

/* Returns whether the value is 0, without computing it. */
static bool is_zero(const struct rule *rule, const struct tally *tally)
{
	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return false;
	case METRIC_MEAN:
		return tally->latency_sum == 0;
	case METRIC_RATE:
		return tally->samples == 0;
	case METRIC_SHARE:
		break;
	}
	return estimate_share_count(&rule->metric, tally) == 0;
}

bool estimate_known(const struct rule *rule, const struct measured *measured)
{
	struct side now = now_of(measured);
	struct side base = base_of(measured);

	if (!is_known(rule, &now))
		return false;
	if (!rule->metric.ratio)
		return true;
	/* 0 / 0 has no value. */
	return base.tally && is_known(rule, &base) &&
	       !(is_zero(rule, now.tally) && is_zero(rule, base.tally));
}

static struct interval ratio_bounds(const struct rule *rule, const struct limits *limits,
				    const struct measured *measured)
{
	double confidence = (1 + rule->confidence) / 2;
	struct side now_side = now_of(measured);
	struct side base_side = base_of(measured);
	struct interval now = bounds_of(rule, limits, &now_side, effect_of(measured), confidence);
	struct interval base = bounds_of(rule, limits, &base_side, effect_of(measured), confidence);

	return interval_ratio(&now, &base);
}

struct interval estimate_bounds(const struct rule *rule, const struct limits *limits,
				const struct measured *measured)
{
	struct side now = now_of(measured);

	return rule->metric.ratio ? ratio_bounds(rule, limits, measured)
				  : bounds_of(rule, limits, &now, effect_of(measured), rule->confidence);
}

/* The weight of each sample in a burst series. */
struct counter {
	const struct rule *rule;
	double values
		[FINE_BUCKETS]; /* of a latency in each bucket: its cycles for a mean; 1 above a quantile's edge */
};

static double sum_values(const struct counter *counter, const struct tally *tally)
{
	double sum = 0;

	for (u32 i = 0; i < FINE_BUCKETS; i++)
		sum += tally->latency[i] * counter->values[i];
	return sum;
}

static void count_part(const struct counter *counter, const struct tally *tally, double seconds,
		       struct burst_part *ret)
{
	switch (counter->rule->metric.kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		*ret = (struct burst_part){(double)tally->latency_samples, sum_values(counter, tally)};
		return;
	case METRIC_RATE:
		*ret = (struct burst_part){seconds, (double)tally->weight};
		return;
	case METRIC_SHARE:
		break;
	}
	*ret = (struct burst_part){(double)tally->samples,
				   (double)estimate_share_count(&counter->rule->metric, tally)};
}

/*
 * The variance of the sum if the samples were independent. For a quantile, mean or share it follows from the
 * samples themselves; for a rate it is that of a Poisson variable.
 */
static double variance_of(const struct counter *counter, const struct tally *tally)
{
	double n = (double)tally->latency_samples;
	double mean = n > 0 ? sum_values(counter, tally) / n : 0;
	double sum = 0;
	double share;

	switch (counter->rule->metric.kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		for (u32 i = 0; i < FINE_BUCKETS; i++)
			sum += tally->latency[i] * (counter->values[i] - mean) * (counter->values[i] - mean);
		return sum;
	case METRIC_RATE:
		return tally->weight_squared;
	case METRIC_SHARE:
		break;
	}
	share = (double)estimate_share_count(&counter->rule->metric, tally) / (double)tally->samples;
	return (double)tally->samples * share * (1 - share);
}

static double effect_of_counter(const struct counter *counter, const struct measured *measured)
{
	const struct metric *metric = &counter->rule->metric;
	struct burst_series series = {.variance = variance_of(counter, measured->tally),
				      .of_samples = metric->kind != METRIC_RATE};
	double confidence = metric->ratio ? (1 + counter->rule->confidence) / 2 : counter->rule->confidence;

	series.n = measured->n_parts < BURSTS_PARTS_MAX ? measured->n_parts : BURSTS_PARTS_MAX;
	for (size_t i = 0; i < series.n; i++)
		count_part(counter, &measured->parts[i].tally, measured->parts[i].seconds, &series.parts[i]);
	return bursts_effect(&series, confidence);
}

static double effect_at_edge(struct counter *counter, const struct measured *measured, u32 bucket)
{
	for (u32 i = 0; i < FINE_BUCKETS; i++)
		counter->values[i] = i > bucket;
	return effect_of_counter(counter, measured);
}

/* The bucket that contains the quantile. */
static u32 quantile_bucket(const struct tally *tally, double q)
{
	double n = 0;
	u32 bucket = 0;

	for (; bucket < FINE_OVERFLOW; bucket++) {
		n += tally->latency[bucket];
		if (n >= q * (double)tally->latency_samples)
			break;
	}
	return bucket;
}

/*
 * Latencies above one edge may come in other bursts than those above another edge. A bound may lie at any of
 * these edges, so this takes the largest effect.
 */
static double quantile_effect(struct counter *counter, const struct limits *limits,
			      const struct measured *measured)
{
	const struct metric *metric = &counter->rule->metric;
	u32 bucket = quantile_bucket(measured->tally, metric->quantile);
	double effect = effect_at_edge(counter, measured, bucket);

	if (bucket > 0)
		effect = fmax(effect, effect_at_edge(counter, measured, bucket - 1));
	if (metric->ratio || !limits)
		return effect;
	effect = fmax(effect, effect_at_edge(counter, measured, limits->threshold_bucket));
	return fmax(effect, effect_at_edge(counter, measured, limits->clear_bucket));
}

double estimate_effect(const struct rule *rule, const struct limits *limits, const struct measured *measured)
{
	struct counter counter = {.rule = rule};
	u32 cap;

	if (!measured->parts || !estimate_known(rule, measured))
		return 1;
	if (rule->metric.kind == METRIC_QUANTILE)
		return quantile_effect(&counter, limits, measured);
	if (rule->metric.kind == METRIC_MEAN) {
		cap = rule_mean_cap(rule, limits);
		for (u32 i = 0; i < FINE_BUCKETS; i++)
			counter.values[i] = i < FINE_OVERFLOW && histogram_fine_upper(i) < cap
						    ? histogram_fine_upper(i)
						    : cap;
	}
	return effect_of_counter(&counter, measured);
}

static u64 count_past(const struct rule *rule, const struct tally *tally, u32 bucket)
{
	u64 above = tally_above(tally, bucket);

	return rule->below ? tally->latency_samples - above : above;
}

void estimate_of(const struct rule *rule, const struct limits *limits, const struct measured *measured,
		 struct estimate *ret)
{
	struct side now = now_of(measured);
	struct side base = base_of(measured);

	*ret = (struct estimate){
		.bounds = {.low = 0, .high = INFINITY},
		.samples = estimate_samples(rule, now.tally),
		.base_samples = rule->metric.ratio && base.tally ? estimate_samples(rule, base.tally) : 0,
		.base_covered = rule->metric.ratio ? (float)measured->base_covered : 0,
	};
	ret->known = estimate_known(rule, measured);
	if (!ret->known)
		return;
	ret->bounds = estimate_bounds(rule, limits, measured);
	ret->effect = effect_of(measured);
	ret->worth = estimate_worth(ret->samples, ret->effect);
	ret->value = value_of(rule, &now);
	if (rule->metric.kind == METRIC_QUANTILE && !rule->metric.ratio && limits) {
		ret->past_threshold = count_past(rule, now.tally, limits->threshold_bucket);
		ret->past_clear = count_past(rule, now.tally, limits->clear_bucket);
	}
	if (rule->metric.ratio)
		ret->value = is_zero(rule, base.tally) ? INFINITY : ret->value / value_of(rule, &base);
}

bool estimate_has_samples(const struct estimate *estimate, const struct metric *metric)
{
	if (!estimate->known)
		return false;
	return estimate->samples > 0 || (metric->kind == METRIC_RATE && !(estimate->value > 0));
}
