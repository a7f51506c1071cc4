// SPDX-License-Identifier: GPL-2.0
#include "policy_fixture.h"

#include <stdlib.h>

#include "in_packed.h"

struct event fixture_event(enum event_role role, const char *pmu)
{
	struct event event = {.role = role,
			      .latency_kind = LATENCY_USE,
			      .period = 100,
			      .settings = {.has_latency = true, .has_source = true}};

	(void)snprintf(event.pmu, sizeof(event.pmu), "%s", pmu);
	return event;
}

struct rule fixture_rule(const char *name, char **pattern)
{
	struct rule rule = {
		.patterns = pattern,
		.n_patterns = 1,
		.event = EVENT_LOADS,
		.metric = {.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM},
		.threshold = 0.5,
		.clear = 0.4,
		.window_ns = 10 * NSEC_PER_SEC,
		.for_ns = 5 * NSEC_PER_SEC,
		.baseline_ns = 3600 * NSEC_PER_SEC,
		.min_samples = 20,
		.confidence = 0.95,
		.severity = "warning",
		.actions = RULE_LOG,
	};

	(void)snprintf(rule.name, sizeof(rule.name), "%s", name);
	return rule;
}

void fixture_new_events(struct policy_fixture *fixture, const struct rule *rules, size_t n,
			const struct event *events, size_t n_events)
{
	struct policy_settings settings = {.rules = rules,
					   .n_rules = n,
					   .events = events,
					   .n_events = n_events,
					   .start_ns = FIXTURE_START_NS,
					   .next_number = 1,
					   .max_bytes = POLICY_BYTES};

	*fixture = (struct policy_fixture){.now_ns = FIXTURE_START_NS};
	if (policy_new(&settings, &fixture->policy) < 0)
		abort();
}

void fixture_new(struct policy_fixture *fixture, const struct rule *rules, size_t n)
{
	struct event event = fixture_event(EVENT_LOADS, "cpu");

	fixture_new_events(fixture, rules, n, &event, 1);
}

void fixture_free(struct policy_fixture *fixture)
{
	fixture->policy = policy_free(fixture->policy);
}

void fixture_begin_after(struct policy_fixture *fixture, u64 after_ns)
{
	struct timespec now;

	fixture->now_ns += after_ns;
	now = (struct timespec){.tv_sec = (time_t)(fixture->now_ns / NSEC_PER_SEC) + FIXTURE_REALTIME,
				.tv_nsec = (long)(fixture->now_ns % NSEC_PER_SEC)};
	policy_begin(fixture->policy, fixture->now_ns, &now, fixture->time);
}

void fixture_begin(struct policy_fixture *fixture)
{
	fixture_begin_after(fixture, NSEC_PER_SEC);
}

struct counters fixture_counters(u64 slow, u64 fast)
{
	struct counters counters = {
		.samples = {[SOURCE_REMOTE_DRAM] = slow, [SOURCE_L1] = fast},
		.weight = {[SOURCE_REMOTE_DRAM] = 100 * slow, [SOURCE_L1] = 100 * fast},
		.latency_sum = {[SOURCE_REMOTE_DRAM] = 1000 * slow, [SOURCE_L1] = 10 * fast}};

	counters.latency[histogram_fine_index(1000)] = slow;
	counters.latency[histogram_fine_index(10)] = fast;
	return counters;
}

/* Imitates the numbers of the totals: the same path always has the same number. */
static u32 number_of(const char *path)
{
	u32 hash = 2166136261U;

	for (; *path; path++)
		hash = (hash ^ (u8)*path) * 16777619U;
	return hash;
}

void fixture_put_event(struct policy_fixture *fixture, const char *path, unsigned event,
		       const struct counters *counters)
{
	struct in_packed room;

	policy_put(fixture->policy, number_of(path), path, in_packed(&room, event, counters), 1);
}

void fixture_put(struct policy_fixture *fixture, const char *path, u64 slow, u64 fast)
{
	struct counters counters = fixture_counters(slow, fast);

	fixture_put_event(fixture, path, 0, &counters);
}

struct alert fixture_alert(const struct policy_fixture *fixture, const char *rule, const char *path)
{
	struct alert *alerts;
	struct alert alert;
	size_t n = 0;
	int r = policy_explain(fixture->policy, rule, path, &alerts, &n);

	if (r < 0 || n != 1) {
		fprintf(stderr, "%s on %s: error %d, or %zu alerts\n", rule, path, r, n);
		abort();
	}
	alert = alerts[0];
	free(alerts);
	return alert;
}

int fixture_tick(struct policy_fixture *fixture)
{
	return policy_tick(fixture->policy, &fixture->transitions, &fixture->n);
}

unsigned fixture_run(struct policy_fixture *fixture, unsigned n, const char *path, u64 slow, u64 fast)
{
	for (unsigned i = 0; i < n; i++) {
		fixture_begin(fixture);
		if (slow || fast)
			fixture_put(fixture, path, slow, fast);
		if (fixture_tick(fixture) < 0)
			abort();
		if (fixture->n)
			return i + 1;
	}
	return n;
}
