// SPDX-License-Identifier: GPL-2.0
#include "estimate/estimate.h"

#include <math.h>

#include "estimate/bursts.h"
#include "window/quantile.h"
#include "window/waits.h"

/* The samples of one event. */
struct counted {
	const struct tally *tally; /* NULL: the metric has no such event */
	double seconds;
	double sample_weight;
};

/* One side of a comparison: the window, or the baseline of a ratio. */
struct side {
	struct counted event;
	struct counted second;
	double unit; /* the rate of the event is multiplied by this */
};

u64 estimate_samples(const struct rule *rule, const struct tally *tally)
{
	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		return tally->latency_samples;
	case METRIC_RATE:
	case METRIC_SHARE:
	case METRIC_WAIT:
	case METRIC_CORES_LOST:
	case METRIC_CPI:
	case METRIC_TRAFFIC:
		break;
	}
	return tally->samples;
}

static u64 counted_samples(const struct metric *metric, u64 samples, u64 second_samples)
{
	if (metric->kind == METRIC_WAIT)
		return second_samples;
	if (metric->kind == METRIC_CPI)
		return samples < second_samples ? samples : second_samples;
	return samples;
}

u64 estimate_counted(const struct rule *rule, const struct tally *tally, const struct tally *second)
{
	return counted_samples(&rule->metric, estimate_samples(rule, tally), second ? second->samples : 0);
}

u64 estimate_counted_of(const struct metric *metric, const struct estimate *estimate)
{
	return counted_samples(metric, estimate->samples,
			       metric_is_quotient(metric) ? estimate->second_samples : 0);
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

/* Without a sample, a rate is known if the weight that a sample would have had is known. */
static bool rate_is_known(const struct counted *event)
{
	return event->seconds > 0 &&
	       (event->tally->samples ? event->tally->weight > 0 : event->sample_weight > 0);
}

/* Returns whether the second event has a rate to divide by. */
static bool second_is_known(const struct counted *second)
{
	return second->tally && second->tally->weight > 0 && second->seconds > 0;
}

static bool is_known(const struct rule *rule, const struct side *side)
{
	if (!metric_uses_weights(&rule->metric))
		return estimate_samples(rule, side->event.tally) > 0;
	return rate_is_known(&side->event) && side->unit > 0 &&
	       (!metric_is_quotient(&rule->metric) || second_is_known(&side->second));
}

static double rate_of(const struct counted *event)
{
	return event->tally->samples ? (double)event->tally->weight / event->seconds : 0;
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
	const struct tally *tally = side->event.tally;

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return quantile_value(tally, rule->metric.quantile);
	case METRIC_MEAN:
		return (double)tally->latency_sum / (double)tally->latency_samples;
	case METRIC_RATE:
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		return rate_of(&side->event) * side->unit;
	case METRIC_WAIT:
	case METRIC_CPI:
		return rule->metric.kind == METRIC_WAIT
			       ? wait_share_limited(rate_of(&side->event) / rate_of(&side->second))
			       : rate_of(&side->event) / rate_of(&side->second);
	case METRIC_SHARE:
		break;
	}
	return (double)estimate_share_count(&rule->metric, tally) / (double)tally->samples;
}

static struct bounds rate_bounds(const struct counted *event, double unit, double effect, double confidence)
{
	const struct tally *tally = event->tally;
	struct bounds ret = bounds_rate(tally->samples, tally->weight, tally->weight_squared,
					event->sample_weight, event->seconds, effect, confidence);

	return (struct bounds){ret.low * unit, ret.high * unit};
}

static struct bounds_counted counted_of(const struct counted *event, double effect)
{
	return (struct bounds_counted){
		.samples = event->tally->samples,
		.weight = event->tally->weight,
		.weight_squared = event->tally->weight_squared,
		.largest = event->sample_weight,
		.seconds = event->seconds,
		.effect = effect,
	};
}

static struct bounds quotient_bounds(const struct rule *rule, const struct side *side, double effect,
				     double confidence)
{
	const struct bounds_counted event = counted_of(&side->event, effect);
	const struct bounds_counted second = counted_of(&side->second, effect);
	struct bounds ret = bounds_rate_ratio(&event, &second, confidence);

	return rule->metric.kind == METRIC_WAIT ? wait_bounds_limited(ret) : ret;
}

