// SPDX-License-Identifier: GPL-2.0
#include "policy/bursts.h"

#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/*
 * Batches of several parts, and how much larger than the effect so far that of a batch must be to count: one
 * standard deviation of what it is with 30 parts and independent samples. Without it chance alone would
 * make 100 independent samples worth 82 of them, the largest of four estimates being taken; with it they are
 * worth 88.
 */
static const struct {
	size_t length;
	double excess;
} batches[] = {{1, 0.26}, {2, 0.25}, {3, 0.35}, {5, 0.5}};
#define BATCHES (sizeof(batches) / sizeof(batches[0]))

/* So many batches of a length there must be. */
#define BATCHES_MIN 6

/* Parts that would say as much if all had as many samples. */
#define PARTS_MIN 3

/* Neighbouring parts that vary so much alike are of one burst: then it is longer than batches can tell. With
 * 30 parts of independent samples the correlation is beyond in one window of 1,000. */
#define ALIKE 0.55
/* And it is asked only of parts that vary more than independent samples do. */
#define VARIES 1.25

/* An idle service: a tenth of the parts are empty without being so by chance, and fewer than so many bursts
 * have all samples. */
#define IDLE_PARTS_MIN 10
#define IDLE_BURSTS    5

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

/* The variance of the sum of all, from overlapping batches of so many parts; unbiased for independent ones. */
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

/* The correlation of parts with the ones after them. */
static double neighbours_alike(const struct residuals *residuals)
{
	double squares = 0, products = 0;

	for (size_t i = 0; i < residuals->n; i++) {
		squares += residuals->of[i] * residuals->of[i];
		if (i > 0)
			products += residuals->of[i] * residuals->of[i - 1];
	}
	return squares > 0 ? products / squares : 0;
}

/* Whether the service was idle for a part of the window, and busy in few bursts. */
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
	/* By chance a part of few samples is empty with exp(-samples / n). */
	return busy < n * (0.9 - exp(-samples / n)) && bursts < IDLE_BURSTS;
}

/* By so much Student's t widens a bound whose variance comes of so many parts, squared. */
static double widened(double parts, double confidence)
{
	double normal = qnorm(confidence, 0, 1, true, false);
	double student = qt(confidence, parts - 1, true, false);

	return normal > 0 ? student * student / (normal * normal) : 1;
}

double bursts_effect(const struct burst_series *series, double confidence)
{
	struct residuals residuals;
	double effect = 1;

	if (!residuals_of(series, &residuals))
		return 1;
	/* No event at all, in all the time: its rate varies by nothing. */
	if (!series->of_samples && !(series->variance > 0))
		return 1;
	if (residuals.parts < PARTS_MIN)
		return INFINITY;
	if (series->of_samples && series->n >= IDLE_PARTS_MIN && is_idle_between(series))
		return INFINITY;
	/* None of the samples is what is counted, or all are. */
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
	if (effect > VARIES && neighbours_alike(&residuals) > ALIKE)
		return INFINITY;
	return effect > 1 ? effect * widened(residuals.parts, confidence) : 1;
}
