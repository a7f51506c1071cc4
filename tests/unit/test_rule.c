// SPDX-License-Identifier: GPL-2.0
#include "rule/rule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "pebsd/histogram.h"
#include "window/bounds.h"

static char *patterns[] = {(char *)"/a/*", (char *)"model:*"};

static struct rule rule_of(const char *metric, bool below, double threshold, double clear)
{
	struct rule rule = {
		.name = "x",
		.patterns = patterns,
		.n_patterns = ARRAY_SIZE(patterns),
		.below = below,
		.threshold = threshold,
		.clear = clear,
		.window_ns = 30 * NSEC_PER_SEC,
		.for_ns = 60 * NSEC_PER_SEC,
		.baseline_ns = 3600 * NSEC_PER_SEC,
		.min_samples = 500,
		.confidence = 0.95,
		.severity = "warning",
		.actions = RULE_LOG,
	};

	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	return rule;
}

Test(rule, a_quantile_is_decided_at_bucket_edges)
{
	const struct rule rule = rule_of("p99", false, 900, 700);
	const struct limits limits = rule_limits(&rule, 900);

	cr_expect_eq(limits.threshold, 896);
	cr_expect_eq(limits.clear, 704);
	cr_expect_eq(histogram_fine_upper(limits.threshold_bucket), 896);
	cr_expect_eq(histogram_fine_upper(limits.clear_bucket), 704);
}

/* For any threshold, no bucket edge is closer than the one that is used. */
Test(rule, a_threshold_is_moved_to_the_nearest_bucket_edge)
{
	struct rule rule = rule_of("p50", false, 1, 1);

	for (u32 tenths = 10; tenths <= 10 << HISTOGRAM_MAX_LOG2; tenths += 1 + tenths / 300) {
		const double threshold = tenths / 10.0;
		const double taken = rule_limits(&rule, threshold).threshold;

		for (u32 bucket = 0; bucket < FINE_OVERFLOW; bucket++) {
			const double edge = histogram_fine_upper(bucket);

			cr_assert_leq(fabs(taken - threshold), fabs(edge - threshold), "%g: %g, not %g",
				      threshold, taken, edge);
		}
	}
	rule.threshold = 1 << HISTOGRAM_MAX_LOG2;
	cr_expect_eq(rule_limits(&rule, rule.threshold).threshold_bucket, FINE_OVERFLOW - 1);
	cr_expect_eq(rule_limits(&rule, 928).threshold, 896, "between two the lower one");
	cr_expect_eq(rule_limits(&rule, 928.5).threshold, 960);
}

Test(rule, other_metrics_are_decided_at_the_exact_threshold)
{
	static const char *const metrics[] = {"mean", "rate", "share:l3", "ratio:p99", "ratio:mean"};

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		const struct rule rule = rule_of(metrics[i], false, 0.37, 0.29);
		const struct limits limits = rule_limits(&rule, 0.37);

		cr_expect_eq(limits.threshold, 0.37, "%s", metrics[i]);
		cr_expect_eq(limits.clear, 0.29, "%s", metrics[i]);
	}
}

Test(rule, clear_moves_in_proportion_to_the_threshold)
{
	struct rule rule = rule_of("mean", false, 100, 80);

	cr_expect_eq(rule_limits(&rule, 200).clear, 160);
	rule = rule_of("rate", true, 100, 150);
	cr_expect_eq(rule_limits(&rule, 50).clear, 75);
	rule = rule_of("p99", false, 1024, 512);
	cr_expect_eq(rule_limits(&rule, 2048).clear, 1024);
	rule = rule_of("share:l3", false, 0.4, 0.2);
	cr_expect_float_eq(rule_limits(&rule, 0.2).clear, 0.1, 1e-12);
	/*
	 * The distances of the threshold and of `clear` from 1 keep their ratio: 0.6 to 0.4, here 0.3 to 0.2.
	 * So `clear` never reaches 1, which no share can exceed.
	 */
	rule = rule_of("share:l3", true, 0.4, 0.6);
	cr_expect_float_eq(rule_limits(&rule, 0.7).clear, 0.8, 1e-12);
	cr_expect_lt(rule_limits(&rule, 0.99).clear, 1);
}

Test(rule, patterns_match_like_lists_of_the_configuration)
{
	const struct rule rule = rule_of("p99", false, 900, 700);

	cr_expect(rule_matches(&rule, "/a/b"));
	cr_expect_not(rule_matches(&rule, "/a/b/c"));
	cr_expect_not(rule_matches(&rule, "/a"));
	cr_expect(rule_matches(&rule, "model:mix"));
	cr_expect_not(rule_matches(&rule, "comm:mix"));
}

Test(rule, a_mean_counts_up_to_eight_times_the_limit)
{
	struct rule rule = rule_of("mean", false, 100, 80);
	struct limits limits = rule_limits(&rule, 100);

	cr_expect_eq(rule_mean_cap(&rule, &limits), 768, "800 lies between two edges: the lower one");
	rule = rule_of("mean", true, 100, 200);
	limits = rule_limits(&rule, 100);
	cr_expect_eq(rule_mean_cap(&rule, &limits), 1536);
	rule = rule_of("mean", false, 131072, 131072);
	limits = rule_limits(&rule, 131072);
	cr_expect_eq(rule_mean_cap(&rule, &limits), 1 << HISTOGRAM_MAX_LOG2);
}

