// SPDX-License-Identifier: GPL-2.0
#include "some_panes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "collect/packed.h"
#include "history/event_json.h"

static void free_const(const void *memory)
{
	free((void *)memory);
}

static void *grown(void *list, size_t n, size_t size)
{
	void *longer = reallocarray(list, n + 1, size);

	cr_assert_not_null(longer);
	memset((char *)longer + n * size, 0, size);
	return longer;
}

struct history_pane *some_panes_add(struct some_panes *panes, u64 gap_s, u64 seconds)
{
	struct history_pane *pane;
	u64 start_us = panes->n ? panes->list[panes->n - 1].end_us : SOME_PANES_START_US;

	panes->list = grown(panes->list, panes->n, sizeof(*panes->list));
	pane = &panes->list[panes->n++];
	pane->start_us = start_us + gap_s * 1000000;
	pane->end_us = pane->start_us + seconds * 1000000;
	pane->covered_ns = seconds * NSEC_PER_SEC;
	return pane;
}

u32 some_panes_event(struct history_pane *pane, const char *key, const struct event *event, u64 cpus)
{
	char settings[EVENT_JSON_MAX];

	cr_assert_eq(event_json_write(event, "model", settings), 0);
	pane->events = grown(pane->events, pane->n_events, sizeof(*pane->events));
	pane->events[pane->n_events] = (struct history_event){
		.key = strdup(key),
		.settings = strdup(settings),
		.period = event->period,
		.counted = true,
		.throttle_known = true,
	};
	pane->events[pane->n_events].enabled_ns = pane->events[pane->n_events].running_ns =
		cpus * pane->covered_ns;
	return (u32)pane->n_events++;
}

static struct history_cgroup *find(const struct history_pane *pane, const char *path)
{
	for (size_t i = 0; i < pane->n_cgroups; i++)
		if (strcmp(pane->cgroups[i].path, path) == 0)
			return &pane->cgroups[i];
	return NULL;
}

void some_panes_row(struct history_pane *pane, const char *path, u32 event, const struct counters *counters)
{
	u8 packed[PACKED_MAX], *copy;
	size_t size = packed_of(counters, packed);
	struct history_cgroup *cgroup = find(pane, path);

	if (!cgroup) {
		pane->cgroups = grown(pane->cgroups, pane->n_cgroups, sizeof(*pane->cgroups));
		cgroup = &pane->cgroups[pane->n_cgroups++];
		*cgroup = (struct history_cgroup){.path = strdup(path), .labels = strdup("")};
	}
	copy = malloc(size);
	cr_assert_not_null(copy);
	memcpy(copy, packed, size);
	pane->rows = grown(pane->rows, pane->n_rows, sizeof(*pane->rows));
	pane->rows[pane->n_rows++] = (struct history_row){
		.cgroup = (u32)(cgroup - pane->cgroups), .event = event, .size = (u32)size, .packed = copy};
	pane->events[event].seen += counters_samples(counters);
}

void some_panes_label(struct history_pane *pane, const char *path, const char *json)
{
	struct history_cgroup *cgroup = find(pane, path);

	free_const(cgroup->labels);
	cgroup->labels = strdup(json);
}

void some_panes_done(struct some_panes *panes)
{
	for (size_t i = 0; i < panes->n; i++) {
		struct history_pane *pane = &panes->list[i];

		for (size_t j = 0; j < pane->n_events; j++) {
			free_const(pane->events[j].key);
			free_const(pane->events[j].settings);
		}
		for (size_t j = 0; j < pane->n_cgroups; j++) {
			free_const(pane->cgroups[j].path);
			free_const(pane->cgroups[j].labels);
		}
		for (size_t j = 0; j < pane->n_rows; j++)
			free_const(pane->rows[j].packed);
		free(pane->events);
		free(pane->cgroups);
		free(pane->rows);
	}
	free(panes->list);
	*panes = (struct some_panes){0};
}

void some_panes_settings(struct history_pane *pane, u32 event, const char *settings)
{
	free_const(pane->events[event].settings);
	pane->events[event].settings = strdup(settings);
}
