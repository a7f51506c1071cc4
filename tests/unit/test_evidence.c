// SPDX-License-Identifier: GPL-2.0
#include "policy/evidence.h"

#include <criterion/criterion.h>
#include <math.h>

#include "policy/policy_screen.h"
#include "random_numbers.h"

static u64 next(u64 *state)
{
	return xorshift(state) * 0x2545f4914f6cdd1dULL;
}

static u64 below(u64 *state, u64 n)
{
	return (next(state) >> 11) % n;
}

static double real(u64 *state)
{
	return (double)(next(state) >> 11) / 0x1p53;
}

/* The verdict that follows from the bounds of estimate_of(). */
static enum verdict by_bounds(const struct rule *rule, const struct limits *limits,
			      const struct measured *measured)
{
	struct estimate estimate;

	estimate_of(rule, limits, measured, &estimate);
	if (!estimate.known)
		return VERDICT_BETWEEN;
	if (rule->below ? estimate.bounds.high <= limits->threshold
			: estimate.bounds.low >= limits->threshold)
		return VERDICT_BREACH;
	if (rule->below ? estimate.bounds.low >= limits->clear : estimate.bounds.high <= limits->clear)
		return VERDICT_CLEAR;
	return VERDICT_BETWEEN;
}

/* A random number of samples from 0 to 100,000, in a group of 1 to 40 adjacent buckets. */
static struct tally random_tally(u64 *state)
{
	static const u64 most[] = {1, 10, 100, 1000, 10000, 100000};
	struct tally tally = {0};
	u64 n = below(state, most[below(state, 6)] + 1);
	u32 center = (u32)below(state, FINE_BUCKETS);
	u32 width = 1 + (u32)below(state, 40);
	u64 left = n;
	u64 period = 1 + below(state, 20000);

	for (unsigned i = 0; i < 40 && left > 0; i++) {
		u32 bucket = center + (u32)below(state, width);
		u64 part = i == 39 ? left : below(state, left + 1);

		bucket = bucket < FINE_BUCKETS ? bucket : FINE_OVERFLOW;
		tally.latency[bucket] += (u32)part;
		tally.latency_sum +=
			part * histogram_fine_upper(bucket < FINE_OVERFLOW ? bucket : bucket - 1);
		left -= part;
	}
	tally.samples = n;
	tally.latency_samples = n;
	tally.weight = n * period;
	tally.weight_squared = (double)n * (double)period * (double)period;
	/* Some tallies have samples of two periods. */
	if (below(state, 3) == 0) {
		u64 other = below(state, n + 1);

		tally.weight += other * 3 * period;
		tally.weight_squared += (double)other * 15 * (double)period * (double)period;
	}
	tally.hitm = (u32)below(state, n + 1);
	tally.tlb_walk = (u32)(n / (1 + below(state, 300)));
	tally.sources[SOURCE_L3] = (u32)(n - n / (1 + below(state, 300)));
	return tally;
}

static struct rule random_rule(u64 *state, const struct measured *window)
{
	static const double qs[] = {0.5, 0.9, 0.95, 0.99, 0.999};
	static const double confidences[] = {0.5, 0.6, 0.9, 0.95, 0.99, 0.9999};
	struct rule rule = {.below = below(state, 2), .confidence = confidences[below(state, 6)]};
	double hysteresis = 1 + 0.1 * (double)below(state, 3) * real(state);
	struct metric *metric = &rule.metric;

	metric->kind = (enum metric_kind)below(state, METRIC_KINDS);
	metric->ratio = below(state, 4) == 0;
	metric->quantile = qs[below(state, 5)];
	metric->share = (enum metric_share)below(state, 4);
	metric->source = SOURCE_L3;

	/* Most limits are close to the value, because only then the exact answer matters. */
	rule.threshold = real(state) * 3;
	if (!metric->ratio) {
		struct limits limits = {.threshold = 100, .clear = 100};
		struct estimate estimate;

		estimate_of(&rule, &limits, window, &estimate);
		if (estimate.known)
			rule.threshold = estimate.value * (0.8 + 0.4 * real(state));
	}
	/* The configuration refuses a wait of 1 or more. */
	if (metric->kind == METRIC_WAIT && !metric->ratio)
		rule.threshold = fmin(rule.threshold, 0.999);
	rule.clear = rule.below ? rule.threshold * hysteresis : rule.threshold / hysteresis;
	return rule;
}

