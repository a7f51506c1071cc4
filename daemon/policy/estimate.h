// SPDX-License-Identifier: GPL-2.0
/* A rule's metric over a window: the value and its bounds. Pure. */
#ifndef PEBSD_ESTIMATE_H
#define PEBSD_ESTIMATE_H

#include "policy/rule.h"
#include "window/interval.h"
#include "window/tally.h"

struct measured_part {
	struct tally tally;
	double seconds;
};

/* What is measured: a subject's window. */
struct measured {
	const struct tally *tally;
	double seconds; /* in which the event ran */
	/* Of a ratio: the baseline as if counted (baseline_tally()); NULL: none yet. */
	const struct tally *base;
	double base_seconds;
	/* The parts of the window, in the order of time, which show whether samples come in bursts; NULL: none. */
	const struct measured_part *parts;
	size_t n_parts; /* at most BURSTS_PARTS_MAX */
	/* What estimate_effect() made of them. At least 1; 0: taken for 1, samples are independent; INFINITY: not
	 * known, and nothing bounds the value. */
	double effect;
	/* The largest weight that a sample in the window has or can have had: the largest period of its time,
	 * or of the last sample before it. A rate's upper bound rests on it; without samples and without it
	 * the rate is not known. 0: not known. */
	double sample_weight;
};

struct estimate {
	/* There is a value: at least one sample that has what is measured; for a rate none will do. */
	bool known;
	double value; /* in the metric's unit; of a quantile as quantile_of() interpolates it; INFINITY: the
			 baseline of a ratio is 0 */
	struct interval bounds; /* at the rule's confidence each */
	u64 samples;            /* that it rests on */
	u64 worth;              /* so many independent ones they are worth; 0: not known */
	double effect;          /* samples by worth; INFINITY: not known */
	u64 base_samples;       /* effective; of a ratio */
	/* Of a quantile that is no ratio: latencies on the rule's side of its limits, above them or, of a
	 * rule `below`, not above. */
	u64 past_threshold;
	u64 past_clear;
};

/* The same numbers decide (evidence.h) and are shown. */
void estimate_of(const struct rule *rule, const struct limits *limits, const struct measured *measured,
		 struct estimate *ret);

/*
 * By how much the bounds' samples must be divided as they came in bursts: the design effect (bursts.h) of what
 * the metric counts. Of a quantile the largest of those about its value and at its limits. A baseline's samples
 * are taken for like those of the window. 1 without parts, or where nothing is known.
 */
double estimate_effect(const struct rule *rule, const struct limits *limits, const struct measured *measured);

/* How many of n samples are worth as much, at most n, and how many of these a count stands for. */
u64 estimate_worth(u64 n, double effect);
u64 estimate_worth_count(u64 count, u64 n, u64 worth);

/* Whether there is a value; its bounds alone, of what is known. */
bool estimate_known(const struct rule *rule, const struct measured *measured);
struct interval estimate_bounds(const struct rule *rule, const struct limits *limits,
				const struct measured *measured);

/* Whether it is known what the value rests on: a restart takes along value and bounds alone, and no value but
 * a rate of 0 comes of no sample. */
bool estimate_has_samples(const struct estimate *estimate, const struct metric *metric);

/* The samples of a share's metric that are what it counts; at most all. */
u64 estimate_share_count(const struct metric *metric, const struct tally *tally);

/* Samples in the window that the rule's `min-samples` counts: those with a latency, or all. */
u64 estimate_samples(const struct rule *rule, const struct tally *tally);

#endif
