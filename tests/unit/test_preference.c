// SPDX-License-Identifier: GPL-2.0
#include "policy/preference.h"

#include <criterion/criterion.h>
#include <string.h>

static struct rule rule_of(const char *metric)
{
	struct rule rule = {.name = "slow-db", .threshold = 900, .clear = 700};

	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	return rule;
}

/*
 * Returns the effect of the preference on a rule for p99: one or more of "ignored", "untrusted", "malformed"
 * and "threshold 1200", or "".
 */
static const char *effect_of(const char *ignore, const char *threshold, bool root, bool trust)
{
	static char text[128];
	const struct preference preference = {
		.owner_is_root = root,
		.ignore = ignore,
		.threshold = threshold,
	};
	struct preference_effect effect;
	struct rule rule = rule_of("p99");
	int length;

	rule.trust_owner = trust;
	memset(&effect, 0xff, sizeof(effect));
	preference_apply(&preference, &rule, &effect);
	length = snprintf(text, sizeof(text), "%s%s%s%s", effect.ignored ? "ignored " : "",
			  effect.untrusted ? "untrusted " : "", effect.malformed ? "malformed " : "",
			  effect.has_threshold ? "threshold " : "");
	if (effect.has_threshold)
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%g ", effect.threshold);
	else
		cr_expect_eq(effect.threshold, 0);
	if (length > 0)
		text[length - 1] = '\0';
	return text;
}

Test(preference, without_attributes_there_is_no_preference)
{
	cr_expect_str_eq(effect_of(NULL, NULL, true, false), "");
	cr_expect_str_eq(effect_of(NULL, NULL, false, false), "");
	cr_expect_str_eq(effect_of("", " \n", false, false), "");
	cr_expect_str_eq(effect_of("other slow slow-db2 slow-d", "other=5 slow-db2=7", false, false), "",
			 "it is about others");
}

Test(preference, a_cgroup_can_be_ignored)
{
	static const char *const texts[] = {"slow-db",           "*",  "other slow-db", "slow-db\n",
					    " \tslow-db  other", "a *"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		cr_expect_str_eq(effect_of(texts[i], NULL, true, false), "ignored", "%s", texts[i]);
	cr_expect_str_eq(effect_of("slow-*", NULL, true, false), "", "names are not patterns");
	cr_expect_str_eq(effect_of("SLOW-DB", NULL, true, false), "");
}

Test(preference, another_threshold_is_read)
{
	cr_expect_str_eq(effect_of(NULL, "slow-db=1200", true, false), "threshold 1200");
	cr_expect_str_eq(effect_of(NULL, "other=x slow-db=1200.5\n", true, false), "threshold 1200.5");
	cr_expect_str_eq(effect_of("slow-db", "slow-db=1200", true, false), "ignored threshold 1200");
}

Test(preference, unreadable_attributes_are_ignored)
{
	static const char *const texts[] = {"slow-db=",
					    "slow-db=x",
					    "slow-db=-5",
					    "slow-db = 5",
					    "slow-db=30%",
					    "slow-db=0",
					    "slow-db=9999999",
					    "slow-db",
					    "slow-db=5,6",
					    "slow-db=5 slow-db=6",
					    "slow-db=x slow-db=6",
					    "slow-db=6 slow-db=x",
					    "slow-db=000000000000000000000000000000000000000000000000001"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		cr_expect_str_eq(effect_of(NULL, texts[i], true, false), "malformed", "%s", texts[i]);
	cr_expect_str_eq(effect_of("*", "slow-db", true, false), "ignored malformed");
}

Test(preference, attributes_of_a_directory_not_owned_by_root_are_ignored)
{
	cr_expect_str_eq(effect_of("*", NULL, false, false), "untrusted");
	cr_expect_str_eq(effect_of(NULL, "slow-db=1200", false, false), "untrusted");
	cr_expect_str_eq(effect_of(NULL, "slow-db=", false, false), "untrusted");
	cr_expect_str_eq(effect_of("*", NULL, false, true), "ignored");
	cr_expect_str_eq(effect_of(NULL, "slow-db=1200", false, true), "threshold 1200");
	cr_expect_str_eq(effect_of(NULL, "slow-db=", false, true), "malformed");
}

Test(preference, a_threshold_is_in_the_unit_of_the_metric)
{
	const struct preference preference = {.owner_is_root = true, .threshold = "slow-db=30%"};
	struct rule rule = rule_of("share:remote_dram");
	struct preference_effect effect;

	preference_apply(&preference, &rule, &effect);
	cr_expect(effect.has_threshold);
	cr_expect_eq(effect.threshold, 0.3);
	rule = rule_of("ratio:share:remote_dram");
	preference_apply(&preference, &rule, &effect);
	cr_expect(effect.malformed);
}

/* Another threshold is written as in the rule, also with a unit. */
Test(preference, thresholds_of_metrics_of_counts)
{
	static const struct {
		const char *metric, *threshold;
		double value; /* 0: malformed */
	} cases[] = {
		{"cores-lost", "slow-db=3.2", 3.2}, {"wait", "slow-db=40%", 0.4},
		{"cpi", "slow-db=2.5", 2.5},        {"traffic", "slow-db=5GB/s", 5e9},
		{"traffic", "slow-db=5GB", 0},      {"cores-lost", "slow-db=40%", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct preference preference = {.owner_is_root = true, .threshold = cases[i].threshold};
		struct rule rule = rule_of(cases[i].metric);
		struct preference_effect effect;

		preference_apply(&preference, &rule, &effect);
		cr_expect_eq(effect.malformed, !(cases[i].value > 0), "%s", cases[i].threshold);
		cr_expect_eq(effect.threshold, cases[i].value, "%s", cases[i].threshold);
	}
}
