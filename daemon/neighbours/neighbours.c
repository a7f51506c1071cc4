// SPDX-License-Identifier: GPL-2.0
#include "neighbours/neighbours.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "neighbours/pairing.h"

/*
 * The probability that chance alone yields a strength above the needed one: among the rotated series, and by
 * theory. The second is smaller because theory depends on autocorrelations, which are estimates.
 */
#define ROTATIONS_CHANCE 0.01
#define THEORY_CHANCE    0.002

struct series_set {
	size_t bins;
	double *latency;
	double *own;
	double *all; /* traffic of all candidates together */
	bool own_varies;
	bool all_varies;
	size_t n;
	struct candidate {
		size_t index;
		double *traffic;
		double *rest; /* traffic of all other candidates together */
		bool rest_varies;
		bool complete; /* the traffic of all bins is known */
	} * candidates;
	double *space; /* the memory of all series */
};

static void series_set_close(const struct series_set *set)
{
	free(set->candidates);
	free(set->space);
}

static double known_or_0(double value)
{
	return isnan(value) ? 0 : value;
}

static int prepare_candidate(const struct neighbour_series *candidates, size_t index, const double *total,
			     double *scratch, struct series_set *set)
{
	struct candidate *candidate = &set->candidates[set->n];
	const double *traffic = candidates[index].traffic;
	int r;

	*candidate = (struct candidate){.index = index,
					.traffic = set->space + (3 + 2 * set->n) * set->bins,
					.rest = set->space + (4 + 2 * set->n) * set->bins};
	r = pairing_prepare(traffic, set->bins, candidate->traffic);
	if (r <= 0)
		return r;
	for (size_t i = 0; i < set->bins; i++)
		scratch[i] = total[i] - known_or_0(traffic[i]);
	r = pairing_prepare(scratch, set->bins, candidate->rest);
	if (r < 0)
		return r;
	candidate->rest_varies = r > 0;
	candidate->complete = true;
	for (size_t i = 0; i < set->bins; i++)
		if (isnan(traffic[i]))
			candidate->complete = false;
	set->n++;
	return 0;
}

/* Returns 1; 0 if the latency is the same in all but a few bins; or -ENOMEM. */
static int prepare(const struct neighbour_series *victim, const struct neighbour_series *candidates, size_t n,
		   size_t bins, struct series_set *set)
{
	_cleanup_free_ double *total = calloc(bins + 1, sizeof(*total));
	_cleanup_free_ double *scratch = calloc(bins + 1, sizeof(*scratch));
	int r;

	set->bins = bins;
	set->space = calloc((3 + 2 * n) * bins + 1, sizeof(*set->space));
	set->candidates = calloc(n + 1, sizeof(*set->candidates));
	if (!total || !scratch || !set->space || !set->candidates)
		return -ENOMEM;
	set->latency = set->space;
	set->own = set->space + bins;
	set->all = set->space + 2 * bins;
	for (size_t c = 0; c < n; c++)
		for (size_t i = 0; i < bins; i++)
			total[i] += known_or_0(candidates[c].traffic[i]);
	/*
	 * Use the logarithm: waiting in a queue multiplies the latency, so it costs a slow victim more cycles
	 * than a fast one.
	 */
	for (size_t i = 0; i < bins; i++)
		scratch[i] = isnan(victim->latency[i]) ? NAN : log(fmax(victim->latency[i], 1));
	r = pairing_prepare(scratch, bins, set->latency);
	if (r <= 0)
		return r;
	r = pairing_prepare(victim->traffic, bins, set->own);
	if (r < 0)
		return r;
	set->own_varies = r > 0;
	r = pairing_prepare(total, bins, set->all);
	if (r < 0)
		return r;
	set->all_varies = r > 0;
	for (size_t c = 0; c < n; c++)
		if ((r = prepare_candidate(candidates, c, total, scratch, set)) < 0)
			return r;
	return 1;
}

