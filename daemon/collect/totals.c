// SPDX-License-Identifier: GPL-2.0
#include "collect/totals.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdint.h>
#include <string.h>

#include "base/heap.h"
#include "collect/packed.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

struct totals {
	void *by_path; /* tsearch(3) tree of struct totals_entry */
	struct totals_entry **entries;
	size_t n;
	size_t allocated;
	u32 next_number;
	struct totals_entry *other;
	struct totals_entry *unattributed;
	struct totals_entry *offcore;           /* entries with an off-core delta */
	struct totals_entry *oldest, *youngest; /* of the entries without holders */
	size_t n_unheld;
	size_t unheld_bytes; /* of all entries without holders */
	u64 begun;           /* collections begun */
	struct state *state; /* borrowed; NULL: nothing is saved */
};

/*
 * The key under which the state holds an entry's `former` sum: the entry's number, and the event in the low 8
 * bits. restore_former() takes it apart.
 */
static u64 former_key(u32 number, unsigned event)
{
	return (u64)number << 8 | event;
}

/* Per entry: its node in the tree (tsearch(3)), and its place in the array, which may have twice as many. */
#define TREE_BYTES  (4 * sizeof(void *))
#define PLACE_BYTES (2 * sizeof(void *))

/* `other` and `unattributed` always exist and have fixed numbers. */
static bool is_fixed(const struct totals_entry *entry)
{
	return entry == entry->totals->other || entry == entry->totals->unattributed;
}

/* An entry is in the queue while it has no holders. */
static bool is_queued(const struct totals *totals, const struct totals_entry *entry)
{
	return entry->older || totals->oldest == entry;
}

static void grow_entry(struct totals_entry *entry, size_t bytes)
{
	entry->bytes += bytes;
	if (is_queued(entry->totals, entry))
		entry->totals->unheld_bytes += bytes;
}

static void shrink_entry(struct totals_entry *entry, size_t bytes)
{
	entry->bytes -= bytes;
	if (is_queued(entry->totals, entry))
		entry->totals->unheld_bytes -= bytes;
}

void totals_entry_changed(struct totals_entry *entry)
{
	u8 bytes[(size_t)3 * VARINT_MAX + PATH_MAX];
	struct state_writer writer = {.to = bytes};

	if (!entry->totals->state || is_fixed(entry))
		return;
	state_put_number(&writer, entry->id);
	state_put_number(&writer, entry->died_ns);
	state_put_number(&writer, entry->guest);
	state_put_bytes(&writer, entry->path, strnlen(entry->path, PATH_MAX));
	state_put(entry->totals->state, &entry->record, STATE_ENTRY, entry->number, bytes,
		  (size_t)(writer.to - bytes));
}

static void save_former(const struct totals_entry *entry, struct totals_sum *sum)
{
	state_put(entry->totals->state, &sum->record, STATE_MERGED, former_key(entry->number, sum->event),
		  sum->former, sum->size);
}

static void save_offcore(struct totals_entry *entry)
{
	state_put(entry->totals->state, &entry->offcore_record, STATE_COUNTED, entry->number,
		  entry->offcore_total, sizeof(*entry->offcore_total));
}

static void sum_free(struct totals_sum *sum)
{
	if (sum->present)
		last_reading_free(sum->last);
	else
		free(sum->former);
	free(sum);
}

static void entry_free(struct totals_entry *entry)
{
	if (!entry)
		return;
	for (struct totals_sum *sum = entry->sums, *next; sum; sum = next) {
		next = sum->next;
		sum_free(sum);
	}
	free(entry->offcore_total);
	free(entry->offcore_delta);
	free(entry->path);
	free(entry);
}
DEFINE_CLEANUP(struct totals_entry *, entry_free)

static int entry_new(struct totals *totals, const char *path, struct totals_entry **ret)
{
	struct totals_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->path = strdup(path);
	if (!entry->path) {
		free(entry);
		return -ENOMEM;
	}
	entry->number = totals->next_number++;
	entry->totals = totals;
	entry->bytes = heap_bytes(sizeof(*entry)) + heap_bytes(strlen(path) + 1) + TREE_BYTES + PLACE_BYTES;
	*ret = entry;
	return 0;
}

int totals_new(struct totals **ret)
{
	_cleanup_(totals_freep) struct totals *totals = calloc(1, sizeof(*totals));
	int r;

	if (!totals)
		return -ENOMEM;
	r = entry_new(totals, TOTALS_OTHER, &totals->other);
	if (r == 0)
		r = entry_new(totals, TOTALS_UNATTRIBUTED, &totals->unattributed);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(totals);
	return 0;
}

