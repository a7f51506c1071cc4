// SPDX-License-Identifier: GPL-2.0
/* A rule's metric over a window: the value and its bounds. Pure. */
#ifndef PEBSD_ESTIMATE_H
#define PEBSD_ESTIMATE_H

#include "policy/rule.h"
#include "window/interval.h"
#include "window/tally.h"

/* What is measured: a subject's window. */
struct measured {
	const struct tally *tally;
	double seconds; /* in which the event ran */
	/* Of a ratio: the baseline as if counted (baseline_tally()); NULL: none yet. */
	const struct tally *base;
	double base_seconds;
};

struct estimate {
	bool known;             /* there is a value: at least one sample that has what is measured */
	double value;           /* in the metric's unit; of a quantile as quantile_of() interpolates it */
	struct interval bounds; /* at the rule's confidence each */
	u64 samples;            /* that it rests on */
	u64 base_samples;       /* effective; of a ratio */
};

/* The same numbers decide (evidence.h) and are shown. */
void estimate_of(const struct rule *rule, const struct limits *limits, const struct measured *measured,
		 struct estimate *ret);

/* Samples in the window that the rule's `min-samples` counts: those with a latency, or all. */
u64 estimate_samples(const struct rule *rule, const struct tally *tally);

#endif
