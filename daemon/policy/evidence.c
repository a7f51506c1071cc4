// SPDX-License-Identifier: GPL-2.0
#include "policy/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/estimate.h"
#include "window/waits.h"

/*
 * Approximate bounds: they enclose the exact bounds from both sides and take a fraction of the time. A caller
 * for which both sides lead to the same verdict needs no exact bounds.
 */

/*
 * The exact lower bound lies between outer.low and inner.low, the exact upper one between inner.high and
 * outer.high.
 */
struct approximation {
	struct bounds outer;
	struct bounds inner;
};

/*
 * Outer bounds come from inequalities (Chernoff, Bernstein) that hold for any n. Inner bounds are medians, or
 * limits that a median cannot pass: a bound that is right in at least half of all cases does not lie further
 * in.
 */

/* Covers rounding errors in the inequalities. */
#define MARGIN 1.000001

static struct approximation approximate_quantile(const struct tally *tally, double q, double log_chance)
{
	double l = log_chance * MARGIN;
	double n = (double)tally->latency_samples;
	double off = l / 3 + sqrt(l * l / 9 + 2 * n * q * (1 - q) * l);
	u64 all = tally->latency_samples;
	u64 outer_low = n * q >= off ? (u64)(n * q - off) + 1 : 0;
	double outer_high = ceil(n * q + off);
	u64 inner_low = (u64)(n * q) + 2;
	u64 inner_high = n * q > 1 ? (u64)(n * q) : 1;

	return (struct approximation){
		.outer = bounds_between_ranks(tally->latency, all, outer_low,
					      outer_high > n ? all + 1 : (u64)outer_high),
		.inner = bounds_between_ranks(tally->latency, all, inner_low < all ? inner_low : all,
					      inner_high),
	};
}

/* Bounds of `k` samples of `n`: Bernstein's inequality for a Poisson variable also bounds the binomial tails. */
static struct approximation approximate_share(double k, double n, double log_chance)
{
	double l = log_chance * MARGIN;
	double below = sqrt(4 * l * l / 9 + 2 * l * k) - 2 * l / 3;
	double above = l + sqrt(l * l + 2 * l * k);

	return (struct approximation){
		.outer = {fmax(k - below, 0) / n, fmin((k + above) / n, 1)},
		.inner = {(k + 1) / n, fmax(k - 1, 0) / n},
	};
}

/*
 * The exact bounds of a rate are quantiles of gamma distributions of scale 1. The median of such a
 * distribution is less than one third below its mean. With a chance of at most exp(-l) a value is more than
 * sqrt(2 mean l) below the mean, or more than sqrt(2 mean l) + l above it.
 */
static struct approximation approximate_rate(const struct tally *tally, double seconds, double largest,
					     double log_chance)
{
	double l = log_chance * MARGIN;
	struct bounds_weights weights =
		bounds_weights(tally->samples, tally->weight, tally->weight_squared, largest);
	double low = weights.low_number;
	double high = weights.high_number;

	return (struct approximation){
		.outer = {fmax(low - sqrt(2 * low * l), 0) * weights.low_unit / seconds,
			  (high + sqrt(2 * high * l) + l) * weights.high_unit / seconds},
		.inner = {low * weights.low_unit / seconds, (high - 0.5) * weights.high_unit / seconds},
	};
}

static struct approximation divide(const struct approximation *a, const struct approximation *b)
{
	return (struct approximation){
		.outer = bounds_ratio(&a->outer, &b->outer),
		.inner = bounds_ratio(&a->inner, &b->inner),
	};
}

static void limit_wait(struct approximation *wait)
{
	wait->outer = wait_bounds_limited(wait->outer);
	wait->inner = wait_bounds_limited(wait->inner);
}

/* The window, or the baseline of a ratio. */
struct approximated {
	const struct tally *tally;
	double seconds;
	double largest; /* as in bounds_rate() */
	const struct tally *second;
	double second_seconds;
	double second_largest;
};

/*
 * The exact bounds are those of a quotient of two gamma variables, which is at least as tight as the quotient of two
 * rates' bounds, each with half of the chance to be wrong. `log_chance` is that of this half. The median of the
 * quotient of gamma variables with the shapes a and b is at most a / (b - 1): it lies between the mean and the mode
 * of the corresponding beta variable.
 */