static struct pairing pair_with(const struct series_set *set, const struct candidate *candidate)
{
	return (struct pairing){
		.n = set->bins,
		.latency = set->latency,
		.own = set->own_varies ? set->own : NULL,
		.traffic = candidate->traffic,
		.rest = candidate->rest_varies ? candidate->rest : NULL,
	};
}

static struct pairing pair_with_self(const struct series_set *set)
{
	return (struct pairing){
		.n = set->bins,
		.latency = set->latency,
		.traffic = set->own,
		.rest = set->all_varies ? set->all : NULL,
	};
}

/* The smallest rotation: each one moves a bin by at least an eighth of all bins, in either direction. */
static size_t first_rotation(size_t bins)
{
	return bins / 8 > NEIGHBOURS_LAG_MAX ? bins / 8 : NEIGHBOURS_LAG_MAX + 1;
}

/*
 * Returns the highest strength of all candidates at one lag and rotation of the victim's series. Such a strength is due
 * to chance. `sums` are those of the candidates without an unknown bin.
 */
static double rotated_best(const struct series_set *set, const struct pairing_shift *at, size_t lag,
			   size_t rotation, const struct pairing_sums *sums)
{
	double best = 0;

	for (size_t c = 0; c < set->n; c++) {
		const struct pairing pairing = pair_with(set, &set->candidates[c]);

		best = fmax(best,
			    set->candidates[c].complete
				    ? pairing_shift_strength(at, pairing.traffic, pairing.rest, &sums[c])
				    : pairing_strength(&pairing, lag, rotation, NULL));
	}
	return best;
}

/* Finds the highest strength of all candidates and lags for each rotation, from `first` on. Returns 0 or -ENOMEM. */
static int rotate_candidates(const struct series_set *set, size_t first, double *strengths)
{
	const struct pairing victim = {
		.n = set->bins, .latency = set->latency, .own = set->own_varies ? set->own : NULL};
	_cleanup_(pairing_rotated_done) struct pairing_rotated rotated = {0};
	_cleanup_free_ struct pairing_sums *sums = calloc(set->n + 1, sizeof(*sums));

	if (!sums || pairing_rotated(&victim, &rotated) < 0)
		return -ENOMEM;
	for (size_t lag = 0; lag <= NEIGHBOURS_LAG_MAX; lag++) {
		for (size_t c = 0; c < set->n; c++) {
			const struct pairing pairing = pair_with(set, &set->candidates[c]);

			sums[c] = pairing_sums(pairing.traffic, pairing.rest, set->bins - lag);
		}
		for (size_t rotation = first; rotation + first <= set->bins; rotation++) {
			double *best = &strengths[rotation - first];
			struct pairing_shift at;

			pairing_shift(&rotated, lag, rotation, &at);
			*best = fmax(*best, rotated_best(set, &at, lag, rotation, sums));
		}
	}
	return 0;
}

/*
 * Returns the strength that only ROTATIONS_CHANCE of the rotations reach. Of few rotations, returns the highest.
 */
static double chance_of_rotations(double *strengths, size_t n)
{
	size_t above = (size_t)((double)(n + 1) * ROTATIONS_CHANCE);
	double best = 0;

	for (size_t skipped = 0; n > 0; skipped++) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (strengths[i] > strengths[most])
				most = i;
		best = strengths[most];
		if (skipped + 1 >= above)
			break;
		strengths[most] = -1;
	}
	return best;
}

/*
 * Finds the strengths that the candidates and the victim's own traffic must exceed. The limit by theory is
 * added later, because it depends on each pair of series.
 */
static int rotate_all(const struct series_set *set, double *ret_candidates, double *ret_self)
{
	_cleanup_free_ double *strengths = calloc(2 * set->bins + 1, sizeof(*strengths));
	struct pairing self = pair_with_self(set);
	size_t first = first_rotation(set->bins);
	double *strengths_self;
	size_t n = 0;

	if (!strengths || rotate_candidates(set, first, strengths) < 0)
		return -ENOMEM;
	strengths_self = strengths + set->bins;
	for (size_t rotation = first; rotation + first <= set->bins; rotation++)
		strengths_self[n++] = set->own_varies ? pairing_strength(&self, 0, rotation, NULL) : 0;
	*ret_candidates = fmax(NEIGHBOURS_STRENGTH_MIN, chance_of_rotations(strengths, n));
	*ret_self = fmax(NEIGHBOURS_STRENGTH_MIN, chance_of_rotations(strengths_self, n));
	return 0;
}

