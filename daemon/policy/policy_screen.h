// SPDX-License-Identifier: GPL-2.0
/*
 * Rules out a breach by a few comparisons. If the confidence is above one half, the lower bound is never
 * above the window's own figure, and the upper bound never below it. So if that figure is not past the
 * threshold, no breach is proven, and evidence_judge() need not be called. Pure.
 */
#ifndef PEBSD_POLICY_SCREEN_H
#define PEBSD_POLICY_SCREEN_H

#include <stdbool.h>

#include "rule/rule.h"
#include "window/baseline.h"
#include "window/tally.h"

/* A rule's test of a tally, prepared once for many tallies. */
struct screen {
	u8 kind; /* enum screen_kind */
	bool below;
	bool of_latencies; /* `min-samples` counts samples with a latency, else all */
	bool of_second;    /* `min-samples` counts samples of the second event, alone or also */
	bool of_event;     /* with `of_second`: also of the first one */
	bool by_frequency; /* the rate is divided by the running frequency */
	u32 bucket;        /* of a quantile: the threshold is its upper edge */
	u32 share_at;      /* of a share: the offset of its counter in struct tally, bytes */
	u32 base_share_at; /* of a share: the offset in struct baseline, bytes */
	double chance;     /* probability of a sample past the threshold if the metric is at the threshold */
	double limit;      /* of a rate: in weights a second */
	u64 min_samples;
};

enum screen_kind {
	SCREEN_QUANTILE,
	SCREEN_SHARE,
	SCREEN_RATE,
	SCREEN_QUOTIENT,
	SCREEN_MEAN,
	SCREEN_SHARE_RATIO,
	SCREEN_ASK
};

void screen_of(const struct rule *rule, const struct limits *limits, struct screen *ret);

/* A tally, with sums that all screens share. They are computed when the first screen needs them. */
struct screened {
	const struct tally *tally;
	double seconds;
	const struct tally *second; /* of the second event; NULL: the metric has none */
	double second_seconds;
	double frequency_hz;    /* 0: not known */
	const u32 *lower_edges; /* of the fine buckets: screen_edges() */
	bool has_above;         /* `above` is computed */
	bool has_lower_sum;
	u32 above[FINE_BUCKETS]; /* the number of latencies above each bucket */
	u64 lower_sum;           /* of all latencies, each at its bucket's lower edge */
};

void screen_edges(u32 ret[FINE_BUCKETS]);

/* Returns whether the weights and the frequency that the metric is computed from are known. */
static inline bool screen_has_values(const struct screen *screen, const struct screened *screened)
{
	if (screen->kind == SCREEN_QUOTIENT && !(screened->second && screened->second->weight))
		return false;
	if (screen->by_frequency && !(screened->frequency_hz > 0))
		return false;
	return (screen->kind != SCREEN_RATE && screen->kind != SCREEN_QUOTIENT) || screened->tally->weight;
}

static inline bool screen_needs_more(const struct screen *screen, const struct screened *screened)
{
	const struct tally *tally = screened->tally;

	if (screen->of_second)
		return !screened->second || screened->second->samples < screen->min_samples ||
		       (screen->of_event && tally->samples < screen->min_samples);
	return (screen->of_latencies ? tally->latency_samples : tally->samples) < screen->min_samples;
}

/*
 * Returns whether a breach can be ruled out. For a ratio this also rules out that the baseline has too few
 * samples or covers too little time. `base` is the baseline of a ratio, else NULL.
 */
bool screen_rules_out(const struct screen *screen, struct screened *screened, const struct baseline *base);

#endif