static struct approximation approximate_quotient(const struct rule *rule, const struct approximated *side,
						 double log_chance)
{
	struct approximation event = approximate_rate(side->tally, side->seconds, side->largest, log_chance);
	struct approximation second =
		approximate_rate(side->second, side->second_seconds, side->second_largest, log_chance);
	struct bounds_weights above = bounds_weights(side->tally->samples, side->tally->weight,
						     side->tally->weight_squared, side->largest);
	struct bounds_weights under = bounds_weights(side->second->samples, side->second->weight,
						     side->second->weight_squared, side->second_largest);
	const double time = side->second_seconds / side->seconds;
	struct approximation ret = {
		.outer = bounds_ratio(&event.outer, &second.outer),
		.inner = {above.low_number * above.low_unit / ((under.high_number - 1) * under.high_unit) *
				  time,
			  (above.high_number - 1) * above.high_unit / (under.low_number * under.low_unit) *
				  time},
	};

	if (rule->metric.kind == METRIC_WAIT)
		limit_wait(&ret);
	return ret;
}

static struct approximation approximate_side(const struct rule *rule, const struct approximated *side,
					     double log_chance)
{
	const struct tally *tally = side->tally;

	if (rule->metric.kind == METRIC_QUANTILE)
		return approximate_quantile(tally, rule->metric.quantile, log_chance);
	if (rule->metric.kind == METRIC_SHARE)
		return approximate_share((double)estimate_share_count(&rule->metric, tally),
					 (double)tally->samples, log_chance);
	if (metric_is_quotient(&rule->metric))
		return approximate_quotient(rule, side, log_chance);
	return approximate_rate(tally, side->seconds, side->largest, log_chance);
}

/*
 * Call it only if estimate_known() holds and samples are independent, and not for a mean, whose exact bounds
 * are as fast. `log_chance` is -ln of the chance that one bound may be wrong. That chance is 1 - confidence;
 * a ratio and a quotient halve it.
 */
static struct approximation approximate_bounds(const struct rule *rule, const struct measured *measured,
					       double log_chance)
{
	const struct measured_second *second = &measured->second;
	/* A shorter time is a larger unit. */
	const double unit = estimate_unit(&rule->metric, measured);
	const struct approximated window = {
		.tally = measured->tally,
		.seconds = measured->seconds / unit,
		.largest = measured->sample_weight,
		.second = second->tally,
		.second_seconds = second->seconds,
		.second_largest = second->sample_weight,
	};
	const struct approximated past = {
		.tally = measured->base,
		.seconds = measured->base_seconds / unit,
		.second = second->base,
		.second_seconds = second->base_seconds,
	};
	struct approximation now = approximate_side(rule, &window, log_chance);
	struct approximation base;

	if (!rule->metric.ratio)
		return now;
	base = approximate_side(rule, &past, log_chance);
	return divide(&now, &base);
}

/*
 * A quantile or a share is decided by one test: are this many of n samples on one side of the limit too many
 * to be chance? The test counts the side that would prove the claim. There are four kinds of tests: a quantile or
 * a share is at or above its limit, or at or below it. If a count proves the claim, all larger counts do, too.
 */
enum test_kind { QUANTILE_ABOVE, QUANTILE_BELOW, SHARE_ABOVE, SHARE_BELOW };

struct test {
	enum test_kind kind;
	double limit; /* the quantile's q, the share's limit */
	double confidence;
	u64 n;
};

/* The results of a test so far: counts up to `no` do not prove the claim, counts from `yes` on do. */
struct remembered {
	struct test test;
	s64 no;
	s64 yes;
};

#define REMEMBERED_LOG2 13

struct evidence {
	double confidence; /* of the last evaluation; `log_chance` is derived from it */
	double log_chance;
	struct remembered remembered[1 << REMEMBERED_LOG2];
};

int evidence_new(struct evidence **ret)
{
	struct evidence *evidence = calloc(1, sizeof(*evidence));

	if (!evidence)
		return -ENOMEM;
	*ret = evidence;
	return 0;
}

struct evidence *evidence_free(struct evidence *evidence)
{
	free(evidence);
	return NULL;
}

/* The probability that a sample is on the side that is counted, if the metric is exactly at its limit. */
static double chance_of_one(const struct test *test)
{
	switch (test->kind) {
	case QUANTILE_ABOVE:
	case SHARE_BELOW:
		return 1 - test->limit;
	case QUANTILE_BELOW:
	case SHARE_ABOVE:
		break;
	}
	return test->limit;
}

