// SPDX-License-Identifier: GPL-2.0
/* Computes a rule's metric over a window: its value and the bounds of it. Pure. */
#ifndef PEBSD_ESTIMATE_H
#define PEBSD_ESTIMATE_H

#include "rule/rule.h"
#include "window/bounds.h"
#include "window/tally.h"

struct measured_part {
	struct tally tally;
	double seconds;
	double second_weight; /* of a quotient: the sum of the periods of the second event */
};

/* The second event of a metric (metric_events()), in the same window. */
struct measured_second {
	const struct tally *tally; /* NULL: the metric has none, or it is not sampled */
	double seconds;
	double sample_weight;
	const struct tally *base;
	double base_seconds;
};

/* The window of a target. */
struct measured {
	const struct tally *tally;
	double seconds; /* in which the event ran */
	/* For a ratio: the baseline, as counts (baseline_tally()). NULL: there is none yet. */
	const struct tally *base;
	double base_seconds;
	double base_covered; /* the time that the baseline covers (baseline_covered()), seconds */
	/* The parts of the window in the order of time: they show whether samples come in bursts. May be NULL. */
	const struct measured_part *parts;
	size_t n_parts; /* at most BURSTS_PARTS_MAX */
	/*
	 * The result of estimate_effect() for these parts, at least 1. 0 stands for 1: samples are
	 * independent. INFINITY: the effect is not known, so the value has no bounds.
	 */
	double effect;
	/*
	 * The largest weight that a sample in the window has or could have had. It is the largest period used
	 * in the window, or that of the last sample before the window. The upper bound of a rate depends on
	 * this weight. If it is not known and there are no samples either, the rate is not known. 0: not
	 * known.
	 */
	double sample_weight;
	struct measured_second second;
	double frequency_hz; /* of the running CPUs, for metric_needs_frequency(); 0: not known */
};

struct estimate {
	/*
	 * There is a value: at least one sample has the quantity that is measured. A rate has a value without
	 * any sample.
	 */
	bool known;
	float base_covered; /* of a ratio: as in struct measured; fills a gap */
	/*
	 * In the metric's unit. A quantile is interpolated by quantile_of(). INFINITY: a ratio's baseline is
	 * 0.
	 */
	double value;
	struct bounds bounds; /* each at the rule's confidence */
	u64 samples;          /* number of samples that the value is computed from */
	u64 worth;            /* number of independent samples that these are worth; 0: not known */
	double effect;        /* samples / worth; INFINITY: not known */
	u64 base_samples;     /* of a ratio: effective number of samples in the baseline */
	union {
		/*
		 * For a quantile that is not a ratio: the latencies past its limits. Past means above, or for a
		 * rule with `below`, not above.
		 */
		struct {
			u64 past_threshold;
			u64 past_clear;
		};
		/* For a metric with a second event. */
		struct {
			u64 second_samples; /* number of samples of the second event in the window */
			/*
			 * For cores-lost that is not a ratio: the cores that the cgroup used (0: not known), and
			 * the frequency that both were converted at. A float has room for seven digits.
			 */
			float cores_used;
			float frequency_hz;
		};
	};
};

/*
 * Computes the numbers that are shown. evidence_judge() decides by the same numbers. `limits` may be NULL for a
 * quantile and for a share: then nothing is counted past a limit.
 */
void estimate_of(const struct rule *rule, const struct limits *limits, const struct measured *measured,
		 struct estimate *ret);

/*
 * Returns the design effect (bursts.h) of the samples that the metric counts: bounds divide the number of
 * samples by it. For a quantile it is the largest of the effects around the value and at the limits; `limits`
 * NULL: around the value. A mean needs limits. The samples of a baseline are assumed to have the same effect as
 * those of the window. Returns 1 if there are no parts or no value.
 */
double estimate_effect(const struct rule *rule, const struct limits *limits, const struct measured *measured);

/*
 * The number of independent samples that n samples are worth, at most n. estimate_worth_count() scales
 * `count` of `n` samples to `worth` samples.
 */
u64 estimate_worth(u64 n, double effect);
u64 estimate_worth_count(u64 count, u64 n, u64 worth);

/* Returns whether there is a value. */
bool estimate_known(const struct rule *rule, const struct measured *measured);

/* Computes only the value; INFINITY for a ratio to 0. Call it only if estimate_known() holds. */
double estimate_value(const struct rule *rule, const struct measured *measured);

/* Computes only the bounds. Call it only if estimate_known() holds. */
struct bounds estimate_bounds(const struct rule *rule, const struct limits *limits,
			      const struct measured *measured);

/*
 * The number that the rate of the metric's event is multiplied by: the bytes of a line, or one core divided by
 * its running frequency; else 1. 0: the frequency is not known.
 */
double estimate_unit(const struct metric *metric, const struct measured *measured);

/*
 * Returns whether the estimate knows how many samples the value is computed from. An estimate that was saved
 * over a restart does not, because only its value and bounds are saved. A known value without samples is from
 * such an estimate, unless it is a rate of 0.
 */
bool estimate_has_samples(const struct estimate *estimate, const struct metric *metric);

/* The number of samples that a share counts (for example those of its source), at most all samples. */
u64 estimate_share_count(const struct metric *metric, const struct tally *tally);

/* The samples of the rule's event that the metric uses: those with a latency for a quantile or a mean, else all. */
u64 estimate_samples(const struct rule *rule, const struct tally *tally);

/*
 * The number that the rule's `min-samples` is compared with: that of estimate_samples(), with two exceptions.
 * For `cpi` it is that of the event with fewer samples. For `wait` it is that of the cycles: few stalls among
 * many cycles are evidence, as few samples of a source are for a share. `second` is the tally of the second
 * event, or NULL. estimate_counted_of() computes the same from an estimate.
 */
u64 estimate_counted(const struct rule *rule, const struct tally *tally, const struct tally *second);
u64 estimate_counted_of(const struct metric *metric, const struct estimate *estimate);

#endif
