// SPDX-License-Identifier: GPL-2.0
/* The sentences about an alert: their text, and checks that they are true. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_rules.h"
#include "policy/explain.h"
#include "rule/quantity.h"

/* 2026-11-21T06:00:00Z */
#define SIX 1795240800

enum { SLOW_DB, REMOTE, WORSE, STARVED };

/* Expects exactly these sentences in this order. `expected` ends with NULL. */
static void expect_all(const struct alert *alert, const char *const *expected)
{
	char **sentences = NULL;
	size_t i = 0;

	cr_assert_eq(explain(alert, &sentences), 0);
	for (; sentences[i] && expected[i]; i++)
		cr_expect_str_eq(sentences[i], expected[i]);
	cr_expect_null(sentences[i], "'%s' is said, too", sentences[i]);
	cr_expect_null(expected[i], "'%s' is not said", expected[i]);
	explain_free(sentences);
}

/* Returns the first sentence that begins like this, or NULL. The caller frees it. */
static char *sentence(const struct alert *alert, const char *beginning)
{
	char **sentences = NULL;
	char *found = NULL;

	cr_assert_eq(explain(alert, &sentences), 0);
	for (size_t i = 0; sentences[i] && !found; i++)
		if (strncmp(sentences[i], beginning, strlen(beginning)) == 0)
			found = strdup(sentences[i]);
	explain_free(sentences);
	return found;
}

static void expect_sentence(const struct alert *alert, const char *beginning, const char *expected)
{
	_cleanup_free_ char *found = sentence(alert, beginning);

	if (expected)
		cr_expect_str_eq(found ? found : "(nothing)", expected);
	else
		cr_expect_null(found, "'%s' is said", found);
}

Test(explain, an_inactive_quantile_is_explained)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 832, 870.04, 1024);

	alert.since = (struct timespec){.tv_sec = SIX};
	alert.estimate.past_threshold = 18;
	expect_all(
		&alert,
		(const char *const[]){
			"p99 is 870 cycles, from 2,000 latencies in 30s",
			"p99 is above 832 cycles, and at most 1,024 cycles, each with 95% confidence",
			"the rule fires when p99 is proven to be above 896 cycles for 1min 0s, and clears when it is proven to be not above 704 cycles",
			"the requested threshold is 900 cycles; a quantile is judged at the nearest edge of a bucket, 896 cycles",
			"a breach is proven when at least 29 of 2,000 latencies are above 896 cycles; 18 are",
			NULL});
}

/* The threshold was configured as 346 ns. */
Test(explain, latencies_are_also_shown_as_time)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 832, 870.04, 1024);
	struct rule rule = *alert.rule;

	rule.nanoseconds = true;
	rule.nominal_hz = 2.6e9;
	alert.rule = &rule;
	alert.since = (struct timespec){.tv_sec = SIX};
	alert.estimate.past_threshold = 18;
	expect_all(
		&alert,
		(const char *const[]){
			"p99 is 870 cycles (about 335 ns at 2.6 GHz, the nominal frequency), from 2,000 latencies in 30s",
			"p99 is above 832 cycles (320 ns), and at most 1,024 cycles (394 ns), each with 95% confidence",
			"the rule fires when p99 is proven to be above 896 cycles (345 ns) for 1min 0s, and clears when it is proven to be not above 704 cycles (271 ns)",
			"the configured threshold is 346 ns (900 cycles at 2.6 GHz, the nominal frequency)",
			"the requested threshold is 900 cycles; a quantile is judged at the nearest edge of a bucket, 896 cycles (345 ns)",
			"a breach is proven when at least 29 of 2,000 latencies are above 896 cycles; 18 are",
			NULL});
}

Test(explain, a_pending_share_is_explained)
{
	struct alert alert = example_measured(REMOTE, "/kubepods.slice", 0.0571, 0.07, 0.0849);

	alert.decision = (struct decision){.state = ALERT_PENDING, .held_ns = NSEC_PER_SEC};
	expect_all(
		&alert,
		(const char *const[]){
			"share:remote_dram is 7% of the samples, from 2,000 samples in 1min 0s",
			"share:remote_dram is at least 5.71% of the samples, and at most 8.49% of the samples, each with 99% confidence",
			"the rule fires when share:remote_dram is proven to be at least 5% of the samples for 1.5s, and clears when it is proven to be at most 3% of the samples",
			"a breach is proven when at least 124 of 2,000 samples are remote_dram; 140 are",
			"a breach has been proven for 1s of the 1.5s that it takes to fire: it must be proven for 500ms more, at each collection that can be judged",
			"the rule is a dry run: its state is kept and shown, but no action is taken", NULL});
}