static void keep_entry(void *entry)
{
	(void)entry; /* the array owns it */
}

struct totals *totals_free(struct totals *totals)
{
	if (!totals)
		return NULL;
	tdestroy(totals->by_path, keep_entry);
	for (size_t i = 0; i < totals->n; i++)
		entry_free(totals->entries[i]);
	free(totals->entries);
	entry_free(totals->other);
	entry_free(totals->unattributed);
	free(totals);
	return NULL;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct totals_entry *)a)->path, ((const struct totals_entry *)b)->path);
}

struct totals_entry *totals_find(const struct totals *totals, const char *path)
{
	struct totals_entry key = {.path = (char *)path};
	struct totals_entry **found = tfind(&key, &totals->by_path, compare_paths);

	return found ? *found : NULL;
}

/*
 * Queues an entry without holders by its time of death. Entries mostly die in order, so the search begins at
 * the end. An entry that never had a holder comes first.
 */
static void queue_unheld(struct totals *totals, struct totals_entry *entry)
{
	struct totals_entry *older = entry->died_ns ? totals->youngest : NULL;

	while (older && older->died_ns > entry->died_ns)
		older = older->older;
	entry->older = older;
	entry->newer = older ? older->newer : totals->oldest;
	*(older ? &older->newer : &totals->oldest) = entry;
	*(entry->newer ? &entry->newer->older : &totals->youngest) = entry;
	totals->n_unheld++;
	totals->unheld_bytes += entry->bytes;
}

static void unqueue(struct totals *totals, struct totals_entry *entry)
{
	*(entry->older ? &entry->older->newer : &totals->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &totals->youngest) = entry->older;
	entry->older = entry->newer = NULL;
	totals->n_unheld--;
	totals->unheld_bytes -= entry->bytes;
}