Test(evidence, evidence_equals_the_verdict_of_the_bounds)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	unsigned seen[METRIC_KINDS][2][3] = {0}; /* counted by kind, ratio and verdict */
	u64 state = 20240607;

	cr_assert_eq(evidence_new(&evidence), 0);
	for (unsigned i = 0; i < 200000; i++) {
		struct tally now = random_tally(&state);
		struct tally base = random_tally(&state);
		struct tally second = random_tally(&state);
		struct tally second_base = random_tally(&state);
		struct measured measured = {
			.tally = &now,
			.seconds = 1 + (double)below(&state, 60),
			.base = below(&state, 10) ? &base : NULL,
			.base_seconds = 3600,
			.sample_weight = (double)below(&state, 2) * 50000,
			.second = {.tally = below(&state, 10) ? &second : NULL,
				   .seconds = 1 + (double)below(&state, 60),
				   .base = &second_base,
				   .base_seconds = 3600,
				   .sample_weight = (double)below(&state, 2) * 50000},
			.frequency_hz = below(&state, 10) ? 1e9 : 0,
		};
		struct rule rule = random_rule(&state, &measured);
		struct limits limits = rule_limits(&rule, rule.threshold);
		enum verdict expected, verdict;
		expected = by_bounds(&rule, &limits, &measured);
		verdict = evidence_judge(evidence, &rule, &limits, &measured);
		cr_assert_eq(
			verdict, expected,
			"case %u: kind %d, ratio %d, below %d, confidence %g, limits %.12g %.12g, n %llu: %d is not %d",
			i, rule.metric.kind, rule.metric.ratio, rule.below, rule.confidence, limits.threshold,
			limits.clear, now.samples, verdict, expected);
		seen[rule.metric.kind][rule.metric.ratio][verdict]++;
	}
	for (unsigned kind = 0; kind < METRIC_KINDS; kind++)
		for (unsigned ratio = 0; ratio < 2; ratio++)
			for (unsigned verdict = 0; verdict < 3; verdict++)
				cr_expect_gt(seen[kind][ratio][verdict], 50,
					     "verdict %u of kind %u, ratio %u: %u", verdict, kind, ratio,
					     seen[kind][ratio][verdict]);
}

/*
 * Checks each count of each n twice: once computed, and once after evidence_counts(), which remembers the counts at
 * which the verdict changes.
 */
Test(evidence, evidence_equals_the_bounds_at_each_count)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	static const u32 ns[] = {1, 5, 60, 500};

	cr_assert_eq(evidence_new(&evidence), 0);
	for (unsigned i = 0; i < 32; i++) {
		struct rule rule = {
			.metric = {.kind = i & 1 ? METRIC_QUANTILE : METRIC_SHARE,
				   .quantile = 0.9,
				   .share = METRIC_SHARE_LOCKED},
			.below = i & 2,
			.threshold = i & 1 ? 100 : 0.1,
			.clear = i & 1 ? 100 : 0.1,
			.confidence = i & 4 ? 0.95 : 0.5,
		};
		struct limits limits = rule_limits(&rule, rule.threshold);
		u32 n = ns[i / 8];
		s64 breach = 0, clear = 0;

		for (u32 twice = 0; twice < 2; twice++) {
			if (twice)
				evidence_counts(evidence, &rule, &limits, n, 0, &breach, &clear);
			for (u32 k = 0; k <= n; k++) {
				struct tally tally = {.samples = n, .latency_samples = n, .locked = k};
				const struct measured measured = {.tally = &tally, .seconds = 1};
				s64 far = rule.below ? n - k : k;
				enum verdict verdict;

				tally.latency[30] = n - k;
				tally.latency[100] = k;
				verdict = evidence_judge(evidence, &rule, &limits, &measured);
				cr_expect_eq(verdict, by_bounds(&rule, &limits, &measured));
				if (!twice)
					continue;
				cr_expect_eq(verdict == VERDICT_BREACH, far >= breach);
				cr_expect_eq(verdict == VERDICT_CLEAR, far <= clear);
			}
		}
	}
}

static void expect_counts(struct evidence *evidence, const struct rule *rule, u64 n, s64 breach, s64 clear)
{
	struct limits limits = rule_limits(rule, rule->threshold);
	s64 ret_breach, ret_clear;

	evidence_counts(evidence, rule, &limits, n, 0, &ret_breach, &ret_clear);
	cr_expect_eq(ret_breach, breach, "%lld of %llu", ret_breach, n);
	cr_expect_eq(ret_clear, clear, "%lld of %llu", ret_clear, n);
}

Test(evidence, the_counts_that_change_the_verdict_are_exact)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	struct rule rule = {.metric = {.kind = METRIC_QUANTILE, .quantile = 0.5},
			    .threshold = 896,
			    .clear = 704,
			    .confidence = 0.975};

	cr_assert_eq(evidence_new(&evidence), 0);
	/*
	 * The bounds of a median of 20 are ranks 6 and 15. So 15 samples above `threshold` are a breach, and
	 * at most 5 above `clear` are clear.
	 */
	expect_counts(evidence, &rule, 20, 15, 5);
	rule.below = true;
	rule.clear = 960;
	expect_counts(evidence, &rule, 20, 15, 5);
	rule.below = false;
	rule.clear = 704;
	rule.confidence = 0.95;
	expect_counts(evidence, &rule, 4, 5, -1);
	expect_counts(evidence, &rule, 0, 1, -1);

	rule.metric.quantile = 0.99;
	expect_counts(evidence, &rule, 298, 7, -1);
	expect_counts(evidence, &rule, 299, 7, 0);

	/* If the true share is 1 %, the probability that none of 299 samples has the property is 4.95 %. */
	rule = (struct rule){.metric = {.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM},
			     .threshold = 0.01,
			     .clear = 0.01,
			     .confidence = 0.95};
	expect_counts(evidence, &rule, 298, 7, -1);
	expect_counts(evidence, &rule, 299, 7, 0);
}