Test(explain, a_firing_ratio_is_explained)
{
	struct alert alert = example_measured(WORSE, "/batch", 1.25001, 1.33333, 1.60001);

	alert.decision.state = ALERT_FIRING;
	alert.breached = (struct timespec){.tv_sec = SIX};
	alert.since = alert.fired = (struct timespec){.tv_sec = SIX + 60};
	expect_all(
		&alert,
		(const char *const[]){
			"ratio:mean is 1.3333 times its baseline, from 2,000 latencies in 1min 0s and a baseline worth 12,000 latencies",
			"ratio:mean is at least 1.25 times its baseline, and at most 1.6001 times its baseline, each with 95% confidence",
			"both bounds count a latency above 2,048 cycles as 2,048 cycles: without such a limit a mean has no upper bound",
			"the rule fires when ratio:mean is proven to be at least 1.5 times its baseline for 1min 0s, and clears when it is proven to be at most 1.2 times its baseline",
			"ratio:mean is proven clear when the upper bound, now 1.6001 times its baseline, is at most 1.2 times its baseline",
			"the alert has been firing since 2026-11-21T06:01:00Z; the breach was first proven at 2026-11-21T06:00:00Z",
			"the baseline comes from this cgroup's own samples before the window; samples that are 1h 0min older count half as much",
			"while the alert is pending or firing, the baseline does not change, so that it does not adapt to the breach",
			NULL});
}

/* After a restart, the baseline of a firing alert grows until it suffices. */
Test(explain, a_baseline_that_still_grows_is_not_said_to_stay)
{
	struct alert alert = example_measured(WORSE, "/batch", 1.25001, 1.33333, 1.60001);

	alert.decision.state = ALERT_FIRING;
	alert.decision.unknown = UNKNOWN_BASELINE;
	expect_sentence(&alert, "while the alert is pending or firing, the baseline", NULL);
}

Test(explain, a_rate_below_without_delay_is_explained)
{
	struct alert alert = example_measured(STARVED, "/idle", 1190.1239, 1234.5, 1279.1231);

	expect_all(
		&alert,
		(const char *const[]){
			"rate is 1,234.5 weighted samples a second, from 2,000 samples in 1min 0s",
			"rate is at least 1,190 weighted samples a second, and at most 1,280 weighted samples a second, each with 95% confidence",
			"the rule fires when rate is proven to be at most 1,000 weighted samples a second, and clears when it is proven to be at least 1,500 weighted samples a second",
			"a breach is proven when the upper bound, now 1,280 weighted samples a second, is at most 1,000 weighted samples a second",
			NULL});
	alert.decision.state = ALERT_FIRING;
	expect_sentence(
		&alert, "rate is proven clear",
		"rate is proven clear when the lower bound, now 1,190 weighted samples a second, is at least 1,500 weighted samples a second");
}

Test(explain, missing_bounds_are_explained)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 832, 870, INFINITY);

	expect_sentence(&alert, "p99 is above",
			"p99 is above 832 cycles with 95% confidence; there is no upper bound so far");
	alert.estimate.bounds.high = 4294967295; /* the end of the overflow bucket does not bound anything */
	expect_sentence(&alert, "p99 is above",
			"p99 is above 832 cycles with 95% confidence; there is no upper bound so far");
	alert.estimate.bounds = (struct bounds){0, 1024};
	expect_sentence(&alert, "p99 is at most",
			"p99 is at most 1,024 cycles with 95% confidence; there is no lower bound so far");
	alert.estimate.bounds = (struct bounds){0, INFINITY};
	expect_sentence(&alert, "there are too few",
			"there are too few latencies for a bound with 95% confidence");

	alert = example_measured(WORSE, "/db", 3, INFINITY, INFINITY);
	expect_sentence(&alert, "ratio:mean",
			"ratio:mean has no value: its baseline is 0; 2,000 latencies in 1min 0s");
	alert.decision.state = ALERT_FIRING;
	expect_sentence(
		&alert, "ratio:mean is proven clear",
		"ratio:mean is proven clear when the upper bound (none so far) is at most 1.2 times its baseline");
	alert = example_alert(STARVED, "/new");
	expect_sentence(&alert, "rate has", "rate has no value: the window has nothing to compute it from");
	expect_sentence(&alert, "a breach", NULL);
}