static int grow(struct totals *totals)
{
	size_t allocated = totals->allocated ? totals->allocated * 2 : 64;
	struct totals_entry **entries;

	if (totals->n < totals->allocated)
		return 0;
	entries = reallocarray(totals->entries, allocated, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	totals->entries = entries;
	totals->allocated = allocated;
	return 0;
}

static int enter(struct totals *totals, struct totals_entry *entry)
{
	int r = grow(totals);

	if (r < 0)
		return r;
	if (!tsearch(entry, &totals->by_path, compare_paths))
		return -ENOMEM;
	totals->entries[totals->n++] = entry;
	queue_unheld(totals, entry);
	return 0;
}

int totals_get(struct totals *totals, const char *path, struct totals_entry **ret)
{
	_cleanup_(entry_freep) struct totals_entry *entry = NULL;
	int r;

	*ret = totals_find(totals, path);
	if (*ret)
		return 0;
	r = entry_new(totals, path, &entry);
	if (r == 0)
		r = enter(totals, entry);
	if (r < 0)
		return r;
	totals_entry_changed(entry);
	*ret = TAKE_PTR(entry);
	return 0;
}

struct totals_entry *totals_other(const struct totals *totals)
{
	return totals->other;
}

struct totals_entry *totals_unattributed(const struct totals *totals)
{
	return totals->unattributed;
}

bool totals_has(const struct totals_entry *entry, unsigned event)
{
	for (const struct totals_sum *sum = entry->sums; sum; sum = sum->next)
		if (sum->event == event && (sum->present ? (const void *)sum->last : sum->former))
			return true;
	return false;
}

void totals_counters(const struct totals_entry *entry, unsigned event, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (const struct totals_sum *sum = entry->sums; sum; sum = sum->next) {
		if (sum->event != event)
			continue;
		if (!sum->present)
			packed_add(sum->former, sum->size, ret);
		else if (sum->last)
			last_reading_add(sum->last, ret);
	}
}

void totals_hold(struct totals_entry *entry)
{
	if (is_queued(entry->totals, entry))
		unqueue(entry->totals, entry);
	entry->holders++;
}

void totals_died(struct totals_entry *entry, u64 now_ns)
{
	unqueue(entry->totals, entry);
	entry->died_ns = now_ns;
	queue_unheld(entry->totals, entry);
	totals_entry_changed(entry);
}

void totals_protect(struct totals_entry *entry)
{
	entry->unheld = entry->totals->begun + 1;
}

void totals_unhold(struct totals_entry *entry)
{
	if (--entry->holders > 0)
		return;
	totals_protect(entry);
	queue_unheld(entry->totals, entry);
}

static struct totals_sum *new_sum(struct totals_entry *entry, unsigned event, bool present)
{
	struct totals_sum *sum = malloc(sizeof(*sum));

	if (!sum)
		return NULL;
	*sum = (struct totals_sum){.next = entry->sums, .event = (u16)event, .present = present};
	entry->sums = sum;
	grow_entry(entry, heap_bytes(sizeof(*sum)));
	return sum;
}

struct totals_sum *totals_sum(struct totals_entry *entry, struct totals_sum **of_slot, unsigned event)
{
	struct totals_sum *sum = *of_slot;

	while (sum && sum->event != event)
		sum = sum->of_slot;
	if (sum)
		return sum;
	sum = new_sum(entry, event, true);
	if (!sum)
		return NULL;
	sum->of_slot = *of_slot;
	*of_slot = sum;
	return sum;
}

/* Returns the sum of former slots for an event; a new, empty one if there was none. NULL: no memory. */
static struct totals_sum *former_of(struct totals_entry *entry, unsigned event)
{
	struct totals_sum *sum = entry->sums;

	while (sum && (sum->present || sum->event != event))
		sum = sum->next;
	return sum ? sum : new_sum(entry, event, false);
}

static size_t former_bytes(const struct totals_sum *sum)
{
	return !sum->present && sum->former ? heap_bytes(sum->size) : 0;
}

/* Adds counters to the sum of former slots. Returns 0, or -ENOMEM with nothing added. */
static int add_to_former(struct totals_entry *entry, unsigned event, const struct counters *counters)
{
	struct totals_sum *sum = former_of(entry, event);
	struct counters total = *counters;
	u8 packed[PACKED_MAX];
	u8 *former;
	size_t size;

	if (!sum)
		return -ENOMEM;
	packed_add(sum->former, sum->size, &total);
	size = packed_of(&total, packed);
	if (size == 0)
		return 0;
	former = malloc(size);
	if (!former)
		return -ENOMEM;
	memcpy(former, packed, size);
	shrink_entry(entry, former_bytes(sum));
	free(sum->former);
	sum->former = former;
	sum->size = (u32)size;
	grow_entry(entry, former_bytes(sum));
	save_former(entry, sum);
	return 0;
}

int totals_add(struct totals_entry *entry, unsigned event, const u8 *packed, size_t size)
{
	struct counters counters = {0};

	packed_add(packed, size, &counters);
	return add_to_former(entry, event, &counters);
}

static void remove_sum(struct totals_entry *entry, struct totals_sum *sum)
{
	struct totals_sum **place = &entry->sums;

	while (*place != sum)
		place = &(*place)->next;
	*place = sum->next;
	state_remove(entry->totals->state, &sum->record);
	shrink_entry(entry, heap_bytes(sizeof(*sum)) + former_bytes(sum));
	sum_free(sum);
}

int totals_merge(struct totals_entry *entry, struct totals_sum **of_slot)
{
	struct totals_sum *sum = *of_slot;
	struct counters brought = {0};
	int r = 0;

	if (sum->last) {
		last_reading_add(sum->last, &brought);
		r = add_to_former(entry, sum->event, &brought);
	}
	if (r < 0)
		return r;
	*of_slot = sum->of_slot;
	remove_sum(entry, sum);
	return 0;
}

static int need_offcore(struct offcore_counts **counters)
{
	if (!*counters)
		*counters = calloc(1, sizeof(**counters));
	return *counters ? 0 : -ENOMEM;
}

static int need_offcore_total(struct totals_entry *entry)
{
	bool had = entry->offcore_total;
	int r = need_offcore(&entry->offcore_total);

	if (r == 0 && !had)
		grow_entry(entry, heap_bytes(sizeof(*entry->offcore_total)));
	return r;
}

int totals_reserve_offcore(struct totals_entry *entry)
{
	int r = need_offcore_total(entry);

	if (r < 0 || entry->offcore_delta)
		return r;
	r = need_offcore(&entry->offcore_delta);
	if (r < 0)
		return r;
	entry->next_offcore = entry->totals->offcore;
	entry->totals->offcore = entry;
	return 0;
}

void totals_add_offcore(struct totals_entry *entry, const struct offcore_counts *delta)
{
	offcore_counts_add(entry->offcore_total, delta);
	offcore_counts_add(entry->offcore_delta, delta);
	save_offcore(entry);
}

static void drop_offcore_delta(struct totals_entry *entry)
{
	state_remove(entry->totals->state, &entry->offcore_delta_record);
	free(entry->offcore_delta);
	entry->offcore_delta = NULL;
	entry->next_offcore = NULL;
}

void totals_begin(struct totals *totals)
{
	totals->begun++;
}

void totals_offcore_taken(struct totals *totals)
{
	for (struct totals_entry *entry = totals->offcore, *next; entry; entry = next) {
		next = entry->next_offcore;
		drop_offcore_delta(entry);
	}
	totals->offcore = NULL;
}

static void unlist_offcore(struct totals *totals, struct totals_entry *entry)
{
	struct totals_entry **place = &totals->offcore;

	if (!entry->offcore_delta)
		return;
	while (*place != entry)
		place = &(*place)->next_offcore;
	*place = entry->next_offcore;
	drop_offcore_delta(entry);
}

void totals_save(struct totals *totals)
{
	for (struct totals_entry *entry = totals->offcore; entry; entry = entry->next_offcore)
		state_put(totals->state, &entry->offcore_delta_record, STATE_COUNTED_NEXT, entry->number,
			  entry->offcore_delta, sizeof(*entry->offcore_delta));
}

/* Goes event by event: after a failure the next fold continues with the events that are not in `other` yet. */
static int fold_one(struct totals *totals, struct totals_entry *entry)
{
	if (entry->offcore_total) {
		if (need_offcore_total(totals->other) < 0)
			return -ENOMEM;
		offcore_counts_add(totals->other->offcore_total, entry->offcore_total);
		save_offcore(totals->other);
		free(TAKE_PTR(entry->offcore_total));
		shrink_entry(entry, heap_bytes(sizeof(*entry->offcore_total)));
		state_remove(totals->state, &entry->offcore_record);
	}
	while (entry->sums) {
		struct totals_sum *sum = entry->sums;

		if (sum->size > 0 && totals_add(totals->other, sum->event, sum->former, sum->size) < 0)
			return -ENOMEM;
		remove_sum(entry, sum);
	}
	unlist_offcore(totals, entry);
	state_remove(totals->state, &entry->record);
	tdelete(entry, &totals->by_path, compare_paths);
	unqueue(totals, entry);
	return 0;
}

/* The index of the first entry whose number is not below `number`, by binary search. */
static size_t lower_bound(const struct totals *totals, u32 number)
{
	size_t first = 0, n = totals->n;

	while (first < n) {
		size_t middle = first + (n - first) / 2;

		if (totals->entries[middle]->number < number)
			first = middle + 1;
		else
			n = middle;
	}
	return first;
}

/* Returns the index. After 2^32 entries, numbers start again and are not sorted: then searches one by one. */
static size_t place_of(const struct totals *totals, const struct totals_entry *entry)
{
	size_t place = lower_bound(totals, entry->number);

	if (place < totals->n && totals->entries[place] == entry)
		return place;
	place = 0;
	while (totals->entries[place] != entry)
		place++;
	return place;
}

/*
 * Removes the folded entries, a list linked by `newer`, from the array and frees them. Looks up all indices
 * before it empties any of them. `unheld` holds the index meanwhile.
 */
static void take_out(struct totals *totals, struct totals_entry *folded)
{
	size_t kept = 0;

	if (!folded)
		return;
	for (struct totals_entry *entry = folded; entry; entry = entry->newer)
		entry->unheld = place_of(totals, entry);
	for (struct totals_entry *entry = folded, *next; entry; entry = next) {
		next = entry->newer;
		totals->entries[entry->unheld] = NULL;
		entry_free(entry);
	}
	for (size_t i = 0; i < totals->n; i++)
		if (totals->entries[i])
			totals->entries[kept++] = totals->entries[i];
	totals->n = kept;
}

/* Returns the amount to keep: `now`, or three quarters of `most` if `now` is more than `most`. */
static size_t fold_target(size_t now, size_t most)
{
	return now > most ? most - most / 4 : now;
}

size_t totals_unheld_bytes(const struct totals *totals)
{
	return totals->unheld_bytes;
}

int totals_fold(struct totals *totals, u64 before_ns, size_t most)
{
	size_t stay = fold_target(totals->n_unheld, most);
	size_t bytes = fold_target(totals->unheld_bytes, TOTALS_UNHELD_BYTES);
	struct totals_entry *folded = NULL;
	int r = 0;

	for (struct totals_entry *entry = totals->oldest, *newer; entry && r == 0; entry = newer) {
		newer = entry->newer;
		if (entry->died_ns >= before_ns && totals->n_unheld <= stay && totals->unheld_bytes <= bytes)
			break;
		/* Deltas of this collection or of the next one may refer to the entry. */
		if (entry->unheld && totals->begun <= entry->unheld)
			continue;
		r = fold_one(totals, entry);
		if (r < 0)
			break;
		entry->newer = folded;
		folded = entry;
	}
	take_out(totals, folded);
	return r;
}

static int compare_ids(const void *key, const void *member)
{
	u64 wanted = *(const u64 *)key, id = *(const u64 *)member;

	return (wanted > id) - (wanted < id);
}

void totals_mark_guests(struct totals *totals, const u64 *ids, size_t n)
{
	for (size_t i = 0; n > 0 && i < totals->n; i++)
		if (!totals->entries[i]->guest &&
		    bsearch(&totals->entries[i]->id, ids, n, sizeof(*ids), compare_ids)) {
			totals->entries[i]->guest = true;
			totals_entry_changed(totals->entries[i]);
		}
}

struct totals_entry *const *totals_entries(const struct totals *totals, size_t *ret_n)
{
	*ret_n = totals->n;
	return totals->entries;
}

static int restore_entry(struct totals *totals, const struct state_record *record)
{
	_cleanup_(entry_freep) struct totals_entry *entry = NULL;
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	_cleanup_free_ char *path = NULL;
	u64 id = state_get_number(&reader), died_ns = state_get_number(&reader),
	    guest = state_get_number(&reader);
	int r = state_get_string(&reader, PATH_MAX, &path);

	if (r < 0)
		return r;
	/* Records are sorted by number. The first two numbers are fixed and not saved. */
	if (record->key < totals->next_number || record->key >= UINT32_MAX || guest > 1 ||
	    totals_find(totals, path))
		return -EBADMSG;
	totals->next_number = (u32)record->key;
	r = entry_new(totals, path, &entry);
	if (r < 0)
		return r;
	entry->id = id;
	entry->died_ns = died_ns;
	entry->guest = guest;
	r = enter(totals, entry);
	if (r < 0)
		return r;
	state_take(totals->state, record, &entry->record);
	(void)TAKE_PTR(entry);
	return 0;
}

struct totals_entry *totals_numbered(const struct totals *totals, u32 number)
{
	size_t place;

	if (number == totals->other->number)
		return totals->other;
	if (number == totals->unattributed->number)
		return totals->unattributed;
	place = lower_bound(totals, number);
	return place < totals->n && totals->entries[place]->number == number ? totals->entries[place] : NULL;
}

static int restore_former(struct totals *totals, const struct state_record *record)
{
	struct totals_entry *entry =
		record->key >> 40 ? NULL : totals_numbered(totals, (u32)(record->key >> 8));
	unsigned event = record->key & 0xff;
	struct totals_sum *sum;
	u8 *former;

	if (!entry || event >= EVENTS_MAX || record->length == 0 ||
	    !packed_sound(record->bytes, record->length))
		return -EBADMSG;
	former = malloc(record->length);
	sum = former ? new_sum(entry, event, false) : NULL;
	if (!sum) {
		free(former);
		return -ENOMEM;
	}
	memcpy(former, record->bytes, record->length);
	sum->former = former;
	sum->size = record->length;
	grow_entry(entry, former_bytes(sum));
	state_take(totals->state, record, &sum->record);
	return 0;
}

static int restore_offcore(struct totals *totals, const struct state_record *record)
{
	struct totals_entry *entry = record->key >> 32 ? NULL : totals_numbered(totals, (u32)record->key);

	if (!entry || record->length != sizeof(*entry->offcore_total))
		return -EBADMSG;
	if (need_offcore_total(entry) < 0)
		return -ENOMEM;
	memcpy(entry->offcore_total, record->bytes, record->length);
	state_take(totals->state, record, &entry->offcore_record);
	return 0;
}

static int restore_offcore_delta(struct totals *totals, const struct state_record *record)
{
	struct totals_entry *entry = record->key >> 32 ? NULL : totals_numbered(totals, (u32)record->key);

	if (!entry || record->length != sizeof(*entry->offcore_delta))
		return -EBADMSG;
	if (totals_reserve_offcore(entry) < 0)
		return -ENOMEM;
	memcpy(entry->offcore_delta, record->bytes, record->length);
	totals_protect(entry);
	state_take(totals->state, record, &entry->offcore_delta_record);
	return 0;
}

static int restore_each(struct totals *totals, u32 kind,
			int (*restore)(struct totals *totals, const struct state_record *record))
{
	const struct state_record *records;
	size_t n;
	int r = 0;

	records = state_records(totals->state, kind, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = restore(totals, &records[i]);
	return r;
}

int totals_restore(struct totals *totals, struct state *state)
{
	int r;

	totals->state = state;
	r = restore_each(totals, STATE_ENTRY, restore_entry);
	if (r == 0)
		r = restore_each(totals, STATE_MERGED, restore_former);
	if (r == 0)
		r = restore_each(totals, STATE_COUNTED, restore_offcore);
	if (r == 0)
		r = restore_each(totals, STATE_COUNTED_NEXT, restore_offcore_delta);
	return r;
}
