// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/row_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/packed.h"
#include "state/state_bytes.h"

bool row_data_get(struct row_reader *reader, struct row_part *ret)
{
	u64 size;

	if (reader->from == reader->end)
		return false;
	reader->from = get_varint(reader->from, &ret->event);
	reader->from = get_varint(reader->from, &size);
	ret->size = (u32)size;
	ret->packed = reader->from;
	reader->from += size;
	return true;
}

u8 *row_data_put(u8 *to, const struct row_part *part)
{
	to = put_varint(to, part->event);
	to = put_varint(to, part->size);
	memcpy(to, part->packed, part->size);
	return to + part->size;
}

bool row_data_sound(const u8 *data, size_t size)
{
	struct state_reader reader = {.from = data, .end = data + size};
	u64 previous = 0;

	while (!reader.bad && reader.from != reader.end) {
		u64 event = state_get_number(&reader);
		u64 bytes = state_get_number(&reader);

		if (reader.bad || event <= previous || bytes == 0 || bytes > PACKED_MAX ||
		    bytes > (size_t)(reader.end - reader.from) || !packed_sound(reader.from, bytes))
			return false;
		reader.from += bytes;
		previous = event;
	}
	return !reader.bad;
}

struct row_sum_event {
	u64 id;
	struct packed_sum sum;
};

/* Returns the event with this id, which is added if it is missing. Its index is at least `at`. NULL: no memory. */
static struct row_sum_event *event_from(struct row_sum *sum, size_t at, u64 id)
{
	while (at < sum->n && sum->events[at].id < id)
		at++;
	if (at < sum->n && sum->events[at].id == id)
		return &sum->events[at];
	if (sum->n == sum->room) {
		size_t room = 2 * sum->room + 4;
		struct row_sum_event *events = reallocarray(sum->events, room, sizeof(*events));

		if (!events)
			return NULL;
		sum->events = events;
		sum->room = room;
	}
	memmove(&sum->events[at + 1], &sum->events[at], (sum->n - at) * sizeof(*sum->events));
	sum->events[at] = (struct row_sum_event){.id = id};
	sum->n++;
	return &sum->events[at];
}

int row_sum_add(struct row_sum *sum, const u8 *data, size_t size)
{
	struct row_reader reader = {.from = data, .end = data + size};
	struct row_part part;
	size_t at = 0;

	while (row_data_get(&reader, &part)) {
		struct row_sum_event *event = event_from(sum, at, part.event);

		if (!event)
			return -ENOMEM;
		packed_sum_add(&event->sum, part.packed, part.size);
		at = (size_t)(event - sum->events) + 1;
	}
	sum->size += size;
	return 0;
}

u8 *row_sum_take(struct row_sum *sum, u8 *to)
{
	u8 packed[PACKED_MAX];

	for (size_t i = 0; i < sum->n; i++) {
		size_t size = packed_sum_take(&sum->events[i].sum, packed);

		if (size > 0)
			to = row_data_put(to, &(struct row_part){sum->events[i].id, packed, (u32)size});
	}
	sum->size = 0;
	return to;
}

void row_sum_done(struct row_sum *sum)
{
	free(sum->events);
	*sum = (struct row_sum){0};
}