Test(explain, too_few_samples_for_any_verdict_are_explained)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 0, 870, INFINITY);

	/* 0.99^298 is greater than 5 %, and 0.99^299 is not. 0.05 is greater than 1 %, and 0.05^2 is not. */
	alert.estimate.samples = 298;
	alert.decision.state = ALERT_FIRING;
	expect_sentence(
		&alert, "there are too few latencies (",
		"there are too few latencies (298) to prove p99 clear, whatever their values are: at least 299 are needed");
	alert.estimate.samples = 299;
	expect_sentence(&alert, "p99 is proven clear",
			"p99 is proven clear when at most 0 of 299 latencies are above 704 cycles; 0 are");
	alert = example_measured(REMOTE, "/db", 0, 0.5, INFINITY);
	alert.estimate.samples = 1;
	expect_sentence(&alert, "share:remote_dram is",
			"share:remote_dram is 50% of the samples, from 1 sample in 1min 0s");
	expect_sentence(
		&alert, "there are too few samples (",
		"there are too few samples (1) to prove a breach, whatever their values are: at least 2 are needed");
}

Test(explain, each_unknown_state_has_a_reason_and_a_remedy)
{
	static const struct {
		enum unknown_reason reason;
		const char *first;
		const char *second;
	} cases[] = {
		{UNKNOWN_WINDOW, "the window is not covered yet",
		 "the window covers 12s of 30s so far: it is first judged in 18s"},
		{UNKNOWN_SAMPLES, "too few samples",
		 "the window has 320 of the 500 latencies that `min-samples` requires: 180 more are needed"},
		{UNKNOWN_SOURCE, "not sampled for a tenth of the window or more",
		 "no samples were possible for a tenth of the window or more; it is judged again when that time is less than a tenth of the window of 30s"},
		{UNKNOWN_MULTIPLEXED, "the counter ran for less than a quarter of the time",
		 "the event had a counter for less than a quarter of the time; the window is judged again when the event has one for longer: set fewer `events` in [sampling], or stop other tools that use counters"},
		{UNKNOWN_LOST, "more than a tenth of the samples were lost",
		 "more than a tenth of the samples expected in the window were lost (`pebsctl status` says how); the window is judged again when a tenth or less is lost"},
		{UNKNOWN_NOT_MEASURED, "not measured here",
		 "the event loads:cpu_atom does not measure here what p99 is computed from: waiting does not help, but another `metric` or `event` of the rule may"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct alert alert = example_measured(SLOW_DB, "/db", 832, 912.5, 1024);
		_cleanup_free_ char *first = NULL;
		char **sentences = NULL;
		size_t found = 0;

		alert.event_key = "loads:cpu_atom";
		alert.estimate.samples = 320;
		alert.covered_ns = 12 * NSEC_PER_SEC;
		alert.decision = (struct decision){.state = ALERT_FIRING, .unknown = cases[i].reason};
		cr_assert_gt(
			asprintf(
				&first,
				"the current state is not known: %s; until it is known, the alert stays firing",
				cases[i].first),
			0);
		cr_assert_eq(explain(&alert, &sentences), 0);
		for (size_t j = 0; sentences[j]; j++) {
			cr_expect_null(strstr(sentences[j], "proven clear when"));
			if (strcmp(sentences[j], first) != 0)
				continue;
			found++;
			cr_assert_not_null(sentences[j + 1]);
			cr_expect_str_eq(sentences[j + 1], cases[i].second);
		}
		cr_expect_eq(found, 1, "'%s' is not said", first);
		explain_free(sentences);
	}
}

Test(explain, cgroups_of_the_subtree_without_a_slot_are_counted)
{
	struct alert alert = example_measured(REMOTE, "/user.slice", 0.0571, 0.07, 0.0849);

	alert.subtree_without_slot = 1200;
	expect_all(
		&alert,
		(const char *const[]){
			"share:remote_dram is 7% of the samples, from 2,000 samples in 1min 0s",
			"share:remote_dram is at least 5.71% of the samples, and at most 8.49% of the samples, each with 99% confidence",
			"1,200 cgroups at and below /user.slice have no slot now: their samples are not in the value",
			"with these samples the value could be higher or lower: the rule judges only the cgroups that have slots",
			"the rule fires when share:remote_dram is proven to be at least 5% of the samples for 1.5s, and clears when it is proven to be at most 3% of the samples",
			"a breach is proven when at least 124 of 2,000 samples are remote_dram; 140 are",
			"the rule is a dry run: its state is kept and shown, but no action is taken", NULL});

	/* No cgroup of the subtree has a slot. */
	alert.subtree_without_slot = 1;
	alert.estimate = (struct estimate){.bounds.high = INFINITY};
	alert.decision = (struct decision){.state = ALERT_FIRING, .unknown = UNKNOWN_SUBTREE_NO_SLOT};
	expect_sentence(
		&alert, "1 cgroup",
		"1 cgroup at and below /user.slice has no slot now: its samples are not in the value");
	expect_sentence(&alert, "with these samples", NULL);
	expect_sentence(
		&alert, "the current state",
		"the current state is not known: cgroups of the subtree have no slot, or had none in the window; until it is known, the alert stays firing");
	expect_sentence(
		&alert, "the window has no sample",
		"the window has no sample, so everything that the subtree does could be missing; it is judged when cgroups with slots have samples: raise `max-memory` in [cgroups], or `max` if you set it to a number, and restart pebsd");

	/* An alert that has ended is not judged. */
	alert = example_measured(REMOTE, "/user.slice", 0.0571, 0.07, 0.0849);
	alert.subtree_without_slot = 3;
	alert.decision.state = ALERT_RESOLVED;
	alert.end = ALERT_END_GONE;
	expect_sentence(&alert, "3 cgroups", NULL);
}

Test(explain, a_rate_of_a_subtree_can_only_be_higher_with_the_missing_samples)
{
	struct rule above = *example_alert(STARVED, "/").rule;
	struct alert alert = example_measured(STARVED, "/user.slice", 1190.1239, 1234.5, 1279.1231);

	alert.subtree_without_slot = 3;
	expect_sentence(
		&alert, "with these samples",
		"with these samples the rate could only be higher: a breach cannot be proven without them");
	above.below = false;
	alert.rule = &above;
	expect_sentence(
		&alert, "with these samples",
		"with these samples the rate could only be higher: it cannot be proven clear without them");
	alert.decision = (struct decision){.state = ALERT_FIRING, .unknown = UNKNOWN_SUBTREE_NO_SLOT};
	expect_sentence(
		&alert, "a low rate",
		"a low rate proves nothing while samples are missing; it is judged when the rate is higher, or when every cgroup of the subtree has had a slot for 1min 0s: raise `max-memory` in [cgroups], or `max` if you set it to a number, and restart pebsd");
}

Test(explain, the_worth_of_bursty_samples_is_explained)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 832, 870.04, 1024);

	alert.estimate.worth = 2000;
	alert.estimate.effect = 1;
	expect_sentence(&alert, "the samples came", NULL);
	alert.estimate.samples = 5025;
	alert.estimate.worth = 610;
	alert.estimate.effect = 8.237;
	expect_sentence(&alert, "the samples came",
			"the samples came in bursts: 5,025 latencies are worth 610 independent ones");
	/* 11 of 610 independent samples prove a breach, and each stands for 8.24 samples: 91 of 5,025. */
	expect_sentence(&alert, "a breach is proven when",
			"a breach is proven when at least 91 of 5,025 latencies are above 896 cycles; 0 are");

	alert.estimate.worth = 0;
	alert.estimate.effect = INFINITY;
	alert.decision.unknown = UNKNOWN_BURSTS;
	expect_sentence(
		&alert, "the samples came",
		"the samples came in bursts, and the window has too few bursts to tell how many independent samples 5,025 latencies are worth");
	expect_sentence(&alert, "p99 is above", NULL);
	expect_sentence(
		&alert, "the current state",
		"the current state is not known: the samples came in bursts, and the window has too few bursts; until it is known, the alert stays inactive");
	alert.decision.unknown = UNKNOWN_NOT;
	expect_sentence(&alert, "a breach is proven", NULL);
}

