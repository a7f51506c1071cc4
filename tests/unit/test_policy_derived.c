// SPDX-License-Identifier: GPL-2.0
/* Rules on metrics that are derived from counts of two events: wait, cores lost, CPI, and traffic. */
#include <criterion/criterion.h>

#include "policy_fixture.h"

static char *everything[] = {"/**"};
static struct policy_fixture fixture;

static void end(void)
{
	fixture_free(&fixture);
}

TestSuite(policy_derived, .fini = end);

enum { STALLS, CYCLES, INSTRUCTIONS, MISSES, COUNTS };

/* Events of counts of one PMU, with a period of 100. */
static void count_events(const char *pmu, struct event ret[COUNTS])
{
	static const struct {
		enum event_role role;
		enum count_kind kind;
	} of[COUNTS] = {
		[STALLS] = {EVENT_STALLS, COUNT_STALLS_LOAD},
		[CYCLES] = {EVENT_CYCLES, COUNT_NONE},
		[INSTRUCTIONS] = {EVENT_INSTRUCTIONS, COUNT_NONE},
		[MISSES] = {EVENT_MISSES, COUNT_MISSES_L3},
	};

	for (size_t i = 0; i < COUNTS; i++) {
		ret[i] = fixture_event(of[i].role, pmu);
		ret[i].count_kind = of[i].kind;
		ret[i].latency_kind = LATENCY_NONE;
		ret[i].settings = (struct event_settings){0};
	}
}

/* A rule as fixture_rule(), but for the metric and its event. */
static struct rule rule_of(const char *name, const char *metric, double threshold, double clear)
{
	struct rule rule = fixture_rule(name, everything);
	enum event_role roles[METRIC_EVENTS_MAX];

	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	if (metric_events(&rule.metric, roles) > 0)
		rule.event = roles[0];
	rule.threshold = threshold;
	rule.clear = clear;
	rule.below = clear > threshold;
	return rule;
}

static void start(const struct rule *rules, size_t n)
{
	struct event events[COUNTS];

	count_events("cpu", events);
	fixture_new_events(&fixture, rules, n, events, COUNTS);
}

static void start_rule(const char *name, const char *metric, double threshold, double clear)
{
	const struct rule rule = rule_of(name, metric, threshold, clear);

	start(&rule, 1);
}

static void put(const char *path, unsigned event, u64 samples)
{
	struct counters counters = {.samples = {[SOURCE_UNKNOWN] = samples},
				    .weight = {[SOURCE_UNKNOWN] = 100 * samples}};

	if (samples)
		fixture_put_event(&fixture, path, event, &counters);
}

/* Makes up to `n` collections, and stops after the first that has a transition. Returns their number. */
static unsigned run(unsigned n, const char *path, const u64 samples[COUNTS])
{
	for (unsigned i = 0; i < n; i++) {
		fixture_begin(&fixture);
		for (unsigned event = 0; event < COUNTS; event++)
			put(path, event, samples[event]);
		cr_assert_eq(fixture_tick(&fixture), 0);
		if (fixture.n)
			return i + 1;
	}
	return n;
}

static void expect_fired(const char *rule)
{
	cr_assert_eq(fixture.n, 1, "%zu", fixture.n);
	cr_expect_str_eq(fixture.transitions->alert.rule->name, rule);
	cr_expect_eq(fixture.transitions->to, ALERT_FIRING);
}

/* Expects that the alert is pending when the window is covered, and fires five seconds later. */
static void expect_fires(const char *rule, const u64 samples[COUNTS])
{
	cr_assert_eq(run(20, "/a", samples), 10);
	cr_assert_eq(run(20, "/a", samples), 5);
	expect_fired(rule);
}

static const u64 waiting[COUNTS] = {[STALLS] = 60, [CYCLES] = 100, [INSTRUCTIONS] = 50, [MISSES] = 20};
static const u64 working[COUNTS] = {[STALLS] = 10, [CYCLES] = 100, [INSTRUCTIONS] = 200, [MISSES] = 2};

