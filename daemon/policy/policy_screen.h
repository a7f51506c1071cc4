// SPDX-License-Identifier: GPL-2.0
/*
 * Rules out a breach by a few comparisons. If the confidence is above one half, the lower bound is never
 * above the window's own figure, and the upper bound never below it. So if that figure is not past the
 * threshold, no breach is proven, and evidence_judge() need not be called. Pure.
 */
#ifndef PEBSD_POLICY_SCREEN_H
#define PEBSD_POLICY_SCREEN_H

#include <stdbool.h>

#include "policy/rule.h"
#include "window/baseline.h"
#include "window/tally.h"

/* A rule's test of a tally, prepared once for many tallies. */
struct screen {
	u8 kind; /* enum screen_kind */
	bool below;
	bool of_latencies; /* `min-samples` counts samples with a latency, else all */
	u32 bucket;        /* of a quantile: the threshold is its upper edge */
	u32 share_at;      /* of a share: the offset of its counter in struct tally, bytes */
	u32 base_share_at; /* of a share: the offset in struct baseline, bytes */
	double chance;     /* probability of a sample past the threshold if the metric is at the threshold */
	double limit;
	u64 min_samples;
};

enum screen_kind { SCREEN_QUANTILE, SCREEN_SHARE, SCREEN_RATE, SCREEN_MEAN, SCREEN_SHARE_RATIO, SCREEN_ASK };

void screen_of(const struct rule *rule, const struct limits *limits, struct screen *ret);

/* A tally, with sums that all screens share. They are computed when the first screen needs them. */
struct screened {
	const struct tally *tally;
	double seconds;
	const u32 *lower_edges; /* of the fine buckets: screen_edges() */
	bool has_above;         /* `above` is computed */
	bool has_lower_sum;
	u32 above[FINE_BUCKETS]; /* the number of latencies above each bucket */
	u64 lower_sum;           /* of all latencies, each at its bucket's lower edge */
};

void screen_edges(u32 ret[FINE_BUCKETS]);

static inline bool screen_needs_more(const struct screen *screen, const struct tally *tally)
{
	return (screen->of_latencies ? tally->latency_samples : tally->samples) < screen->min_samples;
}

/*
 * Returns whether a breach can be ruled out. For a ratio this also rules out that the baseline has too few
 * samples or covers too little time. `base` is the baseline of a ratio, else NULL.
 */
bool screen_rules_out(const struct screen *screen, struct screened *screened, const struct baseline *base);

#endif