Test(explain, a_young_baseline_is_explained)
{
	struct alert alert = example_measured(WORSE, "/db", 0, 1.2, INFINITY);

	alert.estimate.base_samples = 20;
	alert.decision.unknown = UNKNOWN_BASELINE;
	expect_sentence(
		&alert, "the current state",
		"the current state is not known: the baseline has too few samples, or covers too little time, so far; until it is known, the alert stays inactive");
	expect_sentence(
		&alert, "the baseline has",
		"the baseline has 20 of the 500 latencies that `min-samples` requires: 480 more are needed");
	expect_sentence(&alert, "while the alert", NULL);

	alert.estimate.base_samples = 500;
	alert.estimate.base_covered = 12;
	expect_sentence(
		&alert, "the baseline covers",
		"the baseline covers 12s so far: the rule is judged when the baseline covers as much time as the window of 1min 0s");
}

/* The minimum may be 0, as it is for a rate by default. */
Test(explain, an_empty_baseline_is_explained)
{
	struct rule rule = *example_measured(WORSE, "/db", 0, 1.2, INFINITY).rule;
	struct alert alert = example_measured(WORSE, "/db", 0, 1.2, INFINITY);

	rule.min_samples = 0;
	alert.rule = &rule;
	alert.estimate.base_samples = 0;
	alert.decision.unknown = UNKNOWN_BASELINE;
	expect_sentence(&alert, "the baseline is empty",
			"the baseline is empty: it begins with the samples that leave the window");
}

