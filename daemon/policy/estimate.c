// SPDX-License-Identifier: GPL-2.0
#include "policy/estimate.h"

#include <math.h>

#include "window/quantile.h"

/* One window: now, or what a ratio compares it with. */
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
	/* A sample in flight may be in one counter and not yet in another. */
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
				 const struct side *side, double confidence)
{
	const struct tally *tally = side->tally;

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return interval_quantile(tally->latency, tally->latency_samples, rule->metric.quantile,
					 confidence);
	case METRIC_MEAN:
		/* What is beyond the cap must not count on one side of a quotient alone. */
		return (rule->metric.ratio ? interval_capped_mean : interval_mean)(
			tally->latency, tally->latency_samples, rule_mean_cap(rule, limits), confidence);
	case METRIC_RATE:
		return interval_rate(tally->samples, tally->weight, tally->weight_squared,
				     side->sample_weight, side->seconds, confidence);
	case METRIC_SHARE:
		break;
	}
	return interval_share((double)estimate_share_count(&rule->metric, tally), (double)tally->samples,
			      confidence);
}

static struct side now_of(const struct measured *measured)
{
	return (struct side){measured->tally, measured->seconds, measured->sample_weight};
}

static struct side base_of(const struct measured *measured)
{
	return (struct side){measured->base, measured->base_seconds, 0};
}

/* The value is 0, found without working it out. */
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
	/* Nothing is no multiple of nothing. */
	return base.tally && is_known(rule, &base) &&
	       !(is_zero(rule, now.tally) && is_zero(rule, base.tally));
}

static struct interval ratio_bounds(const struct rule *rule, const struct limits *limits,
				    const struct measured *measured)
{
	double confidence = (1 + rule->confidence) / 2;
	struct side now_side = now_of(measured);
	struct side base_side = base_of(measured);
	struct interval now = bounds_of(rule, limits, &now_side, confidence);
	struct interval base = bounds_of(rule, limits, &base_side, confidence);

	return interval_ratio(&now, &base);
}

struct interval estimate_bounds(const struct rule *rule, const struct limits *limits,
				const struct measured *measured)
{
	struct side now = now_of(measured);

	return rule->metric.ratio ? ratio_bounds(rule, limits, measured)
				  : bounds_of(rule, limits, &now, rule->confidence);
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
	};
	ret->known = estimate_known(rule, measured);
	if (!ret->known)
		return;
	ret->bounds = estimate_bounds(rule, limits, measured);
	ret->value = value_of(rule, &now);
	if (rule->metric.kind == METRIC_QUANTILE && !rule->metric.ratio) {
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
