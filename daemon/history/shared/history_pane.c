// SPDX-License-Identifier: GPL-2.0
#include "history/shared/history_pane.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "collect/packed.h"
#include "history/shared/history_bytes.h"

#define EVENTS_OF_PANE_MAX (4UL * EVENTS_MAX)

enum {
	FLAG_COUNTED = 1 << 0,
	FLAG_THROTTLE_KNOWN = 1 << 1,
	FLAGS = FLAG_COUNTED | FLAG_THROTTLE_KNOWN,
};

/* Numbers beside the texts and packed counters: of the pane, an event, a cgroup and a row. */
#define NUMBERS_OF_PANE   8UL
#define NUMBERS_OF_EVENT  (5UL + HISTORY_COUNTS_N)
#define NUMBERS_OF_CGROUP 3UL
#define NUMBERS_OF_ROW    3UL

/* The fewest bytes of each: every number takes one, a text its NUL, and a pair is two numbers. */
#define EVENT_BYTES_MIN  (NUMBERS_OF_EVENT + 2)
#define CGROUP_BYTES_MIN (NUMBERS_OF_CGROUP + 2)
#define ROW_BYTES_MIN    (NUMBERS_OF_ROW + 2)

/* Adds the text's size. Returns false if it is too long. */
static bool add_text(size_t *bound, const char *text)
{
	size_t size = strnlen(text, HISTORY_TEXT_MAX) + 1;

	*bound += size;
	return size <= HISTORY_TEXT_MAX;
}

/* Returns the most bytes that the pane can take, or 0 if something is above its limit. */
static size_t bound_of(const struct history_pane *pane)
{
	size_t bound = NUMBERS_OF_PANE * VARINT_MAX;

	if (pane->n_events > EVENTS_OF_PANE_MAX || pane->n_cgroups > HISTORY_CGROUPS_MAX ||
	    pane->n_rows > pane->n_events * pane->n_cgroups)
		return 0;
	for (size_t i = 0; i < pane->n_events; i++) {
		bound += NUMBERS_OF_EVENT * VARINT_MAX;
		if (!add_text(&bound, pane->events[i].key) || !add_text(&bound, pane->events[i].settings))
			return 0;
	}
	for (size_t i = 0; i < pane->n_cgroups; i++) {
		bound += NUMBERS_OF_CGROUP * VARINT_MAX;
		if (!add_text(&bound, pane->cgroups[i].path) || !add_text(&bound, pane->cgroups[i].labels))
			return 0;
	}
	for (size_t i = 0; i < pane->n_rows; i++)
		bound += NUMBERS_OF_ROW * VARINT_MAX + pane->rows[i].size;
	return bound;
}

static void put_event(struct state_writer *writer, const struct history_event *event)
{
	history_put_text(writer, event->key);
	history_put_text(writer, event->settings);
	state_put_number(writer, event->period);
	state_put_number(writer, event->frequency_hz);
	state_put_number(writer, (event->counted ? FLAG_COUNTED : 0) |
					 (event->throttle_known ? FLAG_THROTTLE_KNOWN : 0));
	for (unsigned i = 0; i < HISTORY_COUNTS_N; i++)
		state_put_number(writer, event->counts[i]);
}

static void put_head(struct state_writer *writer, const struct history_pane *pane)
{
	state_put_number(writer, pane->id);
	state_put_number(writer, pane->start_us);
	state_put_number(writer, pane->end_us);
	state_put_number(writer, pane->covered_ns);
	state_put_number(writer, pane->run);
	state_put_number(writer, pane->n_events);
	state_put_number(writer, pane->n_cgroups);
	state_put_number(writer, pane->n_rows);
}

int history_pane_write(const struct history_pane *pane, u8 **ret, size_t *ret_size)
{
	size_t bound = bound_of(pane);
	struct state_writer writer;
	u8 *block;

	if (bound == 0 || bound > HISTORY_PANE_BYTES_MAX)
		return -E2BIG;
	block = malloc(bound);
	if (!block)
		return -ENOMEM;
	writer.to = block;
	put_head(&writer, pane);
	for (size_t i = 0; i < pane->n_events; i++)
		put_event(&writer, &pane->events[i]);
	for (size_t i = 0; i < pane->n_cgroups; i++) {
		history_put_text(&writer, pane->cgroups[i].path);
		history_put_text(&writer, pane->cgroups[i].labels);
		state_put_number(&writer, pane->cgroups[i].id);
	}
	for (size_t i = 0; i < pane->n_rows; i++) {
		state_put_number(&writer, pane->rows[i].cgroup);
		state_put_number(&writer, pane->rows[i].event);
		state_put_number(&writer, pane->rows[i].size);
		state_put_bytes(&writer, pane->rows[i].packed, pane->rows[i].size);
	}
	*ret_size = (size_t)(writer.to - block);
	*ret = block;
	return 0;
}