/* Runs the exact test. */
static bool proves(const struct test *test, u64 count)
{
	u64 n = test->n;

	switch (test->kind) {
	case QUANTILE_ABOVE:
		return bounds_rank_is_low(n - count + 1, n, test->limit, test->confidence);
	case QUANTILE_BELOW:
		return count > 0 && bounds_rank_is_high(count, n, test->limit, test->confidence);
	case SHARE_ABOVE:
		return bounds_share((double)count, (double)n, test->confidence).low >= test->limit;
	case SHARE_BELOW:
		break;
	}
	return bounds_share((double)(n - count), (double)n, test->confidence).high <= test->limit;
}

static bool same_test(const struct test *a, const struct test *b)
{
	return a->n == b->n && a->limit == b->limit && a->confidence == b->confidence && a->kind == b->kind;
}

static u64 bits_of(double real)
{
	u64 bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

static struct remembered *remember(struct evidence *evidence, const struct test *test)
{
	u64 hash = (bits_of(test->limit) ^ bits_of(test->confidence) << 1 ^ (u64)test->kind << 62) *
		   0x9e3779b97f4a7c15ULL;
	struct remembered *remembered;

	hash = ((hash ^ hash >> 32) + test->n) * 0x9e3779b97f4a7c15ULL;
	remembered = &evidence->remembered[hash >> (64 - REMEMBERED_LOG2)];
	if (!same_test(&remembered->test, test))
		*remembered = (struct remembered){*test, -1, (s64)test->n + 1};
	return remembered;
}

static bool recall(struct evidence *evidence, const struct test *test, u64 count)
{
	struct remembered *remembered = remember(evidence, test);
	s64 signed_count = (s64)count;

	if (signed_count <= remembered->no)
		return false;
	if (signed_count >= remembered->yes)
		return true;
	if (!proves(test, count)) {
		remembered->no = signed_count;
		return false;
	}
	remembered->yes = signed_count;
	return true;
}

static double log_chance(struct evidence *evidence, double confidence)
{
	if (confidence != evidence->confidence) {
		evidence->confidence = confidence;
		evidence->log_chance = -log1p(-confidence);
	}
	return evidence->log_chance;
}

/*
 * Gives the answer of the exact test (recall()), for most counts without running it. A count below the
 * expected one proves nothing, because a tail that begins there has a probability of at least one half. A
 * count that Bernstein's inequality finds too large for chance is proof.
 */
static bool is_proven(struct evidence *evidence, const struct test *test, u64 count)
{
	double n = (double)test->n;
	double chance = chance_of_one(test);
	double excess = (double)count - n * chance;

	if (excess <= -1)
		return false;
	if (excess > 0 && excess * excess >= 2.000001 * (n * chance * (1 - chance) + excess / 3) *
						     log_chance(evidence, test->confidence))
		return true;
	return recall(evidence, test, count);
}

/* Same as is_proven(), for samples of which `effect` are worth one independent sample. */
static bool is_worth_proof(struct evidence *evidence, const struct test *test, double effect, u64 count)
{
	struct test worth = *test;

	if (!(effect > 1))
		return is_proven(evidence, test, count);
	if (isinf(effect))
		return false;
	switch (test->kind) {
	case QUANTILE_ABOVE:
	case QUANTILE_BELOW:
		break;
	case SHARE_ABOVE:
		return bounds_share((double)count / effect, (double)test->n / effect, test->confidence).low >=
		       test->limit;
	case SHARE_BELOW:
		return bounds_share((double)(test->n - count) / effect, (double)test->n / effect,
				    test->confidence)
			       .high <= test->limit;
	}
	worth.n = estimate_worth(test->n, effect);
	return is_proven(evidence, &worth, estimate_worth_count(count, test->n, worth.n));
}

/* The number of latencies in the buckets up to and including `bucket`. */
static u64 at_or_below(const struct tally *tally, u32 bucket)
{
	u64 sum = 0;

	for (u32 i = 0; i <= bucket; i++)
		sum += tally->latency[i];
	return sum < tally->latency_samples ? sum : tally->latency_samples;
}

/* A claim that samples may prove: the metric is at or above a limit (`above`), or at or below it. */
struct claim {
	bool above;
	double limit;
	u32 bucket; /* of a quantile: the limit is its upper edge */
};

static struct claim breach_claim(const struct rule *rule, const struct limits *limits)
{
	return (struct claim){!rule->below, limits->threshold, limits->threshold_bucket};
}

static struct claim clear_claim(const struct rule *rule, const struct limits *limits)
{
	return (struct claim){rule->below, limits->clear, limits->clear_bucket};
}

static bool is_counted(const struct metric *metric)
{
	return !metric->ratio && (metric->kind == METRIC_QUANTILE || metric->kind == METRIC_SHARE);
}

static struct test test_of(const struct rule *rule, const struct claim *claim, u64 n)
{
	if (rule->metric.kind == METRIC_QUANTILE)
		return (struct test){claim->above ? QUANTILE_ABOVE : QUANTILE_BELOW, rule->metric.quantile,
				     rule->confidence, n};
	return (struct test){claim->above ? SHARE_ABOVE : SHARE_BELOW, claim->limit, rule->confidence, n};
}

static bool count_proves(struct evidence *evidence, const struct rule *rule, const struct claim *claim,
			 const struct tally *tally, double effect)
{
	struct test test = test_of(rule, claim, estimate_samples(rule, tally));
	bool quantile = rule->metric.kind == METRIC_QUANTILE;
	u64 count = quantile ? test.n - at_or_below(tally, claim->bucket)
			     : estimate_share_count(&rule->metric, tally);

	return is_worth_proof(evidence, &test, effect, claim->above ? count : test.n - count);
}

static bool bounds_prove(const struct bounds *bounds, const struct claim *claim)
{
	return claim->above ? bounds->low >= claim->limit : bounds->high <= claim->limit;
}

static enum verdict verdict_of(const struct bounds *bounds, const struct claim *breach,
			       const struct claim *clear)
{
	if (bounds_prove(bounds, breach))
		return VERDICT_BREACH;
	return bounds_prove(bounds, clear) ? VERDICT_CLEAR : VERDICT_BETWEEN;
}

/*
 * Judges by the approximate bounds if the outer and the inner ones give the same verdict, else by the exact
 * ones.
 */
static enum verdict judge_bounds(struct evidence *evidence, const struct rule *rule,
				 const struct limits *limits, const struct claim *breach,
				 const struct claim *clear, const struct measured *measured)
{
	struct bounds bounds;

	if (rule->metric.kind != METRIC_MEAN && !(measured->effect > 1)) {
		double confidence = rule->metric.ratio ? (1 + rule->confidence) / 2 : rule->confidence;
		struct approximation approximation;
		enum verdict verdict;

		if (metric_is_quotient(&rule->metric))
			confidence = (1 + confidence) / 2;
		approximation = approximate_bounds(rule, measured, log_chance(evidence, confidence));
		verdict = verdict_of(&approximation.outer, breach, clear);
		if (verdict == verdict_of(&approximation.inner, breach, clear))
			return verdict;
	}
	bounds = estimate_bounds(rule, limits, measured);
	return verdict_of(&bounds, breach, clear);
}

enum verdict evidence_judge(struct evidence *evidence, const struct rule *rule, const struct limits *limits,
			    const struct measured *measured)
{
	struct claim breach = breach_claim(rule, limits);
	struct claim clear = clear_claim(rule, limits);

	if (!estimate_known(rule, measured))
		return VERDICT_BETWEEN;
	if (is_counted(&rule->metric)) {
		if (count_proves(evidence, rule, &breach, measured->tally, measured->effect))
			return VERDICT_BREACH;
		return count_proves(evidence, rule, &clear, measured->tally, measured->effect)
			       ? VERDICT_CLEAR
			       : VERDICT_BETWEEN;
	}

	return judge_bounds(evidence, rule, limits, &breach, &clear, measured);
}

/* The least count that proves the claim; n + 1: none does. */
static u64 least_proven(struct evidence *evidence, const struct test *test, double effect)
{
	u64 no = 0;
	u64 yes = test->n + 1;

	if (is_worth_proof(evidence, test, effect, 0))
		return 0;
	while (yes - no > 1) {
		u64 middle = no + (yes - no) / 2;

		if (is_worth_proof(evidence, test, effect, middle))
			yes = middle;
		else
			no = middle;
	}
	return yes;
}

void evidence_counts(struct evidence *evidence, const struct rule *rule, const struct limits *limits, u64 n,
		     double effect, s64 *ret_breach, s64 *ret_clear)
{
	struct claim breach = breach_claim(rule, limits);
	struct claim clear = clear_claim(rule, limits);
	struct test breach_test = test_of(rule, &breach, n);
	struct test clear_test = test_of(rule, &clear, n);

	*ret_breach = (s64)least_proven(evidence, &breach_test, effect);
	*ret_clear = (s64)n - (s64)least_proven(evidence, &clear_test, effect);
}