/* A bin in which the victim has a latency. Arrays of these are sorted, the fastest bin first. */
struct ordered {
	double latency;
	size_t bin;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *left = a, *right = b;

	if (left->latency != right->latency)
		return left->latency < right->latency ? -1 : 1;
	return (left->bin > right->bin) - (left->bin < right->bin);
}

static size_t order_bins(const double *latency, size_t bins, struct ordered *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < bins; i++)
		if (!isnan(latency[i]))
			ret[n++] = (struct ordered){latency[i], i};
	qsort(ret, n, sizeof(*ret), compare_ordered);
	return n;
}

/* The mean of a series over `n` ordered bins, each taken `lag` bins earlier; NAN if none of them is known. */
static double mean_at(const double *values, const struct ordered *ordered, size_t n, size_t lag)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (ordered[i].bin < lag || isnan(values[ordered[i].bin - lag]))
			continue;
		sum += values[ordered[i].bin - lag];
		known++;
	}
	return known ? sum / (double)known : NAN;
}

/*
 * The factor by which the variance of `n` means may exceed the variance of their sampling errors, except in 1
 * of 100 cases. It is the 0.99 quantile of chi-squared over its degrees of freedom, approximated after Wilson
 * and Hilferty. 2.326 is the normal quantile of 0.99.
 */
static double scatter_of_chance(size_t n)
{
	double part = 2.0 / (9.0 * (double)(n - 1));

	return pow(1 - part + 2.326 * sqrt(part), 3);
}

/*
 * Returns whether the latency moved by NEIGHBOURS_SLOWER_MIN, and by more than the sampling errors of the
 * bins explain.
 */
static bool moved(const struct neighbour_series *victim, const struct ordered *ordered,
		  const struct neighbours *result)
{
	double mean = mean_at(victim->latency, ordered, result->bins, 0);
	double variance = 0, noise = 0;

	if (!(result->latency_slow >= NEIGHBOURS_SLOWER_MIN * result->latency_fast))
		return false;
	for (size_t i = 0; i < result->bins; i++) {
		double error = victim->error ? known_or_0(victim->error[ordered[i].bin]) : 0;

		variance += (ordered[i].latency - mean) * (ordered[i].latency - mean);
		noise += error * error;
	}
	return variance * (double)result->bins / (double)(result->bins - 1) >
	       noise * scatter_of_chance(result->bins);
}

/* The sum of the mean traffic of the victim and all candidates. */
static double traffic_of_all(const struct neighbour_series *victim, const struct neighbour_series *candidates,
			     size_t n, const struct ordered *ordered, size_t bins)
{
	double sum = known_or_0(mean_at(victim->traffic, ordered, bins, 0));

	for (size_t c = 0; c < n; c++)
		sum += known_or_0(mean_at(candidates[c].traffic, ordered, bins, 0));
	return sum;
}

/*
 * Judges a candidate at the lag with the highest strength; of several, at the shortest. Returns false if all
 * lags have too few bins.
 */
static bool judge(const struct series_set *set, const struct candidate *candidate, struct neighbour *ret)
{
	struct pairing pairing = pair_with(set, candidate);
	bool judged = false;

	for (int lag = 0; lag <= NEIGHBOURS_LAG_MAX; lag++) {
		size_t n;
		double strength = pairing_strength(&pairing, (size_t)lag, 0, &n);

		if (n + NEIGHBOURS_LAG_MAX < NEIGHBOURS_BINS_MIN || (judged && strength <= ret->strength))
			continue;
		*ret = (struct neighbour){
			.index = candidate->index, .strength = strength, .lag = lag, .n = n};
		judged = true;
	}
	return judged;
}

