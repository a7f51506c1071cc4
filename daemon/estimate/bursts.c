// SPDX-License-Identifier: GPL-2.0
#include "estimate/bursts.h"

#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/*
 * Lengths of batches, in parts. The effect of a batch length counts only if it exceeds the largest effect so
 * far by the factor 1 + `excess`. `excess` is one standard deviation of the effect with 30 parts and
 * independent samples. The largest of four estimates is biased by chance: without `excess` 100 independent
 * samples would be worth 82, and with it they are worth 88.
 */
static const struct {
	size_t length;
	double excess;
} batches[] = {{1, 0.26}, {2, 0.25}, {3, 0.35}, {5, 0.5}};
#define BATCHES (sizeof(batches) / sizeof(batches[0]))

/* The window must have room for at least this many batches of a length. */
#define BATCHES_MIN 6

/* Minimum of the effective number of parts: how many parts of equal size the unequal parts are worth. */
#define PARTS_MIN 3

/*
 * If the correlation of neighbouring parts is above this, bursts are longer than batches can measure. With 30
 * parts of independent samples this happens in one window of 1,000.
 */
#define CORRELATION_MAX 0.55
/* The correlation is tested only if the effect is above this, so only if samples do not look independent. */
#define EFFECT_TESTED 1.25

/*
 * A service was idle if a tenth more of the parts are empty than chance explains, and few bursts contain all
 * samples.
 */
#define IDLE_PARTS_MIN 10
#define IDLE_BURSTS    5 /* fewer bursts than this are few */

struct residuals {
	size_t n;
	double of[BURSTS_PARTS_MAX];
	double parts; /* the effective number of parts */
};

static bool residuals_of(const struct burst_series *series, struct residuals *ret)
{
	double whole = 0, counted = 0, squares = 0;

	for (size_t i = 0; i < series->n; i++) {
		whole += series->parts[i].whole;
		counted += series->parts[i].counted;
		squares += series->parts[i].whole * series->parts[i].whole;
	}
	if (!(whole > 0))
		return false;
	ret->n = series->n;
	ret->parts = whole * whole / squares;
	for (size_t i = 0; i < series->n; i++)
		ret->of[i] = series->parts[i].counted - counted / whole * series->parts[i].whole;
	return true;
}

/*
 * Estimates the variance of the sum of all parts from overlapping batches of `length` parts. The estimate is
 * unbiased if the parts are independent.
 */
static double batch_variance(const struct residuals *residuals, size_t length)
{
	const size_t n = residuals->n;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += residuals->of[i];
		if (i >= length)
			sum -= residuals->of[i - length];
		if (i + 1 >= length)
			squares += sum * sum;
	}
	return squares * (double)n * (double)n /
	       ((double)length * (double)(n - length + 1) * (double)(n - length));
}

/* The correlation of each part with the next one. */
static double correlation_with_next(const double *of, size_t n)
{
	double squares = 0, products = 0;

	for (size_t i = 0; i < n; i++) {
		squares += of[i] * of[i];
		if (i > 0)
			products += of[i] * of[i - 1];
	}
	return squares > 0 ? products / squares : 0;
}

/*
 * Returns whether neighbouring parts are alike after each was divided by the standard deviation that chance gives it.
 * So a part with a tenth of the activity counts as much as a busy one.
 */
static bool standardized_parts_are_alike(const struct burst_series *series, const struct residuals *residuals)
{
	double standard[BURSTS_PARTS_MAX] = {0};
	double whole = 0, squares = 0;

	for (size_t i = 0; i < series->n; i++)
		whole += series->parts[i].whole;
	for (size_t i = 0; i < series->n; i++) {
		double variance = series->variance * series->parts[i].whole / whole;

		if (variance > 0)
			standard[i] = residuals->of[i] / sqrt(variance);
		squares += standard[i] * standard[i];
	}
	return squares > EFFECT_TESTED * (double)series->n &&
	       correlation_with_next(standard, series->n) > CORRELATION_MAX;
}

/* Returns whether the service was idle for some of the window, and busy in only a few bursts. */
static bool is_idle_between(const struct burst_series *series)
{
	const double n = (double)series->n;
	double samples = 0;
	unsigned busy = 0, bursts = 0;

	for (size_t i = 0; i < series->n; i++) {
		bool is_busy = series->parts[i].whole > 0;

		samples += series->parts[i].whole;
		busy += is_busy;
		bursts += is_busy && (i == 0 || !(series->parts[i - 1].whole > 0));
	}
	/* By chance a part is empty with a probability of exp(-samples / n). */
	return busy < n * (0.9 - exp(-samples / n)) && bursts < IDLE_BURSTS;
}

/*
 * The square of the factor by which Student's t widens a bound, compared with the normal distribution, if the
 * variance was estimated from this many parts. `student_confidence` is the confidence for Student's t, and
 * `confidence` that for the normal distribution.
 */
static double student_factor(double parts, double student_confidence, double confidence)
{
	double normal = qnorm(confidence, 0, 1, true, false);
	double student = qt(student_confidence, parts - 1, true, false);

	return normal > 0 ? student * student / (normal * normal) : 1;
}

double bursts_effect(const struct burst_series *series, double confidence)
{
	struct residuals residuals;
	double effect = 1;

	if (!residuals_of(series, &residuals))
		return 1;
	/* There was no event at all, so its rate does not vary. */
	if (!series->of_samples && !(series->variance > 0))
		return 1;
	if (residuals.parts < PARTS_MIN)
		return INFINITY;
	if (series->of_samples && series->n >= IDLE_PARTS_MIN && is_idle_between(series))
		return INFINITY;
	/* Either none of the samples is counted, or all are. */
	if (!(series->variance > 0))
		return 1;
	for (size_t i = 0; i < BATCHES; i++) {
		double found;

		if (i > 0 && series->n < batches[i].length * BATCHES_MIN)
			break;
		found = batch_variance(&residuals, batches[i].length) / series->variance;
		if (found > effect * (1 + batches[i].excess))
			effect = found;
	}
	if (effect > EFFECT_TESTED && correlation_with_next(residuals.of, residuals.n) > CORRELATION_MAX)
		return INFINITY;
	if (series->of_two_events && standardized_parts_are_alike(series, &residuals))
		return INFINITY;
	/*
	 * If bursts move both events, few of them decide the quotient, and its distribution is skewed. Student's t for
	 * half of the chance to be wrong makes up for that: without it, bounds of 95 % were wrong in up to 6.8 % of the
	 * windows (tests/bench/README.md).
	 */
	if (series->of_two_events && effect > EFFECT_TESTED)
		return effect * student_factor(residuals.parts, (1 + confidence) / 2, confidence);
	return effect > 1 ? effect * student_factor(residuals.parts, confidence, confidence) : 1;
}