Test(policy_derived, wait_goes_from_breach_to_firing_to_resolved)
{
	struct alert alert;

	start_rule("waits", "wait", 0.4, 0.3);
	expect_fires("waits", waiting);
	alert = fixture.transitions->alert;
	cr_expect_float_eq(alert.estimate.value, 0.6, 1e-12);
	cr_expect_eq(alert.estimate.samples, 600);
	cr_expect_eq(alert.estimate.second_samples, 1000);
	cr_expect_str_eq(alert.event_key, "stalls");
	cr_expect_eq(alert.counts, COUNT_STALLS_LOAD);
	cr_expect_not(alert.samples_loads);
	cr_assert_lt(run(20, "/a", working), 12);
	cr_expect_eq(fixture.transitions->to, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions->alert.end, ALERT_END_CLEAR);
}

/* A service that no longer waits has no sample of stalls at all. That is evidence, not a lack of samples. */
Test(policy_derived, wait_clears_without_any_stall)
{
	static const u64 without[COUNTS] = {[CYCLES] = 100};

	start_rule("waits", "wait", 0.4, 0.3);
	expect_fires("waits", waiting);
	cr_assert_lt(run(20, "/a", without), 12);
	cr_expect_eq(fixture.transitions->to, ALERT_RESOLVED);
}

/* The event of the rule never has a sample: the second one makes the target, and makes the rule judge it. */
Test(policy_derived, a_cgroup_with_samples_of_the_second_event_alone_is_judged)
{
	static const u64 without[COUNTS] = {[CYCLES] = 100};

	start_rule("works", "wait", 0.05, 0.1);
	expect_fires("works", without);
	cr_expect_eq(fixture.transitions->alert.estimate.value, 0);
}

Test(policy_derived, min_samples_counts_cycles_for_wait_and_both_events_for_cpi)
{
	static const u64 few[COUNTS] = {[STALLS] = 1, [CYCLES] = 2, [INSTRUCTIONS] = 1};
	struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3), rule_of("slow", "cpi", 1.5, 1.2)};

	rules[0].min_samples = 20;
	rules[1].min_samples = 11;
	start(rules, 2);
	cr_assert_eq(run(20, "/a", few), 20);
	cr_expect_eq(fixture_alert(&fixture, "waits", "/a").decision.unknown, UNKNOWN_NOT);
	cr_expect_eq(fixture_alert(&fixture, "slow", "/a").decision.unknown, UNKNOWN_SAMPLES);
	fixture_free(&fixture);
	rules[0].min_samples = 21;
	rules[1].min_samples = 10;
	start(rules, 2);
	cr_assert_eq(run(20, "/a", few), 20);
	cr_expect_eq(fixture_alert(&fixture, "waits", "/a").decision.unknown, UNKNOWN_SAMPLES);
	cr_expect_eq(fixture_alert(&fixture, "slow", "/a").decision.unknown, UNKNOWN_NOT);
}

Test(policy_derived, cpi_is_judged_on_cycles_and_instructions)
{
	start_rule("slow", "cpi", 1.5, 1.2);
	expect_fires("slow", waiting);
	cr_expect_float_eq(fixture.transitions->alert.estimate.value, 2, 1e-12);
	cr_expect_str_eq(fixture.transitions->alert.event_key, "cycles");
}

/* 20 misses a second, each for 100 lines of 64 bytes. */
Test(policy_derived, traffic_needs_no_second_event)
{
	struct rule rule = rule_of("traffic", "traffic", 100000, 80000);

	rule.min_samples = 0;
	start(&rule, 1);
	expect_fires("traffic", waiting);
	cr_expect_float_eq(fixture.transitions->alert.estimate.value, 128000, 1e-6);
}

/* 6,000 stalled cycles a second are 3 cores of 2,000 Hz. */
Test(policy_derived, cores_lost_are_converted_at_the_frequency_of_the_moment)
{
	struct rule rule = rule_of("lost", "cores-lost", 2, 1.5);
	struct alert alert;

	rule.min_samples = 0;
	start(&rule, 1);
	cr_assert_eq(run(20, "/a", waiting), 20, "nothing is judged without a frequency");
	alert = fixture_alert(&fixture, "lost", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_FREQUENCY);
	cr_expect_not(alert.estimate.known);

	policy_set_frequency(fixture.policy, CYCLES, 2000);
	cr_assert_eq(run(20, "/a", waiting), 1);
	cr_assert_eq(run(20, "/a", waiting), 5);
	expect_fired("lost");
	alert = fixture.transitions->alert;
	cr_expect_float_eq(alert.estimate.value, 3, 1e-12);
	cr_expect_float_eq((double)alert.estimate.cores_used, 5, 1e-6);
	cr_expect_float_eq((double)alert.estimate.frequency_hz, 2000, 1e-6);

	/* A frequency that is no longer known changes no state. */
	policy_set_frequency(fixture.policy, CYCLES, 0);
	cr_assert_eq(run(5, "/a", waiting), 5);
	alert = fixture_alert(&fixture, "lost", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_FREQUENCY);
	cr_expect_eq(alert.decision.state, ALERT_FIRING);

	policy_set_frequency(fixture.policy, CYCLES, 6000);
	cr_assert_eq(run(5, "/a", waiting), 1);
	cr_expect_eq(fixture.transitions->to, ALERT_RESOLVED);
	cr_expect_float_eq(fixture.transitions->alert.estimate.value, 1, 1e-12);
}

