// SPDX-License-Identifier: GPL-2.0
#include "neighbours/pairing.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/* One in this many values at each end is set to the nearest value that is left as it is (winsorized). */
#define WINSORIZED_PART 20
/* The least degrees of freedom. With fewer, the estimates of the autocorrelations are too rough. */
#define FREEDOM_MIN 6
/* A variance below this is only rounding error of a variance of 1. */
#define VARIANCE_ROUNDING 1e-9

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Finds the bounds for winsorizing. They are equal if no value is known. Returns 0 or -ENOMEM. */
static int find_bounds(const double *values, size_t n, double *ret_low, double *ret_high)
{
	_cleanup_free_ double *sorted = calloc(n + 1, sizeof(*sorted));
	size_t n_known = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			sorted[n_known++] = values[i];
	*ret_low = *ret_high = 0;
	if (n_known == 0)
		return 0;
	qsort(sorted, n_known, sizeof(*sorted), compare_doubles);
	*ret_low = sorted[n_known / WINSORIZED_PART];
	*ret_high = sorted[n_known - 1 - n_known / WINSORIZED_PART];
	return 0;
}

/* Subtracts the line of least squares over the known bins. */
static void take_line_out(double *values, size_t n)
{
	double known = 0, time = 0, value = 0, time_time = 0, time_value = 0, slope;

	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		known++;
		time += (double)i;
		value += values[i];
	}
	time /= known;
	value /= known;
	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		time_time += ((double)i - time) * ((double)i - time);
		time_value += ((double)i - time) * (values[i] - value);
	}
	slope = time_time > 0 ? time_value / time_time : 0;
	for (size_t i = 0; i < n; i++)
		values[i] -= value + slope * ((double)i - time);
}

static double variance_around_0(const double *values, size_t n)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		sum += values[i] * values[i];
		known++;
	}
	return sum / (double)known;
}

int pairing_prepare(const double *values, size_t n, double *ret)
{
	double low, high, variance;
	int r = find_bounds(values, n, &low, &high);

	if (r < 0)
		return r;
	if (!(high > low))
		return 0;
	for (size_t i = 0; i < n; i++)
		ret[i] = isnan(values[i]) ? NAN : (fmin(fmax(values[i], low), high) - low) / (high - low);
	take_line_out(ret, n);
	variance = variance_around_0(ret, n);
	if (variance < VARIANCE_ROUNDING)
		return 0;
	for (size_t i = 0; i < n; i++)
		ret[i] /= sqrt(variance);
	return 1;
}

/* Rows and columns of the sums of products. */
enum column { OWN, REST, LATENCY, TRAFFIC, COLUMNS };

struct products {
	size_t n;
	double sum[COLUMNS];
	double product[COLUMNS][COLUMNS]; /* only elements with row <= column are used */
};

static void add_products(const struct pairing *pairing, size_t lag, size_t rotation,
			 struct products *products)
{
	for (size_t earlier = 0, later = (lag + rotation) % pairing->n; earlier + lag < pairing->n;
	     earlier++) {
		const double row[COLUMNS] = {
			[OWN] = pairing->own ? pairing->own[later] : 0,
			[REST] = pairing->rest ? pairing->rest[earlier] : 0,
			[LATENCY] = pairing->latency[later],
			[TRAFFIC] = pairing->traffic[earlier],
		};

		if (++later == pairing->n)
			later = 0;
		if (isnan(row[OWN] + row[REST] + row[LATENCY] + row[TRAFFIC]))
			continue;
		products->n++;
		for (size_t i = 0; i < COLUMNS; i++) {
			products->sum[i] += row[i];
			for (size_t k = i; k < COLUMNS; k++)
				products->product[i][k] += row[i] * row[k];
		}
	}
}

static void take_mean_out(struct products *products)
{
	for (size_t i = 0; i < COLUMNS; i++)
		for (size_t k = i; k < COLUMNS; k++)
			products->product[i][k] -= products->sum[i] * products->sum[k] / (double)products->n;
}

/*
 * Takes the effect of the column `control` out of the columns after it, by regression. Does nothing if
 * `control` does not vary or does not rise with the latency.
 */
