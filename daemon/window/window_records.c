// SPDX-License-Identifier: GPL-2.0
#include "window/window_records.h"

#include <stdlib.h>
#include <string.h>

#include "collect/pairs.h"

u8 *record_put_header(u8 *to, u32 entry, u32 event, size_t size)
{
	to = put_varint(to, entry);
	to = put_varint(to, event);
	return put_varint(to, size);
}

struct record record_get(const u8 *from)
{
	u64 entry;
	u64 event;
	u64 size;

	from = get_varint(from, &entry);
	from = get_varint(from, &event);
	from = get_varint(from, &size);
	return (struct record){.entry = (u32)entry, .event = (u32)event, .pairs = from, .size = size};
}

int record_compare(const void *a, const void *b)
{
	const struct record *left = a;
	const struct record *right = b;

	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

void records_sort(struct record *records, size_t n)
{
	qsort(records, n, sizeof(*records), record_compare);
}

struct record *records_find(const u8 *data, size_t size, struct record *to)
{
	for (const u8 *from = data; from < data + size; to++) {
		*to = record_get(from);
		from = to->pairs + to->size;
	}
	return to;
}

size_t records_add_up(const struct record *records, size_t n, u8 *to, size_t *ret_size)
{
	struct pairs_sum sum = {0};
	u8 *begin = to;
	size_t written = 0;

	for (size_t i = 0; i < n; written++) {
		const struct record *first = &records[i];
		u8 pairs[PAIRS_MAX];
		size_t size;

		for (; i < n && record_compare(&records[i], first) == 0; i++)
			pairs_sum_add(&sum, records[i].pairs, records[i].size);
		size = pairs_sum_take(&sum, pairs);
		to = record_put_header(to, first->entry, first->event, size);
		memcpy(to, pairs, size);
		to += size;
	}
	*ret_size = (size_t)(to - begin);
	return written;
}
