// SPDX-License-Identifier: GPL-2.0
/* The ledger kept beyond the process: what changes is put into the state, and taken back. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "collect/ledger_parts.h"
#include "collect/pairs.h"
#include "collect/path_state.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

static u64 left_key(u32 number, unsigned event)
{
	return (u64)number << 8 | event;
}

/* `other` and `unattributed` are always there, under their numbers. */
static bool is_fixed(const struct ledger_entry *entry)
{
	return entry == entry->ledger->other || entry == entry->ledger->unattributed;
}

void ledger_save_entry(struct ledger_entry *entry)
{
	u8 bytes[(size_t)3 * VARINT_MAX + PATH_STATE_MAX];
	struct state_writer writer = {.to = bytes};

	if (!entry->ledger->state || is_fixed(entry))
		return;
	state_put_number(&writer, entry->id);
	state_put_number(&writer, entry->died_ns);
	state_put_number(&writer, entry->guest);
	path_save(&writer, entry->path, entry->number);
	state_put(entry->ledger->state, &entry->record, STATE_ENTRY, entry->number, bytes,
		  (size_t)(writer.to - bytes));
}

void ledger_entry_changed(struct ledger_entry *entry)
{
	ledger_save_entry(entry);
}

void ledger_save_left(const struct ledger_entry *entry, struct ledger_sum *sum)
{
	state_put(entry->ledger->state, &sum->record, STATE_LEFT, left_key(entry->number, sum->event),
		  sum->left, sum->size);
}

void ledger_save_offcore(struct ledger_entry *entry)
{
	state_put(entry->ledger->state, &entry->offcore_record, STATE_COUNTED, entry->number,
		  entry->offcore_total, sizeof(*entry->offcore_total));
}

static int restore_entry(struct ledger *ledger, const struct state_record *record)
{
	_cleanup_(ledger_entry_freep) struct ledger_entry *entry = NULL;
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	_cleanup_free_ char *path = NULL;
	u64 id = state_get_number(&reader), died_ns = state_get_number(&reader),
	    guest = state_get_number(&reader);
	int r = path_restore(&reader, &path);

	if (r < 0)
		return r;
	/* By ascending number; the first two are not among them. */
	if (record->key < ledger->next_number || record->key >= UINT32_MAX || guest > 1 ||
	    ledger_find(ledger, path))
		return -EBADMSG;
	ledger->next_number = (u32)record->key;
	r = ledger_entry_new(ledger, path, &entry);
	if (r < 0)
		return r;
	entry->id = id;
	entry->died_ns = died_ns;
	entry->guest = guest;
	r = ledger_enter(ledger, entry);
	if (r < 0)
		return r;
	state_take(ledger->state, record, &entry->record);
	(void)TAKE_PTR(entry);
	return 0;
}

struct ledger_entry *ledger_numbered(const struct ledger *ledger, u32 number)
{
	size_t first = 0, n = ledger->n;

	if (number == ledger->other->number)
		return ledger->other;
	if (number == ledger->unattributed->number)
		return ledger->unattributed;
	while (first < n) {
		size_t middle = first + (n - first) / 2;

		if (ledger->entries[middle]->number < number)
			first = middle + 1;
		else
			n = middle;
	}
	return first < ledger->n && ledger->entries[first]->number == number ? ledger->entries[first] : NULL;
}

static int restore_left(struct ledger *ledger, const struct state_record *record)
{
	struct ledger_entry *entry =
		record->key >> 40 ? NULL : ledger_numbered(ledger, (u32)(record->key >> 8));
	unsigned event = record->key & 0xff;
	struct ledger_sum *sum;
	u8 *left;

	if (!entry || event >= EVENTS_MAX || record->length == 0 ||
	    !pairs_sound(record->bytes, record->length))
		return -EBADMSG;
	left = malloc(record->length);
	sum = left ? ledger_new_sum(entry, event, false) : NULL;
	if (!sum) {
		free(left);
		return -ENOMEM;
	}
	memcpy(left, record->bytes, record->length);
	sum->left = left;
	sum->size = record->length;
	state_take(ledger->state, record, &sum->record);
	return 0;
}

static int restore_offcore(struct ledger *ledger, const struct state_record *record)
{
	struct ledger_entry *entry = record->key >> 32 ? NULL : ledger_numbered(ledger, (u32)record->key);

	if (!entry || record->length != sizeof(*entry->offcore_total))
		return -EBADMSG;
	if (ledger_need_offcore(&entry->offcore_total) < 0)
		return -ENOMEM;
	memcpy(entry->offcore_total, record->bytes, record->length);
	state_take(ledger->state, record, &entry->offcore_record);
	return 0;
}

static int restore_each(struct ledger *ledger, u32 kind,
			int (*restore)(struct ledger *ledger, const struct state_record *record))
{
	const struct state_record *records;
	size_t n;
	int r = 0;

	records = state_records(ledger->state, kind, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = restore(ledger, &records[i]);
	return r;
}

int ledger_keep(struct ledger *ledger, struct state *state)
{
	int r;

	ledger->state = state;
	r = restore_each(ledger, STATE_ENTRY, restore_entry);
	if (r == 0)
		r = restore_each(ledger, STATE_LEFT, restore_left);
	if (r == 0)
		r = restore_each(ledger, STATE_COUNTED, restore_offcore);
	return r;
}
