// SPDX-License-Identifier: GPL-2.0
#include "neighbours/neighbours.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "neighbours/pairing.h"

/* How often the turned series may reach what is needed, and the theory's; their autocorrelations are
 * estimates. */
#define TURNS_CHANCE  0.01
#define THEORY_CHANCE 0.002

/* The series, prepared; the candidates' one after another. */
struct series_set {
	size_t bins;
	double *latency;
	double *own;
	double *all; /* everyone's traffic but the victim's */
	bool own_varies;
	bool all_varies;
	size_t n;
	struct candidate {
		size_t index;
		double *traffic;
		double *rest; /* everyone's but the victim's and this one's */
		bool rest_varies;
	} * candidates;
	double *space; /* of all */
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
	set->n++;
	return 0;
}

/* 1; 0 where the latency differs in a few bins only; or -ENOMEM. */
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
	/* What waits in a queue takes a multiple of its time, and of a slow victim more cycles than of a fast
	 * one. */
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

/* Turns that leave at least an eighth of the bins between a moment and itself, either way round. */
static size_t first_turn(size_t bins)
{
	return bins / 8 > NEIGHBOURS_LAG_MAX ? bins / 8 : NEIGHBOURS_LAG_MAX + 1;
}

/* The most that chance made of any of them, with the victim's time turned. */
static double turned_best(const struct series_set *set, size_t turn)
{
	double best = 0;

	for (size_t c = 0; c < set->n; c++) {
		struct pairing pairing = pair_with(set, &set->candidates[c]);

		for (size_t lag = 0; lag <= NEIGHBOURS_LAG_MAX; lag++)
			best = fmax(best, pairing_strength(&pairing, lag, turn, NULL));
	}
	return best;
}

/* With more turns than 1 / TURNS_CHANCE the part above it is left out. */
static double chance_of_turns(double *turned, size_t n)
{
	size_t above = (size_t)((double)(n + 1) * TURNS_CHANCE);
	double best = 0;

	for (size_t skipped = 0; n > 0; skipped++) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (turned[i] > turned[most])
				most = i;
		best = turned[most];
		if (skipped + 1 >= above)
			break;
		turned[most] = -1;
	}
	return best;
}

/* What has to be exceeded, and by all candidates; before theory, which depends on the series, is asked. */
static int turn_all(const struct series_set *set, double *ret_candidates, double *ret_self)
{
	_cleanup_free_ double *turned = calloc(2 * set->bins + 1, sizeof(*turned));
	struct pairing self = pair_with_self(set);
	size_t first = first_turn(set->bins);
	double *turned_self;
	size_t n = 0;

	if (!turned)
		return -ENOMEM;
	turned_self = turned + set->bins;
	for (size_t turn = first; turn + first <= set->bins; turn++) {
		turned[n] = turned_best(set, turn);
		turned_self[n++] = set->own_varies ? pairing_strength(&self, 0, turn, NULL) : 0;
	}
	*ret_candidates = fmax(NEIGHBOURS_STRENGTH_MIN, chance_of_turns(turned, n));
	*ret_self = fmax(NEIGHBOURS_STRENGTH_MIN, chance_of_turns(turned_self, n));
	return 0;
}

/* The bins in which the victim has a latency, the fastest first. */
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

/* Mean over some of the ordered bins of a series `lag` bins earlier; NAN where it is known in none of them.
 */
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

/* The most that the variance of `n` means is of the one that their samples give them, but for 1 of 100
 * cases: chi-squared over its degrees of freedom, by Wilson and Hilferty. 2.326: the normal quantile of 0.99.
 */
static double scatter_of_chance(size_t n)
{
	double part = 2.0 / (9.0 * (double)(n - 1));

	return pow(1 - part + 2.326 * sqrt(part), 3);
}

/* Whether the latency moved by more than some percent, and than the few samples of each bin explain. */
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

/* Everyone's mean traffic together. */
static double traffic_of_all(const struct neighbour_series *victim, const struct neighbour_series *candidates,
			     size_t n, const struct ordered *ordered, size_t bins)
{
	double sum = known_or_0(mean_at(victim->traffic, ordered, bins, 0));

	for (size_t c = 0; c < n; c++)
		sum += known_or_0(mean_at(candidates[c].traffic, ordered, bins, 0));
	return sum;
}

/* The best lag; of equal ones the shortest. False where there are too few bins for any. */
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

static void judge_all(const struct series_set *set, const struct neighbour_series *candidates, double turned,
		      double rise_min, const struct ordered *ordered, struct neighbours *result)
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
		one->needed = fmax(turned, pairing_chance(&pairing, one->n, THEORY_CHANCE, tries));
		one->traffic_slow = mean_at(traffic, ordered + result->bins - slow, slow, (size_t)one->lag);
		one->traffic_fast = mean_at(traffic, ordered, fast, (size_t)one->lag);
		one->named = one->strength > one->needed && one->traffic_slow - one->traffic_fast >= rise_min;
		result->n++;
	}
	qsort(result->list, result->n, sizeof(*result->list), compare_neighbours);
}

/* `turned`: what chance made of the victim's own traffic. */
static void conclude(const struct series_set *set, double turned, struct neighbours *result)
{
	struct pairing self = pair_with_self(set);
	double needed;
	size_t n;

	result->verdict = NEIGHBOURS_NOBODY;
	for (size_t i = 0; i < result->n; i++)
		if (result->list[i].named)
			result->verdict = NEIGHBOURS_NAMED;
	if (!set->own_varies)
		return;
	result->self_strength = pairing_strength(&self, 0, 0, &n);
	needed = fmax(turned, pairing_chance(&self, n, THEORY_CHANCE, 1));
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
	double turned, turned_self, rise_min;
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
	r = turn_all(&set, &turned, &turned_self);
	if (r < 0)
		return r;
	result.list = list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	rise_min = NEIGHBOURS_RISE_MIN * traffic_of_all(victim, candidates, n, ordered, result.bins);
	judge_all(&set, candidates, turned, rise_min, ordered, &result);
	conclude(&set, turned_self, &result);
	TAKE_PTR(list);
	*ret = result;
	return 0;
}