static void get_event(struct state_reader *reader, struct history_event *ret)
{
	u64 flags;

	ret->key = history_get_text(reader, HISTORY_TEXT_MAX);
	ret->settings = history_get_text(reader, HISTORY_TEXT_MAX);
	ret->period = state_get_number(reader);
	ret->frequency_hz = state_get_number(reader);
	flags = state_get_number(reader);
	if (flags & ~(u64)FLAGS)
		reader->bad = true;
	ret->counted = flags & FLAG_COUNTED;
	ret->throttle_known = flags & FLAG_THROTTLE_KNOWN;
	for (unsigned i = 0; i < HISTORY_COUNTS_N; i++)
		ret->counts[i] = state_get_number(reader);
}

/* No two events of a pane have the same key and settings. */
static bool is_event_again(const struct history_pane *pane, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(pane->events[i].key, pane->events[index].key) == 0 &&
		    strcmp(pane->events[i].settings, pane->events[index].settings) == 0)
			return true;
	return false;
}

/* The rows must be in order, so that none occurs twice. */
static bool is_row(const struct history_pane *pane, const struct history_row *row,
		   const struct history_row *previous)
{
	if (row->cgroup >= pane->n_cgroups || row->event >= pane->n_events)
		return false;
	return !previous || row->cgroup > previous->cgroup ||
	       (row->cgroup == previous->cgroup && row->event > previous->event);
}

static void get_row(struct state_reader *reader, const struct history_pane *pane, size_t index)
{
	u64 cgroup = state_get_number(reader);
	u64 event = state_get_number(reader);
	u64 size = state_get_number(reader);
	struct history_row *row = &pane->rows[index];

	if (cgroup > UINT32_MAX || event > UINT32_MAX || size == 0 || size > PACKED_MAX ||
	    size > (size_t)(reader->end - reader->from))
		reader->bad = true;
	if (reader->bad)
		return;
	*row = (struct history_row){(u32)cgroup, (u32)event, (u32)size, reader->from};
	reader->from += size;
	reader->bad = !is_row(pane, row, index > 0 ? row - 1 : NULL) || !packed_sound(row->packed, row->size);
}

/* The numbers of a block that is too short for them are refused before memory is allocated for them. */
static bool get_head(struct state_reader *reader, struct history_pane *ret)
{
	size_t left;

	ret->id = state_get_number(reader);
	ret->start_us = state_get_number(reader);
	ret->end_us = state_get_number(reader);
	ret->covered_ns = state_get_number(reader);
	ret->run = state_get_number(reader);
	ret->n_events = state_get_number(reader);
	ret->n_cgroups = state_get_number(reader);
	ret->n_rows = state_get_number(reader);
	left = (size_t)(reader->end - reader->from);
	return !reader->bad && ret->start_us < ret->end_us && ret->n_events <= EVENTS_OF_PANE_MAX &&
	       ret->n_events <= left / EVENT_BYTES_MIN && ret->n_cgroups <= HISTORY_CGROUPS_MAX &&
	       ret->n_cgroups <= left / CGROUP_BYTES_MIN && ret->n_rows <= left / ROW_BYTES_MIN &&
	       ret->n_rows <= ret->n_events * ret->n_cgroups;
}

static int get_pane(struct state_reader *reader, struct history_pane *ret)
{
	if (!get_head(reader, ret))
		return -EBADMSG;
	ret->events = calloc(ret->n_events + 1, sizeof(*ret->events));
	ret->cgroups = calloc(ret->n_cgroups + 1, sizeof(*ret->cgroups));
	ret->rows = calloc(ret->n_rows + 1, sizeof(*ret->rows));
	if (!ret->events || !ret->cgroups || !ret->rows)
		return -ENOMEM;
	for (size_t i = 0; i < ret->n_events && !reader->bad; i++) {
		get_event(reader, &ret->events[i]);
		reader->bad = reader->bad || is_event_again(ret, i);
	}
	for (size_t i = 0; i < ret->n_cgroups && !reader->bad; i++) {
		ret->cgroups[i].path = history_get_text(reader, HISTORY_TEXT_MAX);
		ret->cgroups[i].labels = history_get_text(reader, HISTORY_TEXT_MAX);
		ret->cgroups[i].id = state_get_number(reader);
	}
	for (size_t i = 0; i < ret->n_rows && !reader->bad; i++)
		get_row(reader, ret, i);
	return reader->bad ? -EBADMSG : 0;
}

int history_pane_read(const u8 *block, size_t size, struct history_pane *ret, size_t *ret_used)
{
	struct state_reader reader = {.from = block, .end = block + size};
	struct history_pane pane = {0};
	int r;

	if (size > HISTORY_PANE_BYTES_MAX)
		reader.end = block + HISTORY_PANE_BYTES_MAX;
	r = get_pane(&reader, &pane);
	if (r < 0) {
		history_pane_done(&pane);
		return r;
	}
	*ret = pane;
	*ret_used = (size_t)(reader.from - block);
	return 0;
}

void history_pane_done(struct history_pane *pane)
{
	free(pane->events);
	free(pane->cgroups);
	free(pane->rows);
	*pane = (struct history_pane){0};
}