static int compare_neighbours(const void *a, const void *b)
{
	const struct neighbour *left = a, *right = b;

	if (left->strength != right->strength)
		return left->strength > right->strength ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static void judge_all(const struct series_set *set, const struct neighbour_series *candidates,
		      double by_chance, double rise_min, const struct ordered *ordered,
		      struct neighbours *result)
{
	size_t slow = result->bins / 4, fast = result->bins / 2;
	size_t tries = set->n * (NEIGHBOURS_LAG_MAX + 1);

	for (size_t c = 0; c < set->n; c++) {
		struct pairing pairing = pair_with(set, &set->candidates[c]);
		struct neighbour *one = &result->list[result->n];
		const double *traffic;

		if (!judge(set, &set->candidates[c], one))
			continue;
		traffic = candidates[one->index].traffic;
		one->needed = fmax(by_chance, pairing_chance(&pairing, one->n, THEORY_CHANCE, tries));
		one->traffic_slow = mean_at(traffic, ordered + result->bins - slow, slow, (size_t)one->lag);
		one->traffic_fast = mean_at(traffic, ordered, fast, (size_t)one->lag);
		one->named = one->strength > one->needed && one->traffic_slow - one->traffic_fast >= rise_min;
		result->n++;
	}
	qsort(result->list, result->n, sizeof(*result->list), compare_neighbours);
}

/* `by_chance` is the strength that the victim's own traffic must exceed (rotate_all()). */
static void conclude(const struct series_set *set, double by_chance, struct neighbours *result)
{
	struct pairing self = pair_with_self(set);
	double needed;
	size_t n;

	result->verdict =
		result->n > 0 && result->list[0].needed >= 1 ? NEIGHBOURS_EPISODE : NEIGHBOURS_NOBODY;
	for (size_t i = 0; i < result->n; i++)
		if (result->list[i].named)
			result->verdict = NEIGHBOURS_NAMED;
	if (!set->own_varies)
		return;
	result->self_strength = pairing_strength(&self, 0, 0, &n);
	needed = fmax(by_chance, pairing_chance(&self, n, THEORY_CHANCE, 1));
	if (result->self_strength <= needed ||
	    (result->n > 0 && result->list[0].strength > result->self_strength))
		return;
	result->verdict = NEIGHBOURS_SELF;
	for (size_t i = 0; i < result->n; i++)
		result->list[i].named = false;
}

int neighbours_rank(const struct neighbour_series *victim, const struct neighbour_series *candidates,
		    size_t n, size_t bins, struct neighbours *ret)
{
	_cleanup_free_ struct ordered *ordered = calloc(bins + 1, sizeof(*ordered));
	_cleanup_(series_set_close) struct series_set set = {0};
	struct neighbours result = {.verdict = NEIGHBOURS_THIN};
	_cleanup_free_ struct neighbour *list = NULL;
	double by_chance, by_chance_self, rise_min;
	int r;

	if (!ordered)
		return -ENOMEM;
	result.bins = order_bins(victim->latency, bins, ordered);
	if (result.bins >= 4) {
		result.latency_slow =
			mean_at(victim->latency, ordered + result.bins - result.bins / 4, result.bins / 4, 0);
		result.latency_fast = mean_at(victim->latency, ordered, result.bins / 2, 0);
	}
	if (result.bins >= NEIGHBOURS_BINS_MIN)
		result.verdict = NEIGHBOURS_STEADY;
	if (result.bins < NEIGHBOURS_BINS_MIN || !moved(victim, ordered, &result)) {
		*ret = result;
		return 0;
	}
	r = prepare(victim, candidates, n, bins, &set);
	if (r == 0)
		*ret = result;
	if (r <= 0)
		return r;
	r = rotate_all(&set, &by_chance, &by_chance_self);
	if (r < 0)
		return r;
	result.list = list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	rise_min = NEIGHBOURS_RISE_MIN * traffic_of_all(victim, candidates, n, ordered, result.bins);
	judge_all(&set, candidates, by_chance, rise_min, ordered, &result);
	conclude(&set, by_chance_self, &result);
	TAKE_PTR(list);
	*ret = result;
	return 0;
}