static struct bounds bounds_of(const struct rule *rule, const struct limits *limits, const struct side *side,
			       double effect, double confidence)
{
	const struct tally *tally = side->event.tally;
	u64 low = 0, high = 0;

	if (isinf(effect))
		return (struct bounds){.low = 0, .high = INFINITY};

	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		bounds_ranks(tally->latency_samples, estimate_worth(tally->latency_samples, effect),
			     rule->metric.quantile, confidence, &low, &high);
		return bounds_between_ranks(tally->latency, tally->latency_samples, low, high);
	case METRIC_MEAN:
		/* Both sides of a quotient must cap latencies, not only one. */
		return (rule->metric.ratio ? bounds_capped_mean
					   : bounds_mean)(tally->latency, tally->latency_samples,
							  rule_mean_cap(rule, limits), effect, confidence);
	case METRIC_RATE:
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		return rate_bounds(&side->event, side->unit, effect, confidence);
	case METRIC_WAIT:
	case METRIC_CPI:
		return quotient_bounds(rule, side, effect, confidence);
	case METRIC_SHARE:
		break;
	}
	return bounds_share((double)estimate_share_count(&rule->metric, tally) / effect,
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

double estimate_unit(const struct metric *metric, const struct measured *measured)
{
	if (metric_needs_frequency(metric))
		return measured->frequency_hz > 0 ? 1 / measured->frequency_hz : 0;
	return metric->kind == METRIC_TRAFFIC ? WAIT_LINE_BYTES : 1;
}

static struct side now_of(const struct rule *rule, const struct measured *measured)
{
	return (struct side){
		.event = {measured->tally, measured->seconds, measured->sample_weight},
		.second = {measured->second.tally, measured->second.seconds, measured->second.sample_weight},
		.unit = estimate_unit(&rule->metric, measured),
	};
}

static struct side base_of(const struct rule *rule, const struct measured *measured)
{
	return (struct side){
		.event = {measured->base, measured->base_seconds, 0},
		.second = {measured->second.base, measured->second.base_seconds, 0},
		.unit = estimate_unit(&rule->metric, measured),
	};
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
	case METRIC_WAIT:
	case METRIC_CORES_LOST:
	case METRIC_CPI:
	case METRIC_TRAFFIC:
		return tally->samples == 0;
	case METRIC_SHARE:
		break;
	}
	return estimate_share_count(&rule->metric, tally) == 0;
}

bool estimate_known(const struct rule *rule, const struct measured *measured)
{
	struct side now = now_of(rule, measured);
	struct side base = base_of(rule, measured);

	if (!is_known(rule, &now))
		return false;
	if (!rule->metric.ratio)
		return true;
	/* 0 / 0 has no value. */
	return base.event.tally && is_known(rule, &base) &&
	       !(is_zero(rule, now.event.tally) && is_zero(rule, base.event.tally));
}

static struct bounds ratio_bounds(const struct rule *rule, const struct limits *limits,
				  const struct measured *measured)
{
	double confidence = (1 + rule->confidence) / 2;
	struct side now_side = now_of(rule, measured);
	struct side base_side = base_of(rule, measured);
	struct bounds now = bounds_of(rule, limits, &now_side, effect_of(measured), confidence);
	struct bounds base = bounds_of(rule, limits, &base_side, effect_of(measured), confidence);

	return bounds_ratio(&now, &base);
}

struct bounds estimate_bounds(const struct rule *rule, const struct limits *limits,
			      const struct measured *measured)
{
	struct side now = now_of(rule, measured);

	return rule->metric.ratio ? ratio_bounds(rule, limits, measured)
				  : bounds_of(rule, limits, &now, effect_of(measured), rule->confidence);
}

/* The weight of each sample in a burst series. */
struct counter {
	const struct rule *rule;
	double second_period; /* of a quotient: the mean period of the second event */
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

static void count_part(const struct counter *counter, const struct measured_part *part,
		       struct burst_part *ret)
{
	const struct tally *tally = &part->tally;