static void expect_needs(const struct rule *rule, u64 needs)
{
	cr_expect_eq(rule_needs_samples(rule), needs, "%llu", (unsigned long long)rule_needs_samples(rule));
}

Test(rule, quantiles_need_enough_samples_for_the_confidence)
{
	static const struct {
		const char *metric;
		double confidence;
		u64 needs;
	} cases[] = {
		{"p50", 0.95, 5},         {"p90", 0.95, 29},          {"p95", 0.95, 59},
		{"p99", 0.95, 299},       {"p999", 0.95, 2995},       {"p999", 0.99, 4603},
		{"ratio:p99", 0.95, 368}, {"ratio:p999", 0.95, 3688},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule rule = rule_of(cases[i].metric, false, 2, 1);

		rule.confidence = cases[i].confidence;
		expect_needs(&rule, cases[i].needs);
	}
}

/*
 * The functions whose names end in `_do` return whether both verdicts are possible with `n` samples in the best
 * case. With rule_needs_samples() samples they are, with one less one of them is not.
 */
static bool shares_do(const struct rule *rule, u64 n)
{
	const double all = bounds_share((double)n, (double)n, rule->confidence).low;
	const double none = bounds_share(0, (double)n, rule->confidence).high;

	return rule->below ? none <= rule->threshold && all >= rule->clear
			   : all >= rule->threshold && none <= rule->clear;
}

Test(rule, shares_need_enough_samples_for_the_confidence)
{
	static const struct {
		bool below;
		double threshold, clear, confidence;
	} cases[] = {
		{false, 0.3, 0.2, 0.95},   {false, 0.01, 0.01, 0.95}, {false, 0.99, 0.5, 0.95},
		{false, 0.5, 0.4, 0.9999}, {true, 0.9, 0.95, 0.95},   {true, 0.05, 0.1, 0.99},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule rule = rule_of("share:l3", cases[i].below, cases[i].threshold, cases[i].clear);
		u64 needs;

		rule.confidence = cases[i].confidence;
		needs = rule_needs_samples(&rule);
		cr_expect(shares_do(&rule, needs), "%zu: %llu", i, (unsigned long long)needs);
		cr_expect_not(shares_do(&rule, needs - 1), "%zu: %llu", i, (unsigned long long)needs);
	}
}

static bool share_ratios_do(const struct rule *rule, u64 n)
{
	const double confidence = (1 + rule->confidence) / 2;
	const struct bounds all = bounds_share((double)n, (double)n, confidence);
	const struct bounds none = bounds_share(0, (double)n, confidence);
	const double most = bounds_ratio(&all, &none).low;
	const double least = bounds_ratio(&none, &all).high;

	return rule->below ? least <= rule->threshold && most >= rule->clear
			   : most >= rule->threshold && least <= rule->clear;
}

Test(rule, ratios_of_shares_need_enough_samples_for_the_confidence)
{
	static const double limits[][2] = {{1.5, 1.2}, {2, 1}, {10, 5}, {1.01, 0.05}};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rule rule = rule_of("ratio:share:l3", false, limits[i][0], limits[i][1]);
		u64 needs = rule_needs_samples(&rule);

		cr_expect(share_ratios_do(&rule, needs), "%zu: %llu", i, (unsigned long long)needs);
		cr_expect_not(share_ratios_do(&rule, needs - 1), "%zu: %llu", i, (unsigned long long)needs);
	}
}

static bool means_do(const struct rule *rule, u64 n)
{
	const struct limits limits = rule_limits(rule, rule->threshold);
	const u32 cap = rule_mean_cap(rule, &limits);
	u32 low[FINE_BUCKETS] = {[0] = (u32)n};
	u32 high[FINE_BUCKETS] = {[FINE_OVERFLOW] = (u32)n};
	const double least = bounds_mean(low, n, cap, 1, rule->confidence).high;
	const double most = bounds_mean(high, n, cap, 1, rule->confidence).low;

	return rule->below ? least <= rule->threshold && most >= rule->clear
			   : most >= rule->threshold && least <= rule->clear;
}

Test(rule, means_need_enough_samples_for_the_confidence)
{
	static const struct {
		bool below;
		double threshold, clear, confidence;
	} cases[] = {{false, 100, 80, 0.95},
		     {false, 1000, 300, 0.99},
		     {true, 100, 150, 0.95},
		     {false, 131072, 99999, 0.9}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule rule = rule_of("mean", cases[i].below, cases[i].threshold, cases[i].clear);
		u64 needs;

		rule.confidence = cases[i].confidence;
		needs = rule_needs_samples(&rule);
		cr_expect(means_do(&rule, needs), "%zu: %llu", i, (unsigned long long)needs);
		cr_expect_not(means_do(&rule, needs - 1), "%zu: %llu", i, (unsigned long long)needs);
	}
}