/* No sample comes or leaves, but the frequency falls: the same cycles are more cores. */
Test(policy_derived, another_frequency_judges_every_cgroup_again)
{
	struct rule rule = rule_of("lost", "cores-lost", 2, 1.5);

	rule.min_samples = 0;
	rule.for_ns = 0;
	start(&rule, 1);
	policy_set_frequency(fixture.policy, CYCLES, 6000);
	cr_assert_eq(run(10, "/a", waiting), 10);
	policy_set_frequency(fixture.policy, CYCLES, 2000);
	fixture_begin_after(&fixture, NSEC_PER_MSEC);
	cr_assert_eq(fixture_tick(&fixture), 0);
	expect_fired("lost");
}

/* Bursts of activity move both events. The rate of stalls alone would be unknown. */
Test(policy_derived, bursts_of_activity_are_not_bursts_of_wait)
{
	struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3),
			       rule_of("lost", "cores-lost", 0.01, 0.001)};
	unsigned fired = 0;

	rules[1].min_samples = 0;
	start(rules, 2);
	policy_set_frequency(fixture.policy, CYCLES, 100000);
	for (unsigned i = 0; i < 30; i++) {
		/* The service does more and more, then less and less. */
		u64 activity = 1 + (i < 15 ? i : 29 - i);

		fixture_begin(&fixture);
		put("/a", STALLS, 30 * activity);
		put("/a", CYCLES, 50 * activity);
		cr_assert_eq(fixture_tick(&fixture), 0);
		for (size_t j = 0; j < fixture.n; j++)
			fired += fixture.transitions[j].to == ALERT_FIRING;
		if (fixture.n)
			cr_expect_str_eq(fixture.transitions->alert.rule->name, "waits");
	}
	cr_expect_eq(fired, 1);
	cr_expect_eq(fixture_alert(&fixture, "lost", "/a").decision.unknown, UNKNOWN_BURSTS);
}

/* Eight of ten seconds are in a burst. Independent samples would prove a breach: wait is 0.5 on average. */
Test(policy_derived, a_long_burst_of_wait_proves_nothing)
{
	struct alert alert;

	start_rule("waits", "wait", 0.4, 0.3);
	cr_assert_eq(run(12, "/a", working), 12);
	cr_assert_eq(run(8, "/a", waiting), 8);
	alert = fixture_alert(&fixture, "waits", "/a");
	cr_expect_float_eq(alert.estimate.value, 0.5, 1e-12);
	cr_expect_gt(alert.estimate.effect, 4);
	cr_expect_lt(alert.estimate.bounds.low, 0.4);
}

Test(policy_derived, without_the_second_event_it_is_not_measured)
{
	const struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3),
				     rule_of("lost", "cores-lost", 2, 1.5),
				     rule_of("ratio", "ratio:wait", 2, 1.5)};
	struct event events[2];
	struct event all[COUNTS];

	count_events("cpu", all);
	events[0] = all[STALLS];
	events[1] = all[CYCLES];
	(void)snprintf(events[1].pmu, sizeof(events[1].pmu), "cpu_atom");
	fixture_new_events(&fixture, rules, 3, events, 2);
	policy_set_frequency(fixture.policy, 1, 2000);
	cr_assert_eq(run(20, "/a", waiting), 20);
	cr_expect_eq(fixture_alert(&fixture, "waits", "/a").decision.unknown, UNKNOWN_NOT_MEASURED);
	cr_expect_eq(fixture_alert(&fixture, "lost", "/a").decision.unknown, UNKNOWN_NOT_MEASURED);
	cr_expect_eq(fixture_alert(&fixture, "ratio", "/a").decision.unknown, UNKNOWN_NOT_MEASURED);
}

