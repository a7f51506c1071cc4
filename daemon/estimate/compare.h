// SPDX-License-Identifier: GPL-2.0
/*
 * Compares a figure of two sides, such as before and after a deploy: the difference, and its bounds. The sides are
 * two windows, whose samples are independent of each other. The bounds allow for samples that come in bursts
 * (bursts.h), on each side by itself. Pure.
 *
 * The bounds of a difference follow from those of both sides (the method of variance estimates recovery: Zou and
 * Donner, Statistics in Medicine 27, 2008, p. 1693; with logarithms for a ratio). They assume that the errors of both
 * sides are independent. The width of a histogram's buckets is not such an error: it is added as a whole.
 */
#ifndef PEBSD_COMPARE_H
#define PEBSD_COMPARE_H

#include <stddef.h>

#include "estimate/window_samples.h"
#include "window/waits.h"

/* All bounds of one comparison hold at the same time with at least this probability. */
#define COMPARE_CONFIDENCE 0.95

enum compare_scale {
	COMPARE_RATIO,  /* b / a - 1 */
	COMPARE_POINTS, /* b - a, for shares from 0 to 1 */
};

/* A figure of one side. */
struct compare_side {
	bool known;
	double value;
	double value_low; /* `value` is interpolated between these edges of a bucket; else they equal it */
	double value_high;
	struct bounds bounds; /* each at compare_confidence() */
	bool bounded; /* false: the samples came in too few bursts or collections for bounds, or are too few */
};

enum compare_verdict {
	COMPARE_NO_VALUE,   /* a side has no such sample */
	COMPARE_NO_BOUNDS,  /* a side has no bounds */
	COMPARE_NOT_PROVEN, /* the bounds contain 0 */
	COMPARE_PROVEN,
	COMPARE_VERDICTS
};

struct comparison {
	enum compare_verdict verdict;
	double difference;    /* INFINITY: a is 0 */
	struct bounds bounds; /* of the difference; -INFINITY and INFINITY: none */
};

/*
 * Returns the confidence of each bound of each side if `n` figures are compared: so that all bounds hold with
 * COMPARE_CONFIDENCE, the chance to be wrong is divided among them (Bonferroni). Without this, one in twenty
 * figures would differ by chance.
 */
double compare_confidence(size_t n);

void compare_sides(const struct compare_side *a, const struct compare_side *b, enum compare_scale scale,
		   struct comparison *ret);

/*
 * The figures of one side. `value` is that of `samples` (window_waits.h). A mean has bounds from at least
 * COMPARE_MEAN_WORTH independent samples on: its bounds are those of a normal distribution, the upper one with a
 * correction for skewed latencies (Johnson, Journal of the American Statistical Association 73, 1978, p. 536).
 */
#define COMPARE_MEAN_WORTH 100
void compare_quantile(const struct window_samples *samples, unsigned event, double q, double confidence,
		      struct compare_side *ret);
void compare_mean(const struct window_samples *samples, unsigned event, double confidence,
		  struct compare_side *ret);
void compare_share(const struct window_samples *samples, unsigned event, const struct metric *share,
		   double confidence, struct compare_side *ret);
void compare_wait(const struct window_samples *samples, enum wait_figure figure,
		  const struct wait_value *value, struct compare_side *ret);

/* Returns the scale of the figure. */
enum compare_scale compare_wait_scale(enum wait_figure figure);

#endif
