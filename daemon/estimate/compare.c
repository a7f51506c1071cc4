// SPDX-License-Identifier: GPL-2.0
#include "estimate/compare.h"

#include <math.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "window/quantile.h"

double compare_confidence(size_t n)
{
	return 1 - (1 - COMPARE_CONFIDENCE) / 2 / (double)(n ? n : 1);
}

/*
 * The lower bound of b - a. `b` and `a` are the values within their buckets for which it is lowest; `b_low` and
 * `a_high` the bounds of the sides.
 */
static double difference_from(double b, double b_low, double a, double a_high)
{
	return b - a - hypot(b - b_low, a_high - a);
}

static struct bounds points_between(const struct compare_side *a, const struct compare_side *b)
{
	return (struct bounds){
		.low = difference_from(b->value_low, b->bounds.low, a->value_high, a->bounds.high),
		.high = -difference_from(a->value_low, a->bounds.low, b->value_high, b->bounds.high),
	};
}

/* The lower bound of b / a. A value of 0 has no logarithm: then the bounds of the sides bound the ratio. */
static double ratio_from(const struct compare_side *b, const struct compare_side *a)
{
	if (isinf(a->bounds.high) || !(b->bounds.low > 0) || !(a->bounds.high > 0))
		return 0;
	if (!(b->value_low > 0) || !(a->value_high > 0))
		return b->bounds.low / a->bounds.high;
	return exp(difference_from(log(b->value_low), log(b->bounds.low), log(a->value_high),
				   log(a->bounds.high)));
}

static struct bounds ratio_between(const struct compare_side *a, const struct compare_side *b)
{
	double inverse = ratio_from(a, b);

	return (struct bounds){.low = ratio_from(b, a) - 1, .high = inverse > 0 ? 1 / inverse - 1 : INFINITY};
}

void compare_sides(const struct compare_side *a, const struct compare_side *b, enum compare_scale scale,
		   struct comparison *ret)
{
	bool ratio = scale == COMPARE_RATIO;

	*ret = (struct comparison){.verdict = COMPARE_NO_VALUE, .bounds = {-INFINITY, INFINITY}};
	/* 0 / 0 has no value. */
	if (!a->known || !b->known || (ratio && a->value <= 0 && b->value <= 0))
		return;
	ret->difference = !ratio ? b->value - a->value : a->value > 0 ? b->value / a->value - 1 : INFINITY;
	ret->verdict = COMPARE_NO_BOUNDS;
	if (!a->bounded || !b->bounded)
		return;
	ret->bounds = ratio ? ratio_between(a, b) : points_between(a, b);
	ret->verdict = ret->bounds.low > 0 || ret->bounds.high < 0 ? COMPARE_PROVEN : COMPARE_NOT_PROVEN;
}

/* With fewer parts nothing is known about bursts. */
static bool has_parts(const struct window_samples *samples)
{
	return samples->n_parts >= BURSTS_COLLECTIONS_MIN;
}

/* A figure that is not interpolated. */
static void take_estimate(const struct window_samples *samples, const struct estimate *estimate,
			  struct compare_side *ret)
{
	*ret = (struct compare_side){
		.known = estimate->known,
		.value = estimate->value,
		.value_low = estimate->value,
		.value_high = estimate->value,
		.bounds = estimate->bounds,
		.bounded = estimate->known && estimate->worth > 0 && has_parts(samples),
	};
}

void compare_quantile(const struct window_samples *samples, unsigned event, double q, double confidence,
		      struct compare_side *ret)
{
	const struct tally *tally = &samples->sums[event];
	u64 histogram[FINE_BUCKETS];
	struct estimate estimate;
	struct quantile quantile;

	window_samples_quantile(samples, event, q, confidence, &estimate);
	take_estimate(samples, &estimate, ret);
	for (u32 i = 0; i < FINE_BUCKETS; i++)
		histogram[i] = tally->latency[i];
	if (!ret->known || quantile_of(histogram, q, &quantile) < 0)
		return;
	ret->value_low = quantile.low;
	ret->value_high =
		quantile.low >= histogram_fine_lower(FINE_OVERFLOW) ? INFINITY : (double)quantile.high;
}

