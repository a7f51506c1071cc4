// SPDX-License-Identifier: GPL-2.0
/* The sentences about metrics that are derived from counts. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/explain.h"
#include "rule/quantity.h"

/* 2026-11-21T06:00:00Z */
#define SIX 1795240800

static char *everything[] = {"/shop/*"};
static struct rule rule;

/* An alert of the metric on /shop/checkout, with 1,200 samples of its event and 3,000 of the second one. */
static struct alert alert_of(const char *metric, double threshold, double clear, double low, double value,
			     double high)
{
	struct alert alert;

	rule = (struct rule){.name = "waits",
			     .patterns = everything,
			     .n_patterns = 1,
			     .threshold = threshold,
			     .clear = clear,
			     .below = clear > threshold,
			     .window_ns = 30 * NSEC_PER_SEC,
			     .for_ns = 300 * NSEC_PER_SEC,
			     .min_samples = 500,
			     .confidence = 0.95};
	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	alert = (struct alert){
		.rule = &rule,
		.cgroup = "/shop/checkout",
		.event_key = "stalls",
		.limits = rule_limits(&rule, threshold),
		.covered_ns = 30 * NSEC_PER_SEC,
		.estimate = {.known = true,
			     .value = value,
			     .bounds = {low, high},
			     .samples = 1200,
			     .worth = 1200,
			     .effect = 1},
	};
	if (metric_has_second(&rule.metric))
		alert.estimate.second_samples = 3000;
	return alert;
}

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

static void expect_sentence(const struct alert *alert, const char *expected, bool is_said)
{
	char **sentences = NULL;
	bool found = false;

	cr_assert_eq(explain(alert, &sentences), 0);
	for (size_t i = 0; sentences[i]; i++)
		found |= strcmp(sentences[i], expected) == 0;
	cr_expect_eq(found, is_said, "%s", expected);
	explain_free(sentences);
}

Test(explain_derived, cores_lost_of_a_service_are_explained)
{
	struct alert alert = alert_of("cores-lost", 2, 1.5, 3.0412, 3.2, 3.3678);

	alert.estimate.cores_used = 9.1F;
	alert.estimate.frequency_hz = 2.6e9F;
	alert.counts = COUNT_STALLS_LOAD;
	alert.samples_loads = true;
	alert.decision.state = ALERT_FIRING;
	alert.breached = (struct timespec){.tv_sec = SIX};
	alert.since = alert.fired = (struct timespec){.tv_sec = SIX + 300};
	expect_all(
		&alert,
		(const char *const[]){
			"/shop/checkout loses 3.2 of its 9.1 cores to memory: at least 3.04 and at most 3.37 (each with 95% confidence), from 1,200 samples of stalls in 30s; its cores run at 2.6 GHz",
			"memory costs the cgroup at most this much, whatever the cause: in a stalled cycle nothing executes and a load is outstanding",
			"the rule fires when the lower bound is at least 2 cores for 5min 0s, and clears when the upper bound is at most 1.5 cores",
			"pebsctl hot /shop/checkout shows its code and data",
			"pebsctl neighbours /shop/checkout shows possible causes", NULL});
	alert.estimate.frequency_hz = 0;
	alert.estimate.cores_used = 0;
	alert.estimate.bounds.high = INFINITY;
	expect_sentence(
		&alert,
		"/shop/checkout loses 3.2 cores to memory: at least 3.04 (with 95% confidence), from 1,200 samples of stalls in 30s",
		true);
	alert.estimate.bounds = (struct bounds){0, 1};
	alert.estimate.value = 0.5;
	alert.estimate.cores_used = 1;
	expect_sentence(
		&alert,
		"/shop/checkout loses 0.5 of its 1 core to memory: at most 1 (with 95% confidence), from 1,200 samples of stalls in 30s",
		true);
	alert.decision.state = ALERT_RESOLVED;
	alert.end = ALERT_END_GONE;
	alert.estimate.effect = INFINITY; /* no bounds */
	expect_sentence(
		&alert,
		"/shop/checkout last lost 0.5 of its 1 core to memory, from 1,200 samples of stalls in 30s",
		true);
}

