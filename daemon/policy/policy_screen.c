// SPDX-License-Identifier: GPL-2.0
#include "policy/policy_screen.h"

#include <stddef.h>

#include "window/waits.h"

static u32 place_of(const struct metric *metric)
{
	switch (metric->share) {
	case METRIC_SHARE_SOURCE:
		return (u32)(offsetof(struct tally, sources) + metric->source * sizeof(u32));
	case METRIC_SHARE_HITM:
		return (u32)offsetof(struct tally, hitm);
	case METRIC_SHARE_TLB_WALK:
		return (u32)offsetof(struct tally, tlb_walk);
	case METRIC_SHARE_LOCKED:
		break;
	}
	return (u32)offsetof(struct tally, locked);
}

static u32 base_place_of(const struct metric *metric)
{
	switch (metric->share) {
	case METRIC_SHARE_SOURCE:
		return (u32)(offsetof(struct baseline, sources) + metric->source * sizeof(float));
	case METRIC_SHARE_HITM:
		return (u32)offsetof(struct baseline, hitm);
	case METRIC_SHARE_TLB_WALK:
		return (u32)offsetof(struct baseline, tlb_walk);
	case METRIC_SHARE_LOCKED:
		break;
	}
	return (u32)offsetof(struct baseline, locked);
}

static enum screen_kind kind_of(const struct rule *rule)
{
	if (!(rule->confidence > 0.5))
		return SCREEN_ASK;
	if (rule->metric.ratio)
		return rule->metric.kind == METRIC_SHARE && !rule->below ? SCREEN_SHARE_RATIO : SCREEN_ASK;
	switch (rule->metric.kind) {
	case METRIC_QUANTILE:
		return SCREEN_QUANTILE;
	case METRIC_SHARE:
		return SCREEN_SHARE;
	case METRIC_RATE:
	case METRIC_CORES_LOST:
	case METRIC_TRAFFIC:
		return SCREEN_RATE;
	case METRIC_WAIT:
	case METRIC_CPI:
		return SCREEN_QUOTIENT;
	case METRIC_MEAN:
		break;
	}
	return rule->below ? SCREEN_ASK : SCREEN_MEAN;
}

void screen_of(const struct rule *rule, const struct limits *limits, struct screen *ret)
{
	const struct metric *metric = &rule->metric;

	*ret = (struct screen){.kind = (u8)kind_of(rule),
			       .below = rule->below,
			       .of_latencies = metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN,
			       .bucket = limits->threshold_bucket,
			       .limit = limits->threshold,
			       .min_samples = rule->min_samples};
	ret->of_second = ret->kind == SCREEN_QUOTIENT;
	ret->of_event = metric->kind == METRIC_CPI;
	ret->by_frequency = ret->kind == SCREEN_RATE && metric_needs_frequency(metric);
	if (ret->kind == SCREEN_RATE && metric->kind == METRIC_TRAFFIC)
		ret->limit /= WAIT_LINE_BYTES;
	if (metric->kind == METRIC_QUANTILE)
		ret->chance = rule->below ? metric->quantile : 1 - metric->quantile;
	if (metric->kind == METRIC_SHARE) {
		ret->chance = rule->below ? 1 - limits->threshold : limits->threshold;
		ret->share_at = place_of(metric);
		ret->base_share_at = base_place_of(metric);
	}
}

void screen_edges(u32 ret[FINE_BUCKETS])
{
	for (u32 i = 0; i < FINE_BUCKETS; i++)
		ret[i] = histogram_fine_lower(i);
}

/* Saturated counters would make these sums wrong, so screen_rules_out() uses them only up to 2^31 latencies. */
static void sum_above(struct screened *screened)
{
	const u32 *latency = screened->tally->latency;
	u32 sum = 0;

	for (u32 i = FINE_BUCKETS; i-- > 0;) {
		screened->above[i] = sum;
		sum += latency[i];
	}
	screened->has_above = true;
}

static void sum_lower_edges(struct screened *screened)
{
	const u32 *latency = screened->tally->latency;
	u64 sum = 0;

	for (u32 i = 0; i < FINE_BUCKETS; i++)
		sum += (u64)latency[i] * screened->lower_edges[i];
	screened->lower_sum = sum;
	screened->has_lower_sum = true;
}

/*
 * Returns whether the count is more than one below the expected count. The margin of one covers rounding
 * errors.
 */
static bool is_less(u64 count, double n, double chance)
{
	return (double)count < n * chance - 1;
}

/*
 * Age changes neither the effective number of samples of a baseline, nor its shares, nor the time that it covers.
 * Time without samples does not change the shares. So `base` need not be up to date. The exact bounds are computed
 * from whole samples. A ratio within 2 % of the limit is left to those bounds.
 */
static bool ratio_is_less(const struct screen *screen, const struct screened *screened,
			  const struct baseline *base)
{
	const struct tally *tally = screened->tally;
	double effective =
		base->samples_squared > 0 ? base->samples * base->samples / base->samples_squared : 0;
	double now = *(const u32 *)((const u8 *)tally + screen->share_at);
	double usual = (double)*(const float *)((const u8 *)base + screen->base_share_at);

	if (!(effective > (double)screen->min_samples + 2) || !(base->seconds > 0) ||
	    baseline_covered(base) < screened->seconds || tally->samples > 1U << 31)
		return false;
	return now <= 0 || now * base->samples * 1.02 < screen->limit * usual * (double)tally->samples;
}

/* Compares a rate with the limit: the weight with the limit times `seconds`. 1e-6 covers rounding errors. */
static bool weight_rules_out(const struct screen *screen, double weight, double seconds)
{
	return screen->below ? weight > screen->limit * seconds * 1.000001
			     : weight * 1.000001 < screen->limit * seconds;
}

bool screen_rules_out(const struct screen *screen, struct screened *screened, const struct baseline *base)
{
	const struct tally *tally = screened->tally;
	u64 n;
	u64 count;

	switch ((enum screen_kind)screen->kind) {
	case SCREEN_QUANTILE:
		n = tally->latency_samples;
		if (n > 1U << 31)
			return false;
		if (!screened->has_above)
			sum_above(screened);
		count = screened->above[screen->bucket];
		return is_less(screen->below ? n - count : count, (double)n, screen->chance);
	case SCREEN_SHARE:
		n = tally->samples;
		count = *(const u32 *)((const u8 *)tally + screen->share_at);
		if (n > 1U << 31 || count > n)
			return false;
		return is_less(screen->below ? n - count : count, (double)n, screen->chance);
	case SCREEN_RATE:
		if (!tally->samples)
			return false;
		return weight_rules_out(screen, (double)tally->weight,
					screened->seconds *
						(screen->by_frequency ? screened->frequency_hz : 1));
	case SCREEN_QUOTIENT:
		if (!tally->samples || !(screened->second_seconds > 0))
			return false;
		return weight_rules_out(screen, (double)tally->weight,
					(double)screened->second->weight * screened->seconds /
						screened->second_seconds);
	case SCREEN_MEAN:
		n = tally->latency_samples;
		if (n > 1U << 31 || !n)
			return false;
		if (!screened->has_lower_sum)
			sum_lower_edges(screened);
		return (double)screened->lower_sum * 1.000001 < screen->limit * (double)n;
	case SCREEN_SHARE_RATIO:
		return ratio_is_less(screen, screened, base);
	case SCREEN_ASK:
		break;
	}
	return false;
}