static void take_out(struct products *products, enum column control)
{
	double(*product)[COLUMNS] = products->product;

	if (product[control][control] < VARIANCE_ROUNDING * (double)products->n ||
	    product[control][LATENCY] <= 0)
		return;
	for (size_t i = control + 1; i < COLUMNS; i++)
		for (size_t k = i; k < COLUMNS; k++)
			product[i][k] -=
				product[control][i] * product[control][k] / product[control][control];
}

static double strength_of(struct products *products)
{
	double rounding, latency, traffic, strength;

	if (products->n < 2)
		return 0;
	take_mean_out(products);
	rounding = VARIANCE_ROUNDING * (double)products->n;
	take_out(products, OWN);
	take_out(products, REST);
	latency = products->product[LATENCY][LATENCY];
	traffic = products->product[TRAFFIC][TRAFFIC];
	if (latency < rounding || traffic < rounding)
		return 0;
	strength = products->product[LATENCY][TRAFFIC] / sqrt(latency * traffic);
	return fmin(fmax(strength, -1), 1);
}

double pairing_strength(const struct pairing *pairing, size_t lag, size_t rotation, size_t *ret_n)
{
	struct products products = {0};

	add_products(pairing, lag, rotation, &products);
	if (ret_n)
		*ret_n = products.n;
	return strength_of(&products);
}

int pairing_rotated(const struct pairing *pairing, struct pairing_rotated *ret)
{
	const size_t n = pairing->n;
	double *latency = calloc(6 * n + 1, sizeof(*latency));
	double *own, *known;

	if (!latency)
		return -ENOMEM;
	own = latency + 2 * n;
	known = own + 2 * n;
	for (size_t i = 0; i < 2 * n; i++) {
		double of_latency = pairing->latency[i % n];
		double of_own = pairing->own ? pairing->own[i % n] : 0;

		if (isnan(of_latency + of_own))
			continue;
		latency[i] = of_latency;
		own[i] = of_own;
		known[i] = 1;
	}
	*ret = (struct pairing_rotated){.n = n, .latency = latency, .own = own, .known = known};
	return 0;
}

void pairing_rotated_done(const struct pairing_rotated *rotated)
{
	free(rotated->latency);
}

void pairing_shift(const struct pairing_rotated *rotated, size_t lag, size_t rotation,
		   struct pairing_shift *ret)
{
	*ret = (struct pairing_shift){.of = rotated,
				      .n = rotated->n > lag ? rotated->n - lag : 0,
				      .first = rotated->n ? (lag + rotation) % rotated->n : 0};
	for (size_t i = ret->first; i < ret->first + ret->n; i++) {
		const double latency = rotated->latency[i], own = rotated->own[i];

		ret->known += rotated->known[i] != 0;
		ret->latency += latency;
		ret->latency_latency += latency * latency;
		ret->own += own;
		ret->own_own += own * own;
		ret->own_latency += own * latency;
	}
}

/* Values that are computed at the same time, in a vector register. */
typedef double lanes __attribute__((vector_size(2 * sizeof(double))));

#define LANES (sizeof(lanes) / sizeof(double))

/* Returns the next LANES of the `n` remaining values, padded with 0. `n` is at least 1. */
static inline lanes lanes_at(const double *from, size_t n)
{
	lanes ret = {0};

	if (n >= LANES)
		memcpy(&ret, from, sizeof(ret));
	else
		ret[0] = from[0];
	return ret;
}

static double lanes_sum(lanes of)
{
	return of[0] + of[1];
}

/* Returns the sums over the bins whose `known_mask` is 1. `known_mask` NULL: over all bins. */
static struct pairing_sums sums_of(const double *traffic, const double *rest, const double *known_mask,
				   size_t n)
{
	lanes sum_traffic = {0}, sum_rest = {0}, traffic_traffic = {0}, rest_traffic = {0}, rest_rest = {0};

	for (size_t i = 0; i < n; i += LANES) {
		lanes of_traffic = lanes_at(traffic + i, n - i);
		lanes of_rest = rest ? lanes_at(rest + i, n - i) : (lanes){0};

		if (known_mask) {
			of_traffic *= lanes_at(known_mask + i, n - i);
			of_rest *= lanes_at(known_mask + i, n - i);
		}
		sum_traffic += of_traffic;
		sum_rest += of_rest;
		traffic_traffic += of_traffic * of_traffic;
		rest_traffic += of_rest * of_traffic;
		rest_rest += of_rest * of_rest;
	}
	return (struct pairing_sums){.traffic = lanes_sum(sum_traffic),
				     .rest = lanes_sum(sum_rest),
				     .traffic_traffic = lanes_sum(traffic_traffic),
				     .rest_traffic = lanes_sum(rest_traffic),
				     .rest_rest = lanes_sum(rest_rest)};
}