Test(explain, a_threshold_from_an_attribute_names_the_directory)
{
	struct alert alert = example_measured(SLOW_DB, "/db", 832, 912.5, 1024);

	alert.preference = (struct preference_effect){.has_threshold = true, .threshold = 1200};
	alert.limits = rule_limits(alert.rule, 1200);
	expect_sentence(
		&alert, "the rule fires",
		"the rule fires when p99 is proven to be above 1,152 cycles for 1min 0s, and clears when it is proven to be not above 960 cycles");
	expect_sentence(
		&alert, "the requested",
		"the requested threshold is 1,200 cycles; a quantile is judged at the nearest edge of a bucket, 1,152 cycles");
	expect_sentence(
		&alert, "the threshold",
		"the threshold 1,200 cycles comes from user.pebsd.threshold on the directory of /db; the rule's own threshold is 900 cycles");

	alert = example_measured(SLOW_DB, "/db", 832, 912.5, 1024);
	alert.preference = (struct preference_effect){.untrusted = true};
	expect_sentence(
		&alert, "user.pebsd",
		"user.pebsd.* on the directory of /db is ignored for this rule: root does not own the directory, and the rule does not have `trust-owner = yes`");
	alert.preference = (struct preference_effect){.malformed = true};
	expect_sentence(
		&alert, "user.pebsd",
		"user.pebsd.threshold on the directory of /db is ignored for this rule: its text is not valid; write slow-db=VALUE once, with a VALUE as for `above`");
	alert.preference = (struct preference_effect){.ignored = true};
	expect_all(&alert,
		   (const char *const[]){
			   "p99 is 912.5 cycles, from 2,000 latencies in 30s",
			   "p99 is above 832 cycles, and at most 1,024 cycles, each with 95% confidence",
			   "the rule ignores this cgroup: user.pebsd.ignore on the directory of /db says so",
			   NULL});
}

Test(explain, the_end_of_an_alert_is_explained)
{
	static const char *const texts[] = {
		[ALERT_END_CLEAR] = "the alert resolved at 2026-11-21T06:00:00Z: p99 was proven clear",
		[ALERT_END_GONE] =
			"the alert resolved at 2026-11-21T06:00:00Z: the cgroup was removed, and its window has passed",
		[ALERT_END_RULE] =
			"the alert resolved at 2026-11-21T06:00:00Z: the rule was changed or removed from the configuration",
		[ALERT_END_IGNORED] =
			"the alert resolved at 2026-11-21T06:00:00Z: the rule no longer applies to this cgroup",
	};

	for (enum alert_end end = ALERT_END_CLEAR; end <= ALERT_END_IGNORED; end++) {
		struct alert alert = example_measured(SLOW_DB, "/db", 600, 650, 700);
		bool ended = end != ALERT_END_CLEAR;

		alert.decision = (struct decision){.state = ALERT_RESOLVED, .unknown = UNKNOWN_WINDOW};
		alert.since = (struct timespec){.tv_sec = SIX};
		alert.end = end;
		expect_sentence(&alert, "the alert resolved", texts[end]);
		expect_sentence(&alert, "p99",
				ended ? "p99 was last 650 cycles, from 2,000 latencies in 30s"
				      : "p99 is 650 cycles, from 2,000 latencies in 30s");
		expect_sentence(
			&alert, "the current state",
			ended ? NULL
			      : "the current state is not known: the window is not covered yet; until it is known, the alert stays resolved");
	}
}

