// SPDX-License-Identifier: GPL-2.0
/*
 * example_scrape: prints /metrics as a live machine may export it. It includes values that the model and
 * recordings do not have: the cost of sampling, lost samples, and time that was not sampled. The values are
 * invented, and always the same.
 */
#include <stdio.h>

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

int main(void)
{
	const struct prometheus_options options = {.http_restarts = {.known = true}};
	struct snapshot *snapshot = example_several();
	_cleanup_free_ struct series *series = calloc(snapshot->n_cgroups, sizeof(*series));
	_cleanup_free_ const struct series **list = calloc(snapshot->n_cgroups, sizeof(*list));
	struct process_figures process = {0};
	_cleanup_free_ char *text = NULL;
	size_t length;

	if (!series || !list)
		return 1;
	add_live_figures(snapshot);
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		series[i].path = (char *)snapshot->cgroups[i].path;
		for (size_t event = 0; event < snapshot->n_events; event++)
			series[i].figures[event] = (struct figures *)snapshot->cgroups[i].figures[event];
		list[i] = &series[i];
	}
	process_read(&process);
	if (prometheus_render(snapshot, list, snapshot->n_cgroups, &options, &process, &text, &length) < 0)
		return 1;
	return fwrite(text, 1, length, stdout) == length ? 0 : 1;
}
