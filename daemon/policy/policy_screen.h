// SPDX-License-Identifier: GPL-2.0
/*
 * What can't be a breach, at a glance: a bound at a confidence of more than one half never lies on the far
 * side of the sample's own figure. So where that figure is not past the threshold, nothing is proven, and
 * there is nothing to ask of evidence.h. Pure.
 */
#ifndef PEBSD_POLICY_SCREEN_H
#define PEBSD_POLICY_SCREEN_H

#include <stdbool.h>

#include "policy/rule.h"
#include "window/baseline.h"
#include "window/tally.h"

/* What a rule asks of a tally, laid out for many of them. */
struct screen {
	u8 kind; /* enum screen_kind */
	bool below;
	bool of_latencies; /* `min-samples` counts those with one */
	u32 bucket;
	u32 share_at;      /* where its counter is in a tally, bytes */
	u32 base_share_at; /* and in a baseline */
	double chance;     /* of a sample on the far side where the figure is at its threshold */
	double limit;
	u64 min_samples;
};

enum screen_kind { SCREEN_QUANTILE, SCREEN_SHARE, SCREEN_RATE, SCREEN_MEAN, SCREEN_SHARE_RATIO, SCREEN_ASK };

void screen_of(const struct rule *rule, const struct limits *limits, struct screen *ret);

/* What of a tally all screens use. */
struct screened {
	const struct tally *tally;
	double seconds;
	const u32 *lower_edges; /* of the fine buckets: screen_edges() */
	bool has_above;         /* these are made when the first asks */
	bool has_lower_sum;
	u32 above[FINE_BUCKETS]; /* latencies above each bucket */
	u64 lower_sum;           /* of all latencies, each at its bucket's lower edge */
};

void screen_edges(u32 ret[FINE_BUCKETS]);

static inline bool screen_needs_more(const struct screen *screen, const struct tally *tally)
{
	return (screen->of_latencies ? tally->latency_samples : tally->samples) < screen->min_samples;
}

/* Whether a breach can be ruled out, and of a ratio that its baseline is thin. `base` is a ratio's. */
bool screen_rules_out(const struct screen *screen, struct screened *screened, const struct baseline *base);

#endif