/* One of the example rules, with a window of samples for it to judge. */
struct trial {
	struct rule rule;
	struct limits limits;
	struct tally tally;
	struct measured measured;
};

static void trial_start(struct trial *trial, size_t rule, bool below)
{
	size_t n;

	*trial = (struct trial){.rule = example_rules(&n)[rule]};
	if (below) {
		trial->rule.below = true;
		trial->rule.threshold = example_rules(&n)[rule].clear;
		trial->rule.clear = example_rules(&n)[rule].threshold;
	}
	trial->limits = rule_limits(&trial->rule, trial->rule.threshold);
	trial->measured = (struct measured){.tally = &trial->tally, .seconds = 30};
}

/*
 * Puts `far` of `n` samples just beyond a limit, and the others just within it. The limit is the threshold if
 * `breach`, otherwise `clear`.
 */
static void trial_fill(struct trial *trial, u64 far, u64 n, bool breach)
{
	const struct rule *rule = &trial->rule;
	u32 edge = breach ? trial->limits.threshold_bucket : trial->limits.clear_bucket;
	u64 above = rule->below ? n - far : far;

	memset(&trial->tally, 0, sizeof(trial->tally));
	trial->tally.samples = n;
	if (rule->metric.kind == METRIC_SHARE) {
		trial->tally.sources[rule->metric.source] = (u32)above;
		trial->tally.sources[SOURCE_L1] = (u32)(n - above);
		return;
	}
	trial->tally.latency_samples = n;
	trial->tally.latency[edge + 1] = (u32)above;
	trial->tally.latency[edge] = (u32)(n - above);
}

static struct alert trial_alert(const struct trial *trial, enum alert_state state)
{
	struct alert alert = {.rule = &trial->rule,
			      .cgroup = "/db",
			      .event_key = "loads",
			      .limits = trial->limits,
			      .covered_ns = trial->rule.window_ns,
			      .decision.state = state};

	estimate_of(&trial->rule, &trial->limits, &trial->measured, &alert.estimate);
	return alert;
}

static bool proven(const struct trial *trial, bool breach)
{
	struct estimate estimate;
	bool above = trial->rule.below != breach;
	double limit = breach ? trial->limits.threshold : trial->limits.clear;

	estimate_of(&trial->rule, &trial->limits, &trial->measured, &estimate);
	return above ? estimate.bounds.low >= limit : estimate.bounds.high <= limit;
}

/*
 * The sentence names the count at which the verdict of the bounds changes. With one sample less (for clear,
 * one more), this verdict is not proven.
 */
Test(explain, the_stated_counts_are_where_the_verdict_changes)
{
	static const u64 sizes[] = {300, 501, 2000, 12345};

	for (int below = 0; below < 2; below++)
		for (size_t kind = SLOW_DB; kind <= REMOTE; kind++)
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
				for (int breach = 0; breach < 2; breach++) {
					struct trial trial;
					struct alert alert;
					unsigned long long thousands = 0, rest = 0;
					char most[8] = "";
					_cleanup_free_ char *found = NULL;
					u64 count;

					trial_start(&trial, kind, below);
					trial_fill(&trial, sizes[i] / 2, sizes[i], breach);
					alert = trial_alert(&trial, breach ? ALERT_INACTIVE : ALERT_FIRING);
					found = sentence(
						&alert,
						breach ? "a breach is proven when at"
						: kind == SLOW_DB
							? "p99 is proven clear when at"
							: "share:remote_dram is proven clear when at");
					cr_assert_not_null(found);
					if (sscanf(strstr(found, " at ") + 4, "%7s %llu,%llu", most,
						   &thousands, &rest) == 3)
						count = thousands * 1000 + rest;
					else
						count = thousands;
					cr_expect_str_eq(most, breach ? "least" : "most");
					trial_fill(&trial, count, sizes[i], breach);
					cr_expect(proven(&trial, breach), "%s", found);
					trial_fill(&trial, breach ? count - 1 : count + 1, sizes[i], breach);
					cr_expect_not(proven(&trial, breach), "%s", found);
				}
}