static bool mean_ratios_do(const struct rule *rule, u64 n)
{
	const double confidence = (1 + rule->confidence) / 2;
	const struct limits limits = rule_limits(rule, rule->threshold);
	const u32 cap = rule_mean_cap(rule, &limits);
	u32 low[FINE_BUCKETS] = {[0] = (u32)n};
	u32 high[FINE_BUCKETS] = {[FINE_OVERFLOW] = (u32)n};
	const struct bounds least = bounds_capped_mean(low, n, cap, 1, confidence);
	const struct bounds most = bounds_capped_mean(high, n, cap, 1, confidence);

	return bounds_ratio(&most, &least).low >= rule->threshold &&
	       bounds_ratio(&least, &most).high <= rule->clear;
}

/* Latencies of one cycle each are not quite 0. Therefore `needs` may be too low by one. */
Test(rule, ratios_of_means_need_enough_samples_for_the_confidence)
{
	const struct rule rule = rule_of("ratio:mean", false, 1.5, 1.2);
	u64 needs = rule_needs_samples(&rule);

	cr_expect_not(mean_ratios_do(&rule, needs - 1), "%llu", (unsigned long long)needs);
	cr_expect(mean_ratios_do(&rule, needs + 1), "%llu", (unsigned long long)needs);
}

Test(rule, a_rate_needs_no_samples)
{
	struct rule rule = rule_of("rate", true, 100, 200);

	expect_needs(&rule, 0);
	rule = rule_of("ratio:rate", false, 2, 1);
	expect_needs(&rule, 0);
}

Test(rule, unprovable_limits_are_recognized)
{
	struct rule rule = rule_of("mean", false, 100, 1);

	expect_needs(&rule, UINT64_MAX);
	rule = rule_of("share:l3", false, 1, 0.5);
	expect_needs(&rule, UINT64_MAX);
	rule = rule_of("share:l3", false, 0.5, 0);
	expect_needs(&rule, UINT64_MAX);
}

Test(rule, rules_are_equal_if_they_decide_alike)
{
	const struct rule rule = rule_of("p99", false, 900, 700);
	char *other_patterns[] = {(char *)"/a/*", (char *)"model:mix"};
	struct rule same = rule;
	struct rule others[] = {rule, rule, rule, rule, rule, rule, rule, rule, rule, rule, rule, rule, rule};

	(void)strcpy(same.severity, "critical");
	(void)strcpy(same.name, "y");
	same.actions = RULE_UNIT;
	same.dry_run = true;
	same.baseline_ns = 1;
	cr_expect(rule_same_decision(&rule, &same));
	cr_expect_eq(rule_fingerprint(&rule), rule_fingerprint(&same));

	others[0].patterns = other_patterns;
	others[1].n_patterns = 1;
	others[2].event = EVENT_STORES;
	others[3].metric.quantile = 0.95;
	others[4].metric.ratio = true;
	others[5].below = true;
	others[6].threshold = 901;
	others[7].clear = 701;
	others[8].window_ns++;
	others[9].for_ns++;
	others[10].min_samples++;
	others[11].confidence = 0.951;
	others[12].subtree = true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cr_expect_not(rule_same_decision(&rule, &others[i]), "%zu", i);
		cr_expect_neq(rule_fingerprint(&rule), rule_fingerprint(&others[i]), "%zu", i);
	}
	same = rule;
	same.trust_owner = true;
	cr_expect_not(rule_same_decision(&rule, &same));
	cr_expect_neq(rule_fingerprint(&rule), rule_fingerprint(&same));

	/* A ratio has a baseline, so the half-life of the baseline matters. */
	others[4].baseline_ns = 1;
	same = rule;
	same.metric.ratio = true;
	cr_expect_not(rule_same_decision(&others[4], &same));
	cr_expect_neq(rule_fingerprint(&others[4]), rule_fingerprint(&same));
}

/* Files of other versions contain the fingerprint, so it must never change. */
Test(rule, the_fingerprint_does_not_change_between_versions)
{
	const struct rule rule = rule_of("p99", false, 900, 700);

	cr_expect_eq(rule_fingerprint(&rule), 0x5e1e86a74e4cbc82ULL, "%#llx",
		     (unsigned long long)rule_fingerprint(&rule));
}

Test(rule, a_copy_shares_no_memory)
{
	const struct rule rules[] = {rule_of("p99", false, 900, 700), rule_of("share:l3", true, 0.3, 0.4)};
	struct rule *copies;

	cr_assert_eq(rules_copy(rules, ARRAY_SIZE(rules), &copies), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		cr_expect(rule_same_decision(&rules[i], &copies[i]));
		cr_expect_str_eq(copies[i].name, "x");
		cr_expect_neq(copies[i].patterns, rules[i].patterns);
		cr_expect_neq(copies[i].patterns[0], rules[i].patterns[0]);
	}
	cr_expect_null(rules_free(copies, ARRAY_SIZE(rules)));
	cr_assert_eq(rules_copy(NULL, 0, &copies), 0);
	cr_expect_null(rules_free(copies, 0));
	cr_expect_null(rules_free(NULL, 0));
}
