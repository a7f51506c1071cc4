// SPDX-License-Identifier: GPL-2.0
#include "history_fixture.h"

#include <stdio.h>
#include <string.h>

#include "collect/packed.h"
#include "random_numbers.h"

#define USEC_PER_SEC 1000000ULL

/* A pane with the memory of its texts and packed counters. */
struct made {
	struct history_pane pane;
	u8 *packed;
	char *texts;
};

#define TEXT_ROOM 64

static void *demand(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/*
 * `counters` of them, spread over all of struct counters. Four of five are the same in every pane of the cgroup, like
 * the sources and the usual latencies of a program. The fifth varies. Every fourth value is large, like a sum of
 * periods.
 */
static u32 make_packed(u64 *state, u64 cgroup, unsigned counters, u8 *to)
{
	struct packed_writer writer = {.to = to};
	unsigned stride = COUNTER_COUNT / counters;

	for (unsigned i = 0; i < counters; i++) {
		u64 usual = cgroup * 131 + i;
		u64 where = i % 5 == 4 ? splitmix(state) : splitmix(&usual);
		u64 bits = 1 + splitmix(state) % (i % 4 == 0 ? 30 : 8);

		packed_put(&writer, i * stride + (unsigned)(where % stride),
			   1 + splitmix(state) % (1ULL << bits));
	}
	return (u32)(writer.to - to);
}

/* A count has samples and their weight, of no source. */
static u32 make_count(u64 *state, u8 *to)
{
	struct packed_writer writer = {.to = to};
	u64 samples = 1 + splitmix(state) % 200;

	packed_put(&writer, offsetof(struct counters, samples) / sizeof(u64), samples);
	packed_put(&writer, offsetof(struct counters, weight) / sizeof(u64), samples * 1000003);
	return (u32)(writer.to - to);
}

static void make_events(struct history_pane *pane, const struct history_fixture *fixture, u64 *state,
			char *texts)
{
	for (u32 i = 0; i < pane->n_events; i++) {
		struct history_event *event = &pane->events[i];

		(void)snprintf(texts + (size_t)i * TEXT_ROOM, TEXT_ROOM, "%s:%u",
			       i < fixture->loads ? "loads"
			       : i % 2            ? "cycles"
						  : "stalls",
			       i);
		*event = (struct history_event){.key = texts + (size_t)i * TEXT_ROOM,
						.settings = fixture->settings ? fixture->settings : "{}",
						.period = 1000 + i,
						.counted = true,
						.throttle_known = true};
		for (unsigned n = 0; n < HISTORY_COUNTS_N; n++)
			event->counts[n] = splitmix(state) % 1000;
	}
}

struct history_pane *history_fixture_new(const struct history_fixture *fixture)
{
	u64 state = fixture->seed;
	unsigned events = fixture->loads + fixture->counts;
	u64 seconds = fixture->seconds ? fixture->seconds : HISTORY_PANE_SECONDS;
	struct made *made = demand(calloc(1, sizeof(*made)));
	struct history_pane *pane = &made->pane;
	u8 *at;

	*pane = (struct history_pane){.start_us = fixture->end_us - seconds * USEC_PER_SEC,
				      .end_us = fixture->end_us,
				      .covered_ns = seconds * NSEC_PER_SEC,
				      .run = fixture->run,
				      .n_events = events,
				      .n_cgroups = fixture->cgroups};
	pane->events = demand(calloc(events + 1, sizeof(*pane->events)));
	pane->cgroups = demand(calloc(fixture->cgroups + 1, sizeof(*pane->cgroups)));
	pane->rows = demand(calloc((size_t)fixture->cgroups * events + 1, sizeof(*pane->rows)));
	made->texts = demand(calloc(events + fixture->cgroups + 1, TEXT_ROOM));
	made->packed = demand(malloc((size_t)fixture->cgroups *
					     (fixture->loads * fixture->counters + fixture->counts * 2) * 8 +
				     1));
	make_events(pane, fixture, &state, made->texts);
	at = made->packed;
	for (u32 i = 0; i < fixture->cgroups; i++) {
		char *path = made->texts + (size_t)(events + i) * TEXT_ROOM;

		(void)snprintf(path, TEXT_ROOM, "/fixture/%u", fixture->first + i);
		pane->cgroups[i] = (struct history_cgroup){path, "{\"a\":\"b\"}", 100 + fixture->first + i};
		for (u32 event = 0; event < events; event++) {
			u32 size = event < fixture->loads
					   ? make_packed(&state, fixture->first + i, fixture->counters, at)
					   : make_count(&state, at);

			pane->rows[pane->n_rows++] = (struct history_row){i, event, size, at};
			at += size;
		}
	}
	return pane;
}

struct history_pane *history_fixture_free(struct history_pane *pane)
{
	struct made *made = (struct made *)pane;

	if (!pane)
		return NULL;
	history_pane_done(pane);
	free(made->packed);
	free(made->texts);
	free(made);
	return NULL;
}

static u64 row_sum(const struct history_row *row, unsigned counter)
{
	struct packed_reader reader = {.from = row->packed, .end = row->packed + row->size};
	u64 value, sum = 0;
	unsigned at;

	while (packed_get(&reader, &at, &value))
		if (counter == COUNTER_COUNT || at == counter)
			sum += value;
	return sum;
}

u64 history_fixture_sum(const struct history_pane *pane, u32 event, unsigned counter)
{
	u64 sum = 0;

	for (size_t i = 0; i < pane->n_rows; i++)
		if (pane->rows[i].event == event)
			sum += row_sum(&pane->rows[i], counter);
	return sum;
}

u64 history_fixture_total(const struct history_pane *pane, const char *path, const char *key)
{
	u64 sum = 0;

	for (size_t i = 0; i < pane->n_rows; i++)
		if ((!path || strcmp(pane->cgroups[pane->rows[i].cgroup].path, path) == 0) &&
		    (!key || strcmp(pane->events[pane->rows[i].event].key, key) == 0))
			sum += row_sum(&pane->rows[i], COUNTER_COUNT);
	return sum;
}