/*
 * With the number of samples that the sentence names and the same share, the breach is proven. With a
 * fiftieth fewer samples, it is not.
 */
Test(explain, the_number_of_samples_needed_is_stated)
{
	struct trial trial;
	struct alert alert;
	_cleanup_free_ char *found = NULL;
	unsigned long long thousands = 0, rest = 0, foreseen;

	trial_start(&trial, REMOTE, false);
	trial_fill(&trial, 110, 2000, true); /* 5.5 %, and the threshold is 5 % */
	cr_expect_not(proven(&trial, true));
	alert = trial_alert(&trial, ALERT_INACTIVE);
	expect_sentence(&alert, "a breach is proven",
			"a breach is proven when at least 124 of 2,000 samples are remote_dram; 110 are");
	found = sentence(&alert, "if the share");
	cr_assert_not_null(found);
	cr_assert_eq(
		sscanf(found,
		       "if the share of such samples stays the same, about %llu,%llu samples in a window would prove the breach",
		       &thousands, &rest),
		2);
	foreseen = thousands * 1000 + rest;
	trial_fill(&trial, foreseen * 55 / 1000, foreseen, true);
	cr_expect(proven(&trial, true), "%s", found);
	trial_fill(&trial, foreseen * 49 / 50 * 55 / 1000, foreseen * 49 / 50, true);
	cr_expect_not(proven(&trial, true), "%s", found);

	/*
	 * If the share is on the good side, no number of samples proves a breach. If the breach is proven, no
	 * more are needed.
	 */
	trial_fill(&trial, 99, 2000, true);
	alert = trial_alert(&trial, ALERT_INACTIVE);
	expect_sentence(&alert, "if the share", NULL);
	trial_fill(&trial, 140, 2000, true);
	alert = trial_alert(&trial, ALERT_PENDING);
	expect_sentence(&alert, "if the share", NULL);
}

/* For a share that must not be small, the sentence counts the other samples. */
Test(explain, a_share_below_counts_the_other_samples)
{
	_cleanup_free_ char *found = NULL;
	struct trial trial;
	struct alert alert;

	trial_start(&trial, REMOTE, true);
	trial_fill(&trial, 1930, 2000, true);
	alert = trial_alert(&trial, ALERT_INACTIVE);
	found = sentence(&alert, "a breach is proven when at least");
	cr_assert_not_null(found);
	cr_expect_not_null(strstr(found, " of 2,000 samples are not remote_dram; 1,930 are"), "%s", found);
}

Test(explain, one_core_is_singular)
{
	static const struct metric cores = {.kind = METRIC_CORES_LOST};
	char text[QUANTITY_MAX];

	quantity(&cores, 1, NEAREST, text);
	cr_expect_str_eq(text, "1 core");
	quantity(&cores, 1.04, NEAREST, text);
	cr_expect_str_eq(text, "1.04 cores");
}

Test(explain, numbers_are_rounded_to_the_safe_side)
{
	static const struct metric cycles = {.kind = METRIC_MEAN}, share = {.kind = METRIC_SHARE};
	char text[QUANTITY_MAX];

	quantity(&cycles, 1234.56, NEAREST, text);
	cr_expect_str_eq(text, "1,234.6 cycles");
	quantity(&cycles, 1234.56, DOWN, text);
	cr_expect_str_eq(text, "1,234.5 cycles");
	quantity(&cycles, 1234.51, UP, text);
	cr_expect_str_eq(text, "1,234.6 cycles");
	quantity(&cycles, 999.96, UP, text);
	cr_expect_str_eq(text, "1,000 cycles");
	quantity(&cycles, 896, DOWN, text);
	cr_expect_str_eq(text, "896 cycles");
	quantity(&share, 0.29, DOWN, text);
	cr_expect_str_eq(text, "29% of the samples");
	quantity(&share, 0.070000000000000007, UP, text);
	cr_expect_str_eq(text, "7% of the samples");
	quantity(&share, 0.0000014, UP, text);
	cr_expect_str_eq(text, "0.0002% of the samples");
}