/* As with `events = auto` on a machine that cannot count stalls. */
Test(policy_derived, unsampled_events_that_a_rule_needs_are_reported)
{
	const struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3), rule_of("slow", "cpi", 2, 1.5)};
	struct event all[COUNTS], events[2];
	struct policy_counts counts;

	count_events("cpu", all);
	events[0] = all[CYCLES];
	events[1] = all[INSTRUCTIONS];
	fixture_new_events(&fixture, rules, 2, events, 2);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.not_sampled, 1U << EVENT_STALLS);
	policy_count(fixture.policy, 1, &counts);
	cr_expect_eq(counts.not_sampled, 0);
	fixture_free(&fixture);
	fixture_new_events(&fixture, rules, 2, &all[MISSES], 1);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.not_sampled, 1U << EVENT_STALLS | 1U << EVENT_CYCLES);
}

/* The cgroup waits on the P cores alone. */
Test(policy_derived, each_pmu_has_its_own_second_event)
{
	const struct rule rule = rule_of("waits", "wait", 0.4, 0.3);
	struct event events[2 * COUNTS];
	struct alert *alerts;
	size_t n;

	count_events("cpu_atom", events);
	count_events("cpu_core", events + COUNTS);
	fixture_new_events(&fixture, &rule, 1, events, (size_t)2 * COUNTS);
	for (unsigned i = 0; i < 15; i++) {
		fixture_begin(&fixture);
		put("/a", STALLS, 10);
		put("/a", CYCLES, 200);
		put("/a", COUNTS + STALLS, 60);
		put("/a", COUNTS + CYCLES, 100);
		cr_assert_eq(fixture_tick(&fixture), 0);
	}
	expect_fired("waits");
	cr_expect_str_eq(fixture.transitions->alert.event_key, "stalls:cpu_core");
	cr_assert_eq(policy_explain(fixture.policy, "waits", "/a", &alerts, &n), 0);
	cr_assert_eq(n, 2);
	cr_expect_float_eq(alerts[0].estimate.value, 0.05, 1e-12);
	cr_expect_float_eq(alerts[1].estimate.value, 0.6, 1e-12);
	free(alerts);
}

/* Stalls had a counter for half of the time, cycles all the time. Then cycles have one for a tenth. */
Test(policy_derived, each_event_is_scaled_by_its_own_time)
{
	start_rule("waits", "wait", 0.9, 0.8);
	fixture.time[STALLS] = (struct sliding_time){.enabled_ns = 1000, .running_ns = 500};
	fixture.time[CYCLES] = (struct sliding_time){.enabled_ns = 1000, .running_ns = 1000};
	cr_assert_eq(run(12, "/a", working), 12);
	cr_expect_float_eq(fixture_alert(&fixture, "waits", "/a").estimate.value, 0.2, 1e-12);
	fixture.time[CYCLES] = (struct sliding_time){.enabled_ns = 1000, .running_ns = 100};
	cr_assert_eq(run(12, "/a", working), 12);
	cr_expect_eq(fixture_alert(&fixture, "waits", "/a").decision.unknown, UNKNOWN_MULTIPLEXED);
}

Test(policy_derived, a_ratio_has_a_baseline_of_each_event)
{
	struct alert alert;

	start_rule("unusual", "ratio:wait", 2, 1.5);
	cr_assert_eq(run(15, "/a", working), 15);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_BASELINE);
	cr_assert_eq(run(100, "/a", working), 100);
	alert = fixture_alert(&fixture, "unusual", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NOT);
	cr_expect_float_eq(alert.estimate.value, 1, 1e-3);
	cr_expect_lt(alert.estimate.bounds.low, 1);
	cr_assert_lt(run(30, "/a", waiting), 12);
	cr_assert_eq(run(30, "/a", waiting), 5);
	expect_fired("unusual");
	/* The baseline does not adapt while the alert fires. */
	cr_assert_eq(run(60, "/a", waiting), 60);
	cr_expect_float_eq(fixture_alert(&fixture, "unusual", "/a").estimate.value, 6, 0.3);
	cr_assert_lt(run(30, "/a", working), 12);
	cr_expect_eq(fixture.transitions->to, ALERT_RESOLVED);
}