Test(evidence, unknown_figures_yield_no_evidence)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	const struct tally nothing = {0};
	const struct measured measured = {.tally = &nothing, .seconds = 10};

	cr_assert_eq(evidence_new(&evidence), 0);
	for (unsigned kind = 0; kind < METRIC_KINDS; kind++)
		for (unsigned i = 0; i < 4; i++) {
			struct rule rule = {
				.metric = {.kind = (enum metric_kind)kind, .quantile = 0.5, .ratio = i & 1},
				.below = i & 2,
				.threshold = 0,
				.clear = 1e9,
				.confidence = 0.95};
			struct limits limits = rule_limits(&rule, rule.threshold);

			cr_expect_eq(evidence_judge(evidence, &rule, &limits, &measured), VERDICT_BETWEEN);
		}
}

/* A window that a screen rules out never has a proven breach. */
Test(evidence, a_screen_rules_out_no_breach)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	u32 lower_edges[FINE_BUCKETS];
	unsigned ruled_out[METRIC_KINDS] = {0}, breaches[METRIC_KINDS] = {0};
	u64 state = 20240608;

	cr_assert_eq(evidence_new(&evidence), 0);
	screen_edges(lower_edges);
	for (unsigned i = 0; i < 100000; i++) {
		struct tally now = random_tally(&state), second = random_tally(&state);
		const struct measured measured = {
			.tally = &now,
			.seconds = 1 + (double)below(&state, 60),
			.second = {.tally = &second, .seconds = 1 + (double)below(&state, 60)},
			.frequency_hz = 1e9,
		};
		struct screened screened = {.tally = measured.tally,
					    .seconds = measured.seconds,
					    .second = measured.second.tally,
					    .second_seconds = measured.second.seconds,
					    .frequency_hz = measured.frequency_hz,
					    .lower_edges = lower_edges};
		struct rule rule = random_rule(&state, &measured);
		struct limits limits = rule_limits(&rule, rule.threshold);
		struct screen screen;
		bool out, breach;

		if (rule.metric.ratio)
			continue;
		screen_of(&rule, &limits, &screen);
		out = screen_has_values(&screen, &screened) && screen_rules_out(&screen, &screened, NULL);
		breach = evidence_judge(evidence, &rule, &limits, &measured) == VERDICT_BREACH;
		cr_assert_not(out && breach, "case %u: kind %d, below %d, threshold %g", i, rule.metric.kind,
			      rule.below, rule.threshold);
		ruled_out[rule.metric.kind] += out;
		breaches[rule.metric.kind] += breach;
	}
	for (unsigned kind = 0; kind < METRIC_KINDS; kind++) {
		cr_expect_gt(ruled_out[kind], 500, "kind %u: %u", kind, ruled_out[kind]);
		cr_expect_gt(breaches[kind], 200, "kind %u: %u", kind, breaches[kind]);
	}
}

Test(evidence, evidence_holds_for_the_largest_counts)
{
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	struct rule rule = {.metric = {.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM},
			    .threshold = 0.5,
			    .clear = 0.5,
			    .confidence = 0.9999};
	struct limits limits = rule_limits(&rule, rule.threshold);
	struct tally tally = {.samples = ~0U};
	const struct measured measured = {.tally = &tally, .seconds = 10};

	cr_assert_eq(evidence_new(&evidence), 0);
	/* 121,864 samples are 3.719 standard deviations from one half. */
	for (u32 off = 121000; off < 123000; off += 50) {
		tally.hitm = ~0U / 2 + off;
		cr_expect_eq(evidence_judge(evidence, &rule, &limits, &measured),
			     by_bounds(&rule, &limits, &measured));
	}
	tally.hitm = ~0U / 2 + 121800;
	cr_expect_eq(evidence_judge(evidence, &rule, &limits, &measured), VERDICT_BETWEEN);
	tally.hitm = ~0U / 2 + 121930;
	cr_expect_eq(evidence_judge(evidence, &rule, &limits, &measured), VERDICT_BREACH);
	tally.hitm = ~0U / 2 - 121930;
	cr_expect_eq(evidence_judge(evidence, &rule, &limits, &measured), VERDICT_CLEAR);
}
