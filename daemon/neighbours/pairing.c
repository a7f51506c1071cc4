// SPDX-License-Identifier: GPL-2.0
#include "neighbours/pairing.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"

/* One value in this many is winsorized at either end. */
#define DRAWN_IN 20
/* The least degrees of freedom. With fewer, the estimates of the autocorrelations are too rough. */
#define FREEDOM_MIN 6
/* A variance below this is only rounding error of a variance of 1. */
#define NOTHING 1e-9

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Finds the bounds for winsorizing. They are equal if no value is known. Returns 0 or -ENOMEM. */
static int find_bounds(const double *values, size_t n, double *ret_low, double *ret_high)
{
	_cleanup_free_ double *sorted = calloc(n + 1, sizeof(*sorted));
	size_t known = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			sorted[known++] = values[i];
	*ret_low = *ret_high = 0;
	if (known == 0)
		return 0;
	qsort(sorted, known, sizeof(*sorted), compare_doubles);
	*ret_low = sorted[known / DRAWN_IN];
	*ret_high = sorted[known - 1 - known / DRAWN_IN];
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
	if (variance < NOTHING)
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

static void add_products(const struct pairing *pairing, size_t lag, size_t turn, struct products *products)
{
	for (size_t earlier = 0, later = (lag + turn) % pairing->n; earlier + lag < pairing->n; earlier++) {
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

	if (product[control][control] < NOTHING * (double)products->n || product[control][LATENCY] <= 0)
		return;
	for (size_t i = control + 1; i < COLUMNS; i++)
		for (size_t k = i; k < COLUMNS; k++)
			product[i][k] -=
				product[control][i] * product[control][k] / product[control][control];
}

double pairing_strength(const struct pairing *pairing, size_t lag, size_t turn, size_t *ret_n)
{
	struct products products = {0};
	double nothing, latency, traffic, strength;

	add_products(pairing, lag, turn, &products);
	if (ret_n)
		*ret_n = products.n;
	if (products.n < 2)
		return 0;
	take_mean_out(&products);
	nothing = NOTHING * (double)products.n;
	take_out(&products, OWN);
	take_out(&products, REST);
	latency = products.product[LATENCY][LATENCY];
	traffic = products.product[TRAFFIC][TRAFFIC];
	if (latency < nothing || traffic < nothing)
		return 0;
	strength = products.product[LATENCY][TRAFFIC] / sqrt(latency * traffic);
	return fmin(fmax(strength, -1), 1);
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
