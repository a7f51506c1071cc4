// SPDX-License-Identifier: GPL-2.0
/*
 * example_scrape [SECONDS]: prints /metrics as a live machine may export it. It includes values that the model and
 * recordings do not have: the cost of sampling, lost samples, time that was not sampled, and events of counts. The
 * values are invented. Those of the counts are for a machine that ran for SECONDS, 60 by default, and all others are
 * always the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "example_snapshot.h"
#include "export/prometheus/prometheus.h"

static void add_live_figures(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_events; i++) {
		struct snapshot_event *event = &snapshot->events[i];

		event->cost = (struct snapshot_cost){.ratio = {true, 0.004},
						     .budget = {true, 0.005},
						     .interrupt_ns = {true, 1200},
						     .dense = {true, 900, 25000},
						     .sparse = {true, 2500, 100},
						     .program_ns = {true, 40},
						     .state = "steady",
						     .changes = {[GOVERNOR_OVER_BUDGET] = 2}};
		event->lost_unexplained = (struct maybe_u64){true, 3};
		event->paused_seconds = (struct maybe_double){true, 0};
	}
}

/* The events of counts, and how often each happens in a second in each cgroup of the example. */
static const struct {
	enum event_role role;
	enum count_kind kind;
	const char *key;
	u64 a_second[3];
} counts[] = {
	{EVENT_CYCLES, COUNT_NONE, "cycles", {5200000000, 900000000, 2600000000}},
	{EVENT_STALLS, COUNT_STALLS_LOAD, "stalls", {2100000000, 90000000, 1700000000}},
	{EVENT_MISSES, COUNT_MISSES_L3, "misses", {21000000, 300000, 40000000}},
};

#define INSTRUCTIONS_EVENT 3 /* in example_several() */

static const u64 instructions_a_second[3] = {4000000000, 1100000000, 1300000000};

/* Adds the events behind those of the snapshot. They run for 3/4 of their time. */
static void add_counts(struct snapshot *snapshot, u64 seconds, struct series series[3],
		       u64 estimates[3][EVENTS_MAX])
{
	static struct counters counters = {.samples[SOURCE_UNKNOWN] = 100};

	for (size_t cgroup = 0; cgroup < 3; cgroup++) {
		estimates[cgroup][INSTRUCTIONS_EVENT] = instructions_a_second[cgroup] * seconds;
		series[cgroup].estimates = estimates[cgroup];
	}
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct snapshot_event *event = &snapshot->events[snapshot->n_events];

		*event = (struct snapshot_event){
			.event = {.role = counts[i].role, .count_kind = counts[i].kind, .period = 20000003},
			.running_ratio = {true, 0.75}};
		(void)stpcpy(event->key, counts[i].key);
		(void)stpcpy(event->event.pmu, "cpu_core");
		if (counts[i].role == EVENT_CYCLES)
			event->frequency_hz = (struct maybe_double){true, 2600000000};
		for (size_t cgroup = 0; cgroup < 3; cgroup++) {
			series[cgroup].counters[snapshot->n_events] = &counters;
			estimates[cgroup][snapshot->n_events] = counts[i].a_second[cgroup] * seconds;
		}
		snapshot->n_events++;
	}
	for (size_t i = 0; i < snapshot->n_events; i++) {
		struct snapshot_event *event = &snapshot->events[i];

		event->enabled_seconds = (struct maybe_double){true, 4 * (double)seconds};
		event->running_seconds =
			(struct maybe_double){true, 4 * (double)seconds * event->running_ratio.value};
	}
}

int main(int argc, char **argv)
{
	const u64 seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 60;
	const struct prometheus_options options = {
		.http_restarts = {.known = true},
		.history = {.bytes = {true, 4096},
			    .oldest_seconds = {true, 1795240800},
			    .panes_lost = {true, 0},
			    .restarts = {true, 0}},
	};
	struct snapshot *snapshot = example_several();
	_cleanup_free_ struct series *series = calloc(snapshot->n_cgroups, sizeof(*series));
	u64 estimates[3][EVENTS_MAX] = {0};
	_cleanup_free_ const struct series **list = calloc(snapshot->n_cgroups, sizeof(*list));
	struct process_usage process = {0};
	_cleanup_free_ char *text = NULL;
	size_t length;

	if (!series || !list || snapshot->n_cgroups != ARRAY_SIZE(estimates))
		return 1;
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		series[i].path = (char *)snapshot->cgroups[i].path;
		for (size_t event = 0; event < snapshot->n_events; event++)
			series[i].counters[event] = (struct counters *)snapshot->cgroups[i].counters[event];
		list[i] = &series[i];
	}
	add_counts(snapshot, seconds, series, estimates);
	add_live_figures(snapshot);
	process_read(&process);
	if (prometheus_render(snapshot, list, snapshot->n_cgroups, &options, &process, &text, &length) < 0)
		return 1;
	return fwrite(text, 1, length, stdout) == length ? 0 : 1;
}
