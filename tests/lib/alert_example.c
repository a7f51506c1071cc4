// SPDX-License-Identifier: GPL-2.0
#include "alert_example.h"

#define FIRED_S 1795240860 /* 2026-11-21 06:01:00 UTC */

struct transition alert_example_fires(u64 number, struct rule *rule)
{
	*rule = (struct rule){
		.name = "slow-database",
		.event = EVENT_LOADS,
		.metric = {.kind = METRIC_QUANTILE, .quantile = 0.99},
		.threshold = 900,
		.clear = 700,
		.window_ns = 30 * NSEC_PER_SEC,
		.for_ns = 60 * NSEC_PER_SEC,
		.min_samples = 500,
		.confidence = 0.95,
		.severity = "warning",
		.actions = RULE_LOG | RULE_UNIT,
	};
	return (struct transition){
		.from = ALERT_PENDING,
		.to = ALERT_FIRING,
		.alert =
			{
				.number = number,
				.rule = rule,
				.cgroup = "/system.slice/db.service",
				.event_key = "loads",
				.decision = {.state = ALERT_FIRING},
				.limits = {.threshold = 896, .clear = 704},
				.estimate = {.known = true,
					     .value = 912.5,
					     .bounds = {900, 1024},
					     .samples = 2310},
				.covered_ns = 30 * NSEC_PER_SEC,
				.since = {.tv_sec = FIRED_S},
				.breached = {.tv_sec = FIRED_S - 60},
				.fired = {.tv_sec = FIRED_S},
			},
	};
}

struct transition alert_example_resolves(u64 number, struct rule *rule)
{
	struct transition transition = alert_example_fires(number, rule);

	transition.from = ALERT_FIRING;
	transition.to = ALERT_RESOLVED;
	transition.alert.decision.state = ALERT_RESOLVED;
	transition.alert.estimate.value = 600;
	transition.alert.estimate.bounds = (struct bounds){512, 640};
	transition.alert.since.tv_sec = FIRED_S + 300;
	transition.alert.resolved.tv_sec = FIRED_S + 300;
	transition.alert.end = ALERT_END_CLEAR;
	return transition;
}
