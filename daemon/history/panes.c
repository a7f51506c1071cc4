// SPDX-License-Identifier: GPL-2.0
#include "history/panes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/totals.h"
#include "history/event_json.h"
#include "history/labels_json.h"
#include "history/panes_sum.h"

/* A cgroup with a delta in this pane or the last one. */
struct pane_cgroup {
	u32 number; /* of the entry in the totals */
	bool used;  /* in this pane */
	u64 id;
	char *path;
	struct labels_json labels;
	panes_chain chains[EVENTS_MAX];
};

struct panes {
	struct panes_settings settings;
	struct clocks start; /* of the pane */
	struct clocks last;  /* last collection */
	u64 start_us;        /* of the pane; after a step of the clock on the new time */
	u64 run;
	bool new_run; /* with the next pane */
	bool paused;  /* as of the last collection */
	size_t collections;
	int error; /* the pane is lost */

	const char *origin;
	size_t n_events;
	struct event events[EVENTS_MAX]; /* in force during the pane */
	char keys[EVENTS_MAX][EVENT_KEY_MAX];
	char texts[EVENTS_MAX][EVENT_JSON_MAX];
	u64 frequency_hz[EVENTS_MAX];
	struct reading before[EVENTS_MAX], now[EVENTS_MAX];

	size_t n, room;
	struct pane_cgroup *cgroups;
	size_t slots; /* of the index: a power of two, at least twice `n` */
	u32 *index;   /* 1 + a cgroup's position, by its number; 0: free */
	struct panes_sum sum;
	size_t limit; /* of `sum` until deltas are added up */
};

static void cgroup_done(struct pane_cgroup *cgroup)
{
	free(cgroup->path);
	labels_json_done(&cgroup->labels);
}

int panes_new(const struct panes_settings *settings, const struct clocks *began,
	      const struct reading readings[EVENTS_MAX], struct panes **ret)
{
	struct panes *panes = calloc(1, sizeof(*panes));

	if (!panes)
		return -ENOMEM;
	panes->settings = *settings;
	panes->start = panes->last = *began;
	panes->start_us = panes->run = began->realtime_us;
	panes->limit = PANES_BYTES;
	memcpy(panes->before, readings, sizeof(panes->before));
	memcpy(panes->now, readings, sizeof(panes->now));
	*ret = panes;
	return 0;
}

struct panes *panes_free(struct panes *panes)
{
	if (!panes)
		return NULL;
	for (size_t i = 0; i < panes->n; i++)
		cgroup_done(&panes->cgroups[i]);
	panes_sum_done(&panes->sum);
	free(panes->cgroups);
	free(panes->index);
	free(panes);
	return NULL;
}

size_t panes_bytes(const struct panes *panes)
{
	return sizeof(*panes) + panes->sum.room + panes->room * sizeof(*panes->cgroups) +
	       panes->slots * sizeof(*panes->index);
}

void panes_break(struct panes *panes)
{
	panes->new_run = true;
}

/* ---- cgroups ---- */

/* Numbers follow each other, so they are spread over the index by themselves. */
static u32 *slot_of(const struct panes *panes, u32 number)
{
	size_t slot = number & (panes->slots - 1);

	while (panes->index[slot] && panes->cgroups[panes->index[slot] - 1].number != number)
		slot = (slot + 1) & (panes->slots - 1);
	return &panes->index[slot];
}

static void index_all(struct panes *panes)
{
	memset(panes->index, 0, panes->slots * sizeof(*panes->index));
	for (size_t i = 0; i < panes->n; i++)
		*slot_of(panes, panes->cgroups[i].number) = (u32)i + 1;
}

