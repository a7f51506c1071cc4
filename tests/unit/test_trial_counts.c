// SPDX-License-Identifier: GPL-2.0
/* Rules on metrics of counts, tested on samples as a recording has them. */
#include <criterion/criterion.h>

#include "trial/trial.h"

#define PERIOD 1000

static char *everything[] = {"/**"};

static struct rule rule_of(const char *name, const char *metric, double threshold)
{
	struct rule rule = {.patterns = everything,
			    .n_patterns = 1,
			    .threshold = threshold,
			    .clear = threshold,
			    .window_ns = 10 * NSEC_PER_SEC,
			    .for_ns = 5 * NSEC_PER_SEC,
			    .min_samples = 20,
			    .confidence = 0.95,
			    .severity = "warning",
			    .actions = RULE_LOG};
	enum event_role roles[METRIC_EVENTS_MAX];

	(void)snprintf(rule.name, sizeof(rule.name), "%s", name);
	cr_assert_eq(metric_parse(metric, &rule.metric), 0);
	cr_assert_gt(metric_events(&rule.metric, roles), 0);
	rule.event = roles[0];
	return rule;
}

static void add(struct trial *trial, u16 event, unsigned n)
{
	const struct sample sample = {.cgroup_id = 7, .period = PERIOD, .event = event};

	for (unsigned i = 0; i < n; i++)
		cr_assert_eq(trial_add(trial, &sample, 1), 0);
}

/* A recording has neither the time in which a counter ran, nor the frequency of the CPUs. */
Test(trial_counts, wait_fires_and_cores_lost_stay_unknown)
{
	static const struct event events[] = {{.role = EVENT_STALLS, .period = PERIOD},
					      {.role = EVENT_CYCLES, .period = PERIOD}};
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(trial_freep) struct trial *trial = NULL;
	struct rule rules[] = {rule_of("waits", "wait", 0.4), rule_of("lost", "cores-lost", 1e-6),
			       rule_of("few", "wait", 0.4)};
	const struct trial_report *report;

	rules[2].min_samples = 2000;
	cr_assert_eq(config_new(&config), 0);
	cr_assert_eq(rules_copy(rules, 3, &config->rules), 0);
	config->n_rules = 3;
	cr_assert_eq(trial_new(&(struct trial_settings){config, "replay", events, 2, 0}, &trial), 0);
	cr_assert_eq(trial_begin(trial, "a.data", 0, NULL), 0);
	cr_assert_eq(trial_name(trial, 7, "/shop"), 0);
	for (unsigned second = 1; second <= 20; second++) {
		struct sliding_time times[EVENTS_MAX] = {0};

		add(trial, 0, 60);
		add(trial, 1, 100);
		cr_assert_eq(trial_collect(trial, second * NSEC_PER_SEC, times), 0);
	}
	report = trial_finish(trial);
	cr_expect_eq(report->of_rules[0].fired, 1);
	cr_expect_float_eq(report->of_rules[0].closest.estimate.value, 0.6, 1e-9);
	cr_expect_eq(report->of_rules[1].fired, 0);
	cr_expect_float_eq(report->of_rules[1].unknown_s[UNKNOWN_FREQUENCY], 11, 1e-9);
	/* The samples of cycles are counted. */
	cr_expect_eq(report->of_rules[2].most_samples, 1000);
}

/* The model's cores run at a known frequency: at 200 periods a second, 60 stalled ones are 0.3 cores. */
Test(trial_counts, cores_lost_of_the_model_can_fire)
{
	static const struct event events[] = {{.role = EVENT_STALLS, .period = PERIOD},
					      {.role = EVENT_CYCLES, .period = PERIOD}};
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(trial_freep) struct trial *trial = NULL;
	struct rule rule = rule_of("lost", "cores-lost", 0.2);
	const struct trial_report *report;

	cr_assert_eq(config_new(&config), 0);
	cr_assert_eq(rules_copy(&rule, 1, &config->rules), 0);
	config->n_rules = 1;
	cr_assert_eq(trial_new(&(struct trial_settings){config, "model", events, 2, 200.0 * PERIOD}, &trial),
		     0);
	cr_assert_eq(trial_begin(trial, NULL, 0, NULL), 0);
	cr_assert_eq(trial_name(trial, 7, "/shop"), 0);
	for (unsigned second = 1; second <= 20; second++) {
		struct sliding_time times[EVENTS_MAX] = {
			{.enabled_ns = NSEC_PER_SEC, .running_ns = NSEC_PER_SEC, .expected = 60},
			{.enabled_ns = NSEC_PER_SEC, .running_ns = NSEC_PER_SEC, .expected = 100}};

		add(trial, 0, 60);
		add(trial, 1, 100);
		cr_assert_eq(trial_collect(trial, second * NSEC_PER_SEC, times), 0);
	}
	report = trial_finish(trial);
	cr_expect_eq(report->of_rules[0].fired, 1);
	cr_expect_float_eq(report->of_rules[0].closest.estimate.value, 0.3, 1e-9);
}