/* Three rules have the same event and window. The one without a second event has a window of its own. */
Test(policy_derived, a_reload_keeps_rules_with_and_without_a_second_event)
{
	struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3), rule_of("rate", "rate", 1000, 900),
			       rule_of("lost", "cores-lost", 2, 1.5)};

	rules[1].event = EVENT_STALLS;
	rules[1].min_samples = rules[2].min_samples = 0;
	start(rules, 2);
	policy_set_frequency(fixture.policy, CYCLES, 2000);
	cr_assert_eq(run(10, "/a", waiting), 10);
	cr_assert_eq(run(10, "/a", waiting), 5);
	cr_expect_eq(fixture.n, 2);
	cr_assert_eq(policy_set_rules(fixture.policy, rules, 3), 0);
	cr_assert_eq(run(10, "/a", waiting), 1, "the window of `waits` is that of `lost`");
	cr_expect_str_eq(fixture.transitions->alert.rule->name, "lost");
	cr_expect_eq(fixture_alert(&fixture, "waits", "/a").decision.state, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "rate", "/a").decision.state, ALERT_FIRING);
	cr_assert_eq(policy_set_rules(fixture.policy, rules + 1, 1), 0);
	cr_assert_eq(run(1, "/a", waiting), 1);
	cr_expect_eq(fixture.n, 2, "both others end");
}

Test(policy_derived, an_alert_survives_a_restart)
{
	struct rule rule = rule_of("lost", "cores-lost", 2, 1.5);
	struct policy_fixture before;
	struct policy_saved_alert *saved_alerts;
	struct alert alert;
	size_t n;

	rule.min_samples = 0;
	start(&rule, 1);
	policy_set_frequency(fixture.policy, CYCLES, 2000);
	expect_fires("lost", waiting);
	cr_assert_eq(policy_save_alerts(fixture.policy, &saved_alerts, &n), 0);
	cr_assert_eq(n, 1);
	cr_expect_float_eq(saved_alerts[0].value, 3, 1e-12);
	before = fixture;
	start(&rule, 1);
	cr_assert_eq(policy_restore_alert(fixture.policy, &saved_alerts[0]), 0);
	cr_assert_eq(run(3, "/a", waiting), 3);
	alert = fixture_alert(&fixture, "lost", "/a");
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_expect_eq(alert.decision.unknown, UNKNOWN_WINDOW);
	policy_set_frequency(fixture.policy, CYCLES, 2000);
	cr_assert_lt(run(30, "/a", working), 20);
	cr_expect_eq(fixture.transitions->to, ALERT_RESOLVED);
	free(saved_alerts);
	fixture_free(&before);
}

Test(policy_derived, a_subtree_is_the_sum_of_both_events)
{
	struct rule rule = rule_of("waits", "wait", 0.4, 0.3);

	rule.subtree = true;
	start(&rule, 1);
	for (unsigned i = 0; i < 12; i++) {
		fixture_begin(&fixture);
		put("/a/b", STALLS, 90);
		put("/a/c", CYCLES, 50);
		put("/a/b", CYCLES, 100);
		cr_assert_eq(fixture_tick(&fixture), 0);
	}
	cr_expect_float_eq(fixture_alert(&fixture, "waits", "/a").estimate.value, 0.6, 1e-12);
	cr_expect_float_eq(fixture_alert(&fixture, "waits", "/a/b").estimate.value, 0.9, 1e-12);
}

Test(policy_derived, after_churn_all_memory_is_freed)
{
	const struct rule rules[] = {rule_of("waits", "wait", 0.4, 0.3),
				     rule_of("unusual", "ratio:cpi", 2, 1.5)};
	size_t before, most = 0;

	start(rules, 2);
	cr_assert_eq(run(12, "/a", working), 12);
	before = policy_bytes(fixture.policy);
	for (unsigned i = 0; i < 2000; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/churn-%u", i);
		fixture_begin(&fixture);
		/* Half of them have samples of one event only. */
		put(path, i % 2 ? STALLS : CYCLES, 5);
		if (i % 4 == 0)
			put(path, INSTRUCTIONS, 5);
		put("/a", CYCLES, 100);
		cr_assert_eq(fixture_tick(&fixture), 0);
		policy_gone(fixture.policy, path);
		most = policy_bytes(fixture.policy) > most ? policy_bytes(fixture.policy) : most;
	}
	cr_expect_lt(most, before + (400 << 10), "%zu, %zu before", most, before);
	cr_assert_eq(run(30, "/a", working), 30);
	cr_expect_lt(policy_bytes(fixture.policy), before + (100 << 10));
}