void compare_share(const struct window_samples *samples, unsigned event, const struct metric *share,
		   double confidence, struct compare_side *ret)
{
	struct estimate estimate;

	window_samples_metric(samples, event, share, confidence, &estimate);
	take_estimate(samples, &estimate, ret);
}

struct moments {
	double n, mean, variance;
	double skewness;
};

/*
 * The mean is exact, the spread is that of the buckets. The latencies in the last bucket, which has no upper edge,
 * are what the other ones leave of the sum.
 */
static struct moments moments_of(const struct tally *tally)
{
	struct moments moments = {.n = (double)tally->latency_samples};
	double of[FINE_BUCKETS], rest, third = 0;

	moments.mean = (double)tally->latency_sum / moments.n;
	rest = (double)tally->latency_sum;
	for (u32 i = 0; i < FINE_OVERFLOW; i++) {
		of[i] = ((double)histogram_fine_lower(i) + 1 + (double)histogram_fine_upper(i)) / 2;
		rest -= of[i] * tally->latency[i];
	}
	of[FINE_OVERFLOW] = histogram_fine_lower(FINE_OVERFLOW);
	if (tally->latency[FINE_OVERFLOW])
		of[FINE_OVERFLOW] = fmax(of[FINE_OVERFLOW], rest / tally->latency[FINE_OVERFLOW]);
	for (u32 i = 0; i < FINE_BUCKETS; i++) {
		double from = of[i] - moments.mean;

		moments.variance += tally->latency[i] * from * from / moments.n;
		third += tally->latency[i] * from * from * from / moments.n;
	}
	moments.skewness = moments.variance > 0 ? third / pow(moments.variance, 1.5) : 0;
	return moments;
}

static double mean_effect(const struct window_samples *samples, unsigned event, const struct moments *moments,
			  double confidence)
{
	struct burst_series series = {
		.n = samples->n_parts, .variance = moments->n * moments->variance, .of_samples = true};

	for (size_t i = 0; i < series.n; i++) {
		const struct tally *part = &samples->parts[event][i].tally;

		series.parts[i] =
			(struct burst_part){(double)part->latency_samples, (double)part->latency_sum};
	}
	return bursts_effect(&series, confidence);
}

void compare_mean(const struct window_samples *samples, unsigned event, double confidence,
		  struct compare_side *ret)
{
	const struct tally *tally = &samples->sums[event];
	double effect, worth, error, z, skew;
	struct moments moments;

	*ret = (struct compare_side){.known = tally->latency_samples > 0, .bounds = {0, INFINITY}};
	if (!ret->known)
		return;
	moments = moments_of(tally);
	ret->value = ret->value_low = ret->value_high = moments.mean;
	effect = mean_effect(samples, event, &moments, confidence);
	worth = isinf(effect) || !has_parts(samples) ? 0 : moments.n / effect;
	if (worth < COMPARE_MEAN_WORTH)
		return;
	ret->bounded = true;
	error = sqrt(moments.variance / worth);
	z = qnorm(confidence, 0, 1, true, false);
	skew = fmax(moments.skewness, 0) * (2 * z * z + 1) / (6 * sqrt(worth));
	ret->bounds = (struct bounds){fmax(moments.mean - z * error, 0), moments.mean + (z + skew) * error};
}

enum compare_scale compare_wait_scale(enum wait_figure figure)
{
	return figure == WAIT_SHARE ? COMPARE_POINTS : COMPARE_RATIO;
}

void compare_wait(const struct window_samples *samples, enum wait_figure figure,
		  const struct wait_value *value, struct compare_side *ret)
{
	const double most = figure == WAIT_SHARE ? 1 : INFINITY;

	*ret = (struct compare_side){
		.known = value->known,
		.value = value->value,
		.value_low = value->value,
		.value_high = value->value,
		.bounds = value->bounds,
		.bounded = value->known && (value->bounds.low > 0 || value->bounds.high < most) &&
			   has_parts(samples),
	};
}
