// SPDX-License-Identifier: GPL-2.0
#include "example_rules.h"

#include <math.h>

static char *databases[] = {"/system.slice/db*.service", "/kubepods.slice/*"};
static char *everything[] = {"/*"};

static const struct rule rules[] = {
	{.name = "slow-db",
	 .patterns = databases,
	 .n_patterns = 2,
	 .event = EVENT_LOADS,
	 .metric = {.kind = METRIC_QUANTILE, .quantile = 0.99},
	 .threshold = 900,
	 .clear = 700,
	 .window_ns = 30 * NSEC_PER_SEC,
	 .for_ns = 60 * NSEC_PER_SEC,
	 .min_samples = 500,
	 .confidence = 0.95,
	 .severity = "critical",
	 .actions = RULE_LOG | RULE_UNIT},
	{.name = "remote",
	 .patterns = everything,
	 .n_patterns = 1,
	 .event = EVENT_LOADS,
	 .metric = {.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM},
	 .threshold = 0.05,
	 .clear = 0.03,
	 .window_ns = 60 * NSEC_PER_SEC,
	 .for_ns = 1500 * NSEC_PER_MSEC,
	 .min_samples = 500,
	 .confidence = 0.99,
	 .severity = "warning",
	 .subtree = true,
	 .dry_run = true,
	 .actions = RULE_LOG},
	{.name = "worse",
	 .patterns = everything,
	 .n_patterns = 1,
	 .event = EVENT_LOADS,
	 .metric = {.kind = METRIC_MEAN, .ratio = true},
	 .threshold = 1.5,
	 .clear = 1.2,
	 .window_ns = 60 * NSEC_PER_SEC,
	 .for_ns = 60 * NSEC_PER_SEC,
	 .baseline_ns = 3600 * NSEC_PER_SEC,
	 .min_samples = 500,
	 .confidence = 0.95,
	 .severity = "warning",
	 .trust_owner = true},
	{.name = "starved",
	 .patterns = everything,
	 .n_patterns = 1,
	 .event = EVENT_LOADS,
	 .metric = {.kind = METRIC_RATE},
	 .below = true,
	 .threshold = 1000,
	 .clear = 1500,
	 .window_ns = 60 * NSEC_PER_SEC,
	 .confidence = 0.95,
	 .severity = "info",
	 .actions = RULE_LOG},
};

const struct rule *example_rules(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(rules);
	return rules;
}

struct alert example_alert(size_t rule, const char *cgroup)
{
	return (struct alert){
		.rule = &rules[rule],
		.cgroup = cgroup,
		.event_key = "loads",
		.limits = rule_limits(&rules[rule], rules[rule].threshold),
		.estimate.bounds = {.high = __builtin_inf()},
		.worst = NAN,
	};
}

struct alert example_measured(size_t rule, const char *cgroup, double low, double value, double high)
{
	struct alert alert = example_alert(rule, cgroup);

	alert.estimate = (struct estimate){.known = true,
					   .value = value,
					   .bounds = {low, high},
					   .samples = 2000,
					   .worth = 1500,
					   .base_samples = rules[rule].metric.ratio ? 12000 : 0};
	alert.covered_ns = rules[rule].window_ns;
	return alert;
}