static int make_room(struct panes *panes)
{
	if (panes->n == panes->room) {
		size_t room = panes->room + panes->room / 2 + 32;
		struct pane_cgroup *grown = reallocarray(panes->cgroups, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		panes->cgroups = grown;
		panes->room = room;
	}
	if (2 * (panes->n + 1) > panes->slots) {
		size_t slots = panes->slots ? 2 * panes->slots : 128;
		u32 *grown = reallocarray(panes->index, slots, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		panes->index = grown;
		panes->slots = slots;
		index_all(panes);
	}
	return 0;
}

static int cgroup_of(struct panes *panes, const struct totals_entry *entry, struct pane_cgroup **ret)
{
	u32 *slot = panes->slots ? slot_of(panes, entry->number) : NULL;
	struct pane_cgroup *cgroup;
	int r;

	if (!slot || !*slot) {
		char *path;

		r = make_room(panes);
		path = r == 0 ? strdup(entry->path) : NULL;
		if (!path)
			return -ENOMEM;
		slot = slot_of(panes, entry->number);
		panes->cgroups[panes->n] = (struct pane_cgroup){.number = entry->number, .path = path};
		*slot = (u32)++panes->n;
	}
	cgroup = &panes->cgroups[*slot - 1];
	cgroup->used = true;
	cgroup->id = panes->settings.ids ? entry->id : 0;
	*ret = cgroup;
	return 0;
}

/* Drops the cgroups that the pane does not have, and empties the others. */
static void begin_cgroups(struct panes *panes)
{
	size_t n = 0;

	for (size_t i = 0; i < panes->n; i++) {
		struct pane_cgroup *cgroup = &panes->cgroups[i];

		if (!cgroup->used) {
			cgroup_done(cgroup);
			continue;
		}
		cgroup->used = false;
		memset(cgroup->chains, 0, sizeof(cgroup->chains));
		panes->cgroups[n++] = *cgroup;
	}
	if (n == panes->n)
		return;
	panes->n = n;
	index_all(panes);
}

/* ---- deltas ---- */

/* Adds up what is there, to a new block of memory. */
static int add_up(struct panes *panes)
{
	struct panes_sum sum = {0};
	int r = 0;

	for (size_t i = 0; i < panes->n && r == 0; i++)
		for (unsigned event = 0; event < EVENTS_MAX && r == 0; event++)
			if (panes->cgroups[i].chains[event])
				r = panes_sum_move(&panes->sum, &panes->cgroups[i].chains[event], &sum);
	panes_sum_done(&panes->sum);
	panes->sum = sum;
	panes->limit = PANES_BYTES + sum.used;
	return r;
}

static int add_deltas(struct panes *panes, const struct panes_collection *collection)
{
	const struct totals_entry *entry = NULL;
	struct pane_cgroup *cgroup = NULL;
	int r = 0;

	for (size_t i = 0; i < collection->n && r == 0; i++) {
		const struct delta *delta = &collection->list[i];

		if (delta->size == 0)
			continue;
		if (delta->entry != entry) {
			entry = delta->entry;
			r = cgroup_of(panes, entry, &cgroup);
			if (r < 0)
				break;
		}
		r = panes_sum_add(&panes->sum, &cgroup->chains[delta->event], delta->packed, delta->size);
		if (r == 0 && panes->sum.used > panes->limit)
			r = add_up(panes);
	}
	return r;
}

/* ---- events ---- */

static void take_events(struct panes *panes, const struct snapshot *head)
{
	panes->origin = head->origin;
	panes->n_events = head->n_events;
	for (size_t i = 0; i < head->n_events; i++) {
		panes->events[i] = head->events[i].event;
		memcpy(panes->keys[i], head->events[i].key, sizeof(panes->keys[i]));
		if (event_json_write(&head->events[i].event, head->origin, panes->texts[i]) < 0)
			panes->texts[i][0] = 0;
	}
}

/* Takes the settings that are in force at the end of the pane. */
static void take_present(struct panes *panes, const struct panes_collection *collection)
{
	for (size_t i = 0; i < panes->n_events; i++) {
		const struct snapshot_event *event = &collection->head->events[i];

		panes->events[i].period = event->event.period;
		panes->frequency_hz[i] = event->frequency_hz.known ? (u64)event->frequency_hz.value : 0;
		panes->now[i] = collection->readings[i];
	}
}

static bool events_changed(const struct panes *panes, const struct snapshot *head)
{
	if (panes->n_events != head->n_events)
		return true;
	for (size_t i = 0; i < head->n_events; i++)
		if (!event_json_same(&panes->events[i], &head->events[i].event) ||
		    strcmp(panes->keys[i], head->events[i].key) != 0)
			return true;
	return false;
}

static void describe_events(const struct panes *panes, struct history_event *ret)
{
	for (size_t i = 0; i < panes->n_events; i++) {
		const struct reading gained = reading_delta(&panes->now[i], &panes->before[i]);

		ret[i] = (struct history_event){
			.key = panes->keys[i],
			.settings = panes->texts[i],
			.period = panes->events[i].period,
			.frequency_hz = panes->frequency_hz[i],
			.counted = gained.counted,
			.throttle_known = gained.throttle_known,
		};
#define COPY(name) ret[i].name = gained.name;
		EVENT_COUNTS_OF_READING(COPY)
#undef COPY
	}
}

/* ---- panes ---- */

/* Fills in cgroups and rows, which the caller allocated for all that there may be. */
static void fill_rows(struct panes *panes, struct history_pane *pane)
{
	const struct container_lookup *containers = panes->settings.containers;

	for (size_t i = 0; i < panes->n; i++) {
		struct pane_cgroup *cgroup = &panes->cgroups[i];
		size_t rows = pane->n_rows;

		for (unsigned event = 0; event < panes->n_events; event++) {
			struct history_row *row = &pane->rows[pane->n_rows];

			if (!cgroup->chains[event])
				continue;
			*row = (struct history_row){.cgroup = (u32)pane->n_cgroups, .event = event};
			row->packed = panes_sum_packed(&panes->sum, cgroup->chains[event], &row->size);
			pane->n_rows++;
		}
		if (pane->n_rows == rows)
			continue;
		pane->cgroups[pane->n_cgroups++] = (struct history_cgroup){
			.path = cgroup->path,
			.id = cgroup->id,
			.labels = labels_json_of(
				&cgroup->labels,
				containers ? containers->find(containers->userdata, cgroup->path) : NULL),
		};
	}
}

static int complete(struct panes *panes)
{
	struct history_event events[EVENTS_MAX];
	_cleanup_free_ struct history_cgroup *cgroups = NULL;
	_cleanup_free_ struct history_row *rows = NULL;
	struct history_pane pane = {
		.start_us = panes->start_us,
		.end_us = panes->last.realtime_us,
		.covered_ns = panes->last.monotonic_ns - panes->start.monotonic_ns,
		.run = panes->run,
		.n_events = panes->n_events,
		.events = events,
	};
	size_t n = 0;
	int r = add_up(panes);

	if (r < 0)
		return r;
	for (size_t i = 0; i < panes->n; i++)
		for (unsigned event = 0; event < EVENTS_MAX; event++)
			n += panes->cgroups[i].chains[event] != 0;
	pane.cgroups = cgroups = calloc(panes->n + 1, sizeof(*cgroups));
	pane.rows = rows = calloc(n + 1, sizeof(*rows));
	if (!cgroups || !rows)
		return -ENOMEM;
	describe_events(panes, events);
	fill_rows(panes, &pane);
	panes->settings.complete(panes->settings.userdata, &pane);
	return 0;
}

/* The number of a run is the time at which it begins, so no two runs have the same. */
static void begin_run(struct panes *panes)
{
	panes->run = panes->start_us > panes->run ? panes->start_us : panes->run + 1;
	panes->new_run = false;
}

void panes_end(struct panes *panes)
{
	int r = panes->error;

	if (panes->collections == 0 || panes->last.realtime_us <= panes->start_us)
		return;
	if (panes->new_run)
		begin_run(panes);
	if (r == 0)
		r = complete(panes);
	if (r < 0) {
		panes->settings.lost(panes->settings.userdata, r);
		panes_break(panes);
	}
	panes->start = panes->last;
	panes->start_us = panes->last.realtime_us;
	panes->collections = 0;
	panes->error = 0;
	memcpy(panes->before, panes->now, sizeof(panes->before));
	panes_sum_done(&panes->sum);
	panes->limit = PANES_BYTES;
	begin_cgroups(panes);
}

static bool was_set(const struct panes *panes, const struct clocks *at)
{
	const u64 passed_us = (at->monotonic_ns - panes->last.monotonic_ns) / 1000;
	const u64 expected_us = panes->last.realtime_us + passed_us;
	const u64 off_us =
		at->realtime_us > expected_us ? at->realtime_us - expected_us : expected_us - at->realtime_us;

	return off_us > PANES_STEP_US;
}

/* The wall clock was set since the last collection: the time of the next pane is that of the clock now. */
static void begin_after_step(struct panes *panes, const struct clocks *at)
{
	const u64 passed_us = (at->monotonic_ns - panes->start.monotonic_ns) / 1000;

	panes->start_us = at->realtime_us > passed_us ? at->realtime_us - passed_us : 0;
	panes->new_run = true;
}

void panes_add(struct panes *panes, const struct panes_collection *collection)
{
	const bool set = was_set(panes, &collection->at);
	int r;

	if (set || (panes->collections && events_changed(panes, collection->head)))
		panes_end(panes);
	if (set)
		begin_after_step(panes, &collection->at);
	if (panes->collections == 0)
		take_events(panes, collection->head);
	panes->last = collection->at;
	panes->collections++;
	take_present(panes, collection);
	r = panes->error ? 0 : add_deltas(panes, collection);
	if (r < 0) {
		panes->error = r;
		panes_sum_done(&panes->sum);
		for (size_t i = 0; i < panes->n; i++)
			memset(panes->cgroups[i].chains, 0, sizeof(panes->cgroups[i].chains));
	}
	if (collection->at.realtime_us / HISTORY_PANE_US != panes->start_us / HISTORY_PANE_US ||
	    collection->head->paused != panes->paused)
		panes_end(panes);
	panes->paused = collection->head->paused;
}
