// SPDX-License-Identifier: GPL-2.0
#include "example_policy.h"

#include <string.h>

#include "example_rules.h"
#include "example_snapshot.h"
#include "in_packed.h"

#define SECONDS 120

/* 2026-11-21T06:00:00Z. */
#define START 1795240800

static int collect(struct policy *policy, u64 second)
{
	static const char *const paths[] = {"/system.slice/db.service", "/"};
	const struct timespec now = {.tv_sec = (time_t)(START + second)};
	const struct sliding_time time[EVENTS_MAX] = {
		{.elapsed_ns = NSEC_PER_SEC, .enabled_ns = 4 * NSEC_PER_SEC, .running_ns = 4 * NSEC_PER_SEC}};
	const struct transition *transitions;
	struct counters counters[2] = {0};
	size_t n;

	example_add(&counters[0], 100, SOURCE_REMOTE_DRAM, 1000, 10007, SNOOP_NONE, TLB_HIT);
	example_add(&counters[1], 100, SOURCE_L1, 20, 10007, SNOOP_NONE, TLB_HIT);
	policy_begin(policy, (1000 + second) * NSEC_PER_SEC, &now, time);
	for (u32 i = 0; i < ARRAY_SIZE(paths); i++) {
		struct in_packed room;

		policy_put(policy, i + 1, paths[i], in_packed(&room, 0, &counters[i]), 1);
	}
	return policy_tick(policy, &transitions, &n);
}

struct policy *example_policy(void)
{
	struct event event = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .ldlat = 30,
			      .latency_kind = LATENCY_USE,
			      .period = 10007,
			      .settings = {.has_latency = 1, .has_source = 1}};
	struct policy_settings settings = {.events = &event,
					   .n_events = 1,
					   .start_ns = 1000 * NSEC_PER_SEC,
					   .next_number = 17,
					   .max_bytes = POLICY_BYTES};
	struct policy *policy = NULL;

	settings.rules = example_rules(&settings.n_rules);
	if (policy_new(&settings, &policy) < 0)
		return NULL;
	for (u64 second = 1; second <= SECONDS; second++)
		if (collect(policy, second) < 0)
			return policy_free(policy);
	return policy;
}

struct neighbours_report *example_neighbours(void)
{
	static const struct neighbour list[] = {
		{.index = 0,
		 .strength = 0.8,
		 .lag = 1,
		 .n = 58,
		 .needed = 0.5,
		 .traffic_slow = 90000,
		 .traffic_fast = 1000,
		 .named = true},
		{.index = 1, .strength = 0.1, .n = 60, .needed = 0.5, .traffic_slow = 10, .traffic_fast = 20},
	};
	struct neighbours_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	*report = (struct neighbours_report){
		.ranking = {.verdict = NEIGHBOURS_NAMED,
			    .bins = 60,
			    .self_strength = 0.2,
			    .latency_slow = 400,
			    .latency_fast = 200,
			    .list = calloc(ARRAY_SIZE(list), sizeof(list[0]))},
		.cgroups = calloc(ARRAY_SIZE(list), sizeof(char *)),
		.event = "loads",
		.bin_seconds = 5,
		.covered_seconds = 300,
		.nodes_known = true,
	};
	if (report->cgroups) {
		report->n_cgroups = ARRAY_SIZE(list);
		report->cgroups[0] = strdup("/batch");
		report->cgroups[1] = strdup("/");
	}
	if (!report->ranking.list || !report->cgroups || !report->cgroups[0] || !report->cgroups[1])
		return neighbours_report_free(report);
	memcpy(report->ranking.list, list, sizeof(list));
	report->ranking.n = ARRAY_SIZE(list);
	return report;
}