	switch (counter->rule->metric.kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		*ret = (struct burst_part){(double)tally->latency_samples, sum_values(counter, tally)};
		return;
	case METRIC_RATE:
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		*ret = (struct burst_part){part->seconds, (double)tally->weight};
		return;
	case METRIC_WAIT:
	case METRIC_CPI:
		*ret = (struct burst_part){part->second_weight / counter->second_period,
					   (double)tally->weight};
		return;
	case METRIC_SHARE:
		break;
	}
	*ret = (struct burst_part){(double)tally->samples,
				   (double)estimate_share_count(&counter->rule->metric, tally)};
}

/*
 * The variance of a quotient's residuals if the samples were independent. The residual of a part is what its
 * events have more than those of the second event would have at the quotient of the whole window (a ratio
 * estimator). Both sums are Poisson variables. Activity that moves both events leaves no residual.
 */
static double variance_of_quotient(const struct measured *measured)
{
	const struct tally *tally = measured->tally, *second = measured->second.tally;
	const double quotient = (double)tally->weight / (double)second->weight;

	return tally->weight_squared + quotient * quotient * second->weight_squared;
}

/*
 * The variance of the sum if the samples were independent. For a quantile, mean or share it follows from the
 * samples themselves; for a rate it is that of a Poisson variable.
 */
static double variance_of(const struct counter *counter, const struct measured *measured)
{
	const struct tally *tally = measured->tally;
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
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		return tally->weight_squared;
	case METRIC_WAIT:
	case METRIC_CPI:
		return variance_of_quotient(measured);
	case METRIC_SHARE:
		break;
	}
	share = (double)estimate_share_count(&counter->rule->metric, tally) / (double)tally->samples;
	return (double)tally->samples * share * (1 - share);
}

static double effect_of_counter(const struct counter *counter, const struct measured *measured)
{
	const struct metric *metric = &counter->rule->metric;
	struct burst_series series = {.variance = variance_of(counter, measured),
				      .of_samples = !metric_is_rate(metric),
				      .of_two_events = metric_is_quotient(metric)};
	double confidence = metric->ratio ? (1 + counter->rule->confidence) / 2 : counter->rule->confidence;

	series.n = measured->n_parts < BURSTS_PARTS_MAX ? measured->n_parts : BURSTS_PARTS_MAX;
	for (size_t i = 0; i < series.n; i++)
		count_part(counter, &measured->parts[i], &series.parts[i]);
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
	if (metric_is_quotient(&rule->metric))
		counter.second_period =
			(double)measured->second.tally->weight / (double)measured->second.tally->samples;
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

/* What the estimate says about the second event, whether there is a value or not. */
static void describe_second(const struct rule *rule, const struct side *now, const struct measured *measured,
			    struct estimate *ret)
{
	if (!metric_has_second(&rule->metric) || !now->second.tally)
		return;
	ret->second_samples = now->second.tally->samples;
	if (!metric_needs_frequency(&rule->metric))
		return;
	ret->frequency_hz = (float)measured->frequency_hz;
	if (second_is_known(&now->second))
		ret->cores_used = (float)(rate_of(&now->second) * now->unit);
}

double estimate_value(const struct rule *rule, const struct measured *measured)
{
	struct side now = now_of(rule, measured);
	struct side base = base_of(rule, measured);

	if (!rule->metric.ratio)
		return value_of(rule, &now);
	return is_zero(rule, base.event.tally) ? INFINITY : value_of(rule, &now) / value_of(rule, &base);
}

void estimate_of(const struct rule *rule, const struct limits *limits, const struct measured *measured,
		 struct estimate *ret)
{
	struct side now = now_of(rule, measured);
	struct side base = base_of(rule, measured);

	*ret = (struct estimate){
		.bounds = {.low = 0, .high = INFINITY},
		.samples = estimate_samples(rule, now.event.tally),
		.base_covered = rule->metric.ratio ? (float)measured->base_covered : 0,
	};
	if (rule->metric.ratio && base.event.tally)
		ret->base_samples = metric_is_quotient(&rule->metric)
					    ? estimate_counted(rule, base.event.tally, base.second.tally)
					    : estimate_samples(rule, base.event.tally);
	describe_second(rule, &now, measured, ret);
	ret->known = estimate_known(rule, measured);
	if (!ret->known)
		return;
	ret->bounds = estimate_bounds(rule, limits, measured);
	ret->effect = effect_of(measured);
	ret->worth = estimate_worth(ret->samples, ret->effect);
	ret->value = estimate_value(rule, measured);
	if (rule->metric.kind == METRIC_QUANTILE && !rule->metric.ratio && limits) {
		ret->past_threshold = count_past(rule, now.event.tally, limits->threshold_bucket);
		ret->past_clear = count_past(rule, now.event.tally, limits->clear_bucket);
	}
}

bool estimate_has_samples(const struct estimate *estimate, const struct metric *metric)
{
	if (!estimate->known)
		return false;
	return estimate->samples > 0 || (metric_uses_weights(metric) && !(estimate->value > 0));
}