struct pairing_sums pairing_sums(const double *traffic, const double *rest, size_t n)
{
	return sums_of(traffic, rest, NULL, n);
}

double pairing_shift_strength(const struct pairing_shift *shift, const double *traffic, const double *rest,
			      const struct pairing_sums *sums)
{
	const double *latency = shift->of->latency + shift->first, *own = shift->of->own + shift->first;
	const bool complete = shift->known == shift->n;
	const struct pairing_sums known_sums =
		complete ? *sums : sums_of(traffic, rest, shift->of->known + shift->first, shift->n);
	lanes latency_traffic = {0}, rest_latency = {0}, own_traffic = {0}, own_rest = {0};
	struct products products;

	for (size_t i = 0; i < shift->n; i += LANES) {
		const size_t left = shift->n - i;
		const lanes of_traffic = lanes_at(traffic + i, left),
			    of_latency = lanes_at(latency + i, left);
		const lanes of_rest = rest ? lanes_at(rest + i, left) : (lanes){0};
		const lanes of_own = lanes_at(own + i, left);

		latency_traffic += of_latency * of_traffic;
		rest_latency += of_latency * of_rest;
		own_traffic += of_own * of_traffic;
		own_rest += of_own * of_rest;
	}
	products = (struct products){
		.n = shift->known,
		.sum = {[OWN] = shift->own,
			[REST] = known_sums.rest,
			[LATENCY] = shift->latency,
			[TRAFFIC] = known_sums.traffic},
	};
	products.product[OWN][OWN] = shift->own_own;
	products.product[OWN][REST] = lanes_sum(own_rest);
	products.product[OWN][LATENCY] = shift->own_latency;
	products.product[OWN][TRAFFIC] = lanes_sum(own_traffic);
	products.product[REST][REST] = known_sums.rest_rest;
	products.product[REST][LATENCY] = lanes_sum(rest_latency);
	products.product[REST][TRAFFIC] = known_sums.rest_traffic;
	products.product[LATENCY][LATENCY] = shift->latency_latency;
	products.product[LATENCY][TRAFFIC] = lanes_sum(latency_traffic);
	products.product[TRAFFIC][TRAFFIC] = known_sums.traffic_traffic;
	return strength_of(&products);
}

static double autocorrelation(const double *values, size_t n, size_t distance)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i + distance < n; i++) {
		double product = values[i] * values[i + distance];

		if (isnan(product))
			continue;
		sum += product;
		known++;
	}
	return known ? sum / (double)known : 0;
}

static double independent_bins(const struct pairing *pairing, size_t n)
{
	double factor = 1;

	for (size_t distance = 1; distance <= pairing->n / 4; distance++)
		factor += 2 * (1 - (double)distance / (double)pairing->n) *
			  autocorrelation(pairing->latency, pairing->n, distance) *
			  autocorrelation(pairing->traffic, pairing->n, distance);
	return (double)n / fmax(factor, 1);
}

/*
 * The value that a standard normal variable exceeds with probability `chance`, which is above 0 and at most
 * 0.5.
 */
static double normal_above(double chance)
{
	double low = 0, high = 40;

	for (unsigned i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) / 2 > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double pairing_chance(const struct pairing *pairing, size_t n, double chance, size_t tries)
{
	/*
	 * Fisher's transformation has n - 3 degrees of freedom. The line and each series taken out cost one
	 * more.
	 */
	double freedom = independent_bins(pairing, n) - 3 - 1 - !!pairing->own - !!pairing->rest;

	if (freedom < FREEDOM_MIN)
		return 1;
	return tanh(normal_above(chance / (double)(tries ? tries : 1)) / sqrt(freedom));
}