Test(explain_derived, neighbours_may_be_the_cause_of_latency_and_of_waiting)
{
	static const struct {
		const char *metric;
		bool asks;
	} cases[] = {{"p99", true},      {"mean", true},        {"ratio:p99", true},
		     {"wait", true},     {"cores-lost", true},  {"cpi", false},
		     {"traffic", false}, {"share:hitm", false}, {"rate", false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct alert alert = alert_of(cases[i].metric, 2, 1.5, 3.0412, 3.2, 3.3678);

		rule.event = EVENT_LOADS;
		alert.samples_loads = true;
		cr_expect_eq(explain_asks_neighbours(&alert), cases[i].asks, "%s", cases[i].metric);
		rule.event = EVENT_STORES;
		alert.samples_loads = false;
		cr_expect_not(explain_asks_neighbours(&alert), "%s without loads", cases[i].metric);
		rule.event = EVENT_LOADS;
		alert.samples_loads = true;
		alert.decision.state = ALERT_RESOLVED;
		alert.end = ALERT_END_GONE;
		cr_expect_not(explain_asks_neighbours(&alert), "%s of a removed cgroup", cases[i].metric);
	}
}

Test(explain_derived, wait_without_loads_is_explained)
{
	struct alert alert = alert_of("wait", 0.4, 0.3, 0.38123, 0.41, 0.44567);

	alert.counts = COUNT_STALLS_RETIRE;
	expect_all(
		&alert,
		(const char *const[]){
			"wait is 41% of its cycles, from 1,200 samples of stalls and 3,000 of cycles in 30s",
			"wait is at least 38.1% of its cycles, and at most 44.6% of its cycles, each with 95% confidence",
			"memory costs the cgroup at most this much, whatever the cause: in a stalled cycle nothing retires because the oldest operation waits for the data of a load, but younger operations may execute",
			"the rule fires when wait is proven to be at least 40% of its cycles for 5min 0s, and clears when it is proven to be at most 30% of its cycles",
			"a breach is proven when the lower bound, now 38.1% of its cycles, is at least 40% of its cycles",
			"loads are not sampled, so it is not known which memory the cgroup waits for: add loads to `events` in [sampling]",
			NULL});
}

Test(explain_derived, cycles_per_instruction_are_explained)
{
	struct alert alert = alert_of("cpi", 2, 1.5, 2.214, 2.314, 2.4139);

	expect_all(
		&alert,
		(const char *const[]){
			"cpi is 2.31 cycles per instruction, from 1,200 samples of cycles and 3,000 of instructions in 30s",
			"cpi is at least 2.21 cycles per instruction, and at most 2.42 cycles per instruction, each with 95% confidence",
			"the rule fires when cpi is proven to be at least 2 cycles per instruction for 5min 0s, and clears when it is proven to be at most 1.5 cycles per instruction",
			"a breach is proven when the lower bound, now 2.21 cycles per instruction, is at least 2 cycles per instruction",
			NULL});
}

Test(explain_derived, traffic_is_explained_with_its_omissions)
{
	struct alert alert = alert_of("traffic", 5e9, 4e9, 4.96e9, 5.2e9, 5.44e9);

	alert.counts = COUNT_MISSES_L3;
	expect_all(
		&alert,
		(const char *const[]){
			"traffic is 5.2 GB/s, from 1,200 samples of misses in 30s",
			"traffic is at least 4.96 GB/s, and at most 5.44 GB/s, each with 95% confidence",
			"traffic counts 64 bytes for each miss of the L3 cache; prefetches that the CPU does not count as misses, and lines that are written back, are left out",
			"the rule fires when traffic is proven to be at least 5 GB/s for 5min 0s, and clears when it is proven to be at most 4 GB/s",
			"a breach is proven when the lower bound, now 4.96 GB/s, is at least 5 GB/s", NULL});
}

Test(explain_derived, ratios_of_derived_metrics_are_explained)
{
	struct alert alert = alert_of("ratio:wait", 1.5, 1.2, 1.25, 1.4, 1.6);

	alert.estimate.base_samples = 10000;
	expect_sentence(
		&alert,
		"ratio:wait is 1.4 times its baseline, from 1,200 samples of stalls and 3,000 of cycles in 30s and a baseline worth 10,000 samples",
		true);
	alert = alert_of("ratio:cores-lost", 1.5, 1.2, 1.25, 1.4, 1.6);
	expect_sentence(
		&alert,
		"the ratio compares stalled cycles a second: a change of the frequency also changes it",
		true);
}

Test(explain_derived, unknown_derived_metrics_have_a_reason)
{
	struct alert alert = alert_of("cores-lost", 2, 1.5, 0, 0, INFINITY);

	alert.estimate.known = false;
	alert.decision.unknown = UNKNOWN_FREQUENCY;
	expect_sentence(
		&alert,
		"the current state is not known: the running frequency of the CPUs is not known; until it is known, the alert stays inactive",
		true);
	expect_sentence(
		&alert,
		"cores are cycles divided by the running frequency of the CPUs, which pebsd measures with the event cycles: the rule is judged when that frequency is known; a recording does not contain it",
		true);
	alert.decision.unknown = UNKNOWN_NOT_MEASURED;
	expect_sentence(
		&alert,
		"cores-lost is computed from stalls and cycles of the same PMU, and cycles are not sampled there, or the samples have no periods: waiting does not help, but adding cycles to `events` in [sampling] may",
		true);
	alert = alert_of("wait", 0.4, 0.3, 0.3, 0.4, 0.5);
	alert.decision.unknown = UNKNOWN_SAMPLES;
	alert.estimate.second_samples = 320;
	expect_sentence(
		&alert,
		"the window has 320 of the 500 samples of cycles that `min-samples` requires: 180 more are needed",
		true);
	alert = alert_of("cpi", 2, 1.5, 1, 2, 3);
	alert.decision.unknown = UNKNOWN_SAMPLES;
	alert.estimate.second_samples = 499;
	expect_sentence(
		&alert,
		"the window has 499 of the 500 samples of each event that `min-samples` requires: 1 more is needed",
		true);
}

/* A rate can only be higher with missing samples. A quotient can be lower, too. */
Test(explain_derived, cgroups_without_slots_are_counted)
{
	struct alert alert = alert_of("traffic", 5e9, 4e9, 4.96e9, 5.2e9, 5.44e9);

	alert.subtree_without_slot = 2;
	expect_sentence(
		&alert,
		"with these samples the rate could only be higher: it cannot be proven clear without them",
		true);
	alert = alert_of("wait", 0.4, 0.3, 0.38, 0.41, 0.44);
	alert.subtree_without_slot = 2;
	expect_sentence(
		&alert,
		"with these samples the value could be higher or lower: the rule judges only the cgroups that have slots",
		true);
}

Test(explain_derived, quantities_have_units)
{
	static const struct {
		const char *metric;
		double value;
		enum quantity_rounding rounding;
		const char *text;
	} cases[] = {
		{"wait", 0.41, NEAREST, "41% of its cycles"},
		{"wait", 0.00123456, UP, "0.1235% of its cycles"},
		{"cores-lost", 3.2, NEAREST, "3.2 cores"},
		{"cores-lost", 0.05678, DOWN, "0.0567 cores"},
		{"cores-lost", 123.456, UP, "123.5 cores"},
		{"cpi", 2.3149, DOWN, "2.31 cycles per instruction"},
		{"traffic", 5.2e9, NEAREST, "5.2 GB/s"},
		{"traffic", 999999, UP, "1,000 kB/s"},
		{"traffic", 12, NEAREST, "12 B/s"},
		{"traffic", 0, NEAREST, "0 B/s"},
		{"traffic", 2.5e12, NEAREST, "2.5 TB/s"},
		{"ratio:traffic", 1.5, NEAREST, "1.5 times its baseline"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[QUANTITY_MAX];
		struct metric metric;

		cr_assert_eq(metric_parse(cases[i].metric, &metric), 0);
		quantity(&metric, cases[i].value, cases[i].rounding, text);
		cr_expect_str_eq(text, cases[i].text);
	}
}
