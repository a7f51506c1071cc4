// SPDX-License-Identifier: GPL-2.0
#include "collect/ledger.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdint.h>
#include <string.h>

#include "base/heap.h"
#include "collect/packed.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

struct ledger {
	void *by_path; /* tsearch(3) tree of struct ledger_entry */
	struct ledger_entry **entries;
	size_t n;
	size_t allocated;
	u32 next_number;
	struct ledger_entry *other;
	struct ledger_entry *unattributed;
	struct ledger_entry *offcore;           /* entries with an off-core delta */
	struct ledger_entry *oldest, *youngest; /* of the entries without holders */
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
static bool is_fixed(const struct ledger_entry *entry)
{
	return entry == entry->ledger->other || entry == entry->ledger->unattributed;
}

/* An entry is in the queue while it has no holders. */
static bool is_queued(const struct ledger *ledger, const struct ledger_entry *entry)
{
	return entry->older || ledger->oldest == entry;
}

static void grow_entry(struct ledger_entry *entry, size_t bytes)
{
	entry->bytes += bytes;
	if (is_queued(entry->ledger, entry))
		entry->ledger->unheld_bytes += bytes;
}

static void shrink_entry(struct ledger_entry *entry, size_t bytes)
{
	entry->bytes -= bytes;
	if (is_queued(entry->ledger, entry))
		entry->ledger->unheld_bytes -= bytes;
}

void ledger_entry_changed(struct ledger_entry *entry)
{
	u8 bytes[(size_t)3 * VARINT_MAX + PATH_MAX];
	struct state_writer writer = {.to = bytes};

	if (!entry->ledger->state || is_fixed(entry))
		return;
	state_put_number(&writer, entry->id);
	state_put_number(&writer, entry->died_ns);
	state_put_number(&writer, entry->guest);
	state_put_bytes(&writer, entry->path, strnlen(entry->path, PATH_MAX));
	state_put(entry->ledger->state, &entry->record, STATE_ENTRY, entry->number, bytes,
		  (size_t)(writer.to - bytes));
}

static void save_former(const struct ledger_entry *entry, struct ledger_sum *sum)
{
	state_put(entry->ledger->state, &sum->record, STATE_MERGED, former_key(entry->number, sum->event),
		  sum->former, sum->size);
}

static void save_offcore(struct ledger_entry *entry)
{
	state_put(entry->ledger->state, &entry->offcore_record, STATE_COUNTED, entry->number,
		  entry->offcore_total, sizeof(*entry->offcore_total));
}

static void sum_free(struct ledger_sum *sum)
{
	if (sum->present)
		last_reading_free(sum->last);
	else
		free(sum->former);
	free(sum);
}

static void entry_free(struct ledger_entry *entry)
{
	if (!entry)
		return;
	for (struct ledger_sum *sum = entry->sums, *next; sum; sum = next) {
		next = sum->next;
		sum_free(sum);
	}
	free(entry->offcore_total);
	free(entry->offcore_delta);
	free(entry->path);
	free(entry);
}
DEFINE_CLEANUP(struct ledger_entry *, entry_free)

static int entry_new(struct ledger *ledger, const char *path, struct ledger_entry **ret)
{
	struct ledger_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->path = strdup(path);
	if (!entry->path) {
		free(entry);
		return -ENOMEM;
	}
	entry->number = ledger->next_number++;
	entry->ledger = ledger;
	entry->bytes = heap_bytes(sizeof(*entry)) + heap_bytes(strlen(path) + 1) + TREE_BYTES + PLACE_BYTES;
	*ret = entry;
	return 0;
}

int ledger_new(struct ledger **ret)
{
	_cleanup_(ledger_freep) struct ledger *ledger = calloc(1, sizeof(*ledger));
	int r;

	if (!ledger)
		return -ENOMEM;
	r = entry_new(ledger, LEDGER_OTHER, &ledger->other);
	if (r == 0)
		r = entry_new(ledger, LEDGER_UNATTRIBUTED, &ledger->unattributed);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ledger);
	return 0;
}

static void keep_entry(void *entry)
{
	(void)entry; /* the array owns it */
}

struct ledger *ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return NULL;
	tdestroy(ledger->by_path, keep_entry);
	for (size_t i = 0; i < ledger->n; i++)
		entry_free(ledger->entries[i]);
	free(ledger->entries);
	entry_free(ledger->other);
	entry_free(ledger->unattributed);
	free(ledger);
	return NULL;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct ledger_entry *)a)->path, ((const struct ledger_entry *)b)->path);
}

struct ledger_entry *ledger_find(const struct ledger *ledger, const char *path)
{
	struct ledger_entry key = {.path = (char *)path};
	struct ledger_entry **found = tfind(&key, &ledger->by_path, compare_paths);

	return found ? *found : NULL;
}

/*
 * Queues an entry without holders by its time of death. Entries mostly die in order, so the search begins at
 * the end. An entry that never had a holder comes first.
 */
static void queue_unheld(struct ledger *ledger, struct ledger_entry *entry)
{
	struct ledger_entry *older = entry->died_ns ? ledger->youngest : NULL;

	while (older && older->died_ns > entry->died_ns)
		older = older->older;
	entry->older = older;
	entry->newer = older ? older->newer : ledger->oldest;
	*(older ? &older->newer : &ledger->oldest) = entry;
	*(entry->newer ? &entry->newer->older : &ledger->youngest) = entry;
	ledger->n_unheld++;
	ledger->unheld_bytes += entry->bytes;
}

static void unqueue(struct ledger *ledger, struct ledger_entry *entry)
{
	*(entry->older ? &entry->older->newer : &ledger->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &ledger->youngest) = entry->older;
	entry->older = entry->newer = NULL;
	ledger->n_unheld--;
	ledger->unheld_bytes -= entry->bytes;
}

static int grow(struct ledger *ledger)
{
	size_t allocated = ledger->allocated ? ledger->allocated * 2 : 64;
	struct ledger_entry **entries;

	if (ledger->n < ledger->allocated)
		return 0;
	entries = reallocarray(ledger->entries, allocated, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	ledger->entries = entries;
	ledger->allocated = allocated;
	return 0;
}

static int enter(struct ledger *ledger, struct ledger_entry *entry)
{
	int r = grow(ledger);

	if (r < 0)
		return r;
	if (!tsearch(entry, &ledger->by_path, compare_paths))
		return -ENOMEM;
	ledger->entries[ledger->n++] = entry;
	queue_unheld(ledger, entry);
	return 0;
}

int ledger_get(struct ledger *ledger, const char *path, struct ledger_entry **ret)
{
	_cleanup_(entry_freep) struct ledger_entry *entry = NULL;
	int r;

	*ret = ledger_find(ledger, path);
	if (*ret)
		return 0;
	r = entry_new(ledger, path, &entry);
	if (r == 0)
		r = enter(ledger, entry);
	if (r < 0)
		return r;
	ledger_entry_changed(entry);
	*ret = TAKE_PTR(entry);
	return 0;
}

struct ledger_entry *ledger_other(const struct ledger *ledger)
{
	return ledger->other;
}

struct ledger_entry *ledger_unattributed(const struct ledger *ledger)
{
	return ledger->unattributed;
}

bool ledger_has(const struct ledger_entry *entry, unsigned event)
{
	for (const struct ledger_sum *sum = entry->sums; sum; sum = sum->next)
		if (sum->event == event && (sum->present ? (const void *)sum->last : sum->former))
			return true;
	return false;
}

void ledger_total(const struct ledger_entry *entry, unsigned event, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (const struct ledger_sum *sum = entry->sums; sum; sum = sum->next) {
		if (sum->event != event)
			continue;
		if (!sum->present)
			packed_add(sum->former, sum->size, ret);
		else if (sum->last)
			last_reading_add(sum->last, ret);
	}
}

void ledger_hold(struct ledger_entry *entry)
{
	if (is_queued(entry->ledger, entry))
		unqueue(entry->ledger, entry);
	entry->holders++;
}

void ledger_died(struct ledger_entry *entry, u64 now_ns)
{
	unqueue(entry->ledger, entry);
	entry->died_ns = now_ns;
	queue_unheld(entry->ledger, entry);
	ledger_entry_changed(entry);
}

void ledger_keep_unheld(struct ledger_entry *entry)
{
	entry->unheld = entry->ledger->begun + 1;
}

void ledger_unhold(struct ledger_entry *entry)
{
	if (--entry->holders > 0)
		return;
	ledger_keep_unheld(entry);
	queue_unheld(entry->ledger, entry);
}

static struct ledger_sum *new_sum(struct ledger_entry *entry, unsigned event, bool present)
{
	struct ledger_sum *sum = malloc(sizeof(*sum));

	if (!sum)
		return NULL;
	*sum = (struct ledger_sum){.next = entry->sums, .event = (u16)event, .present = present};
	entry->sums = sum;
	grow_entry(entry, heap_bytes(sizeof(*sum)));
	return sum;
}

struct ledger_sum *ledger_sum(struct ledger_entry *entry, struct ledger_sum **of_slot, unsigned event)
{
	struct ledger_sum *sum = *of_slot;

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
static struct ledger_sum *former_of(struct ledger_entry *entry, unsigned event)
{
	struct ledger_sum *sum = entry->sums;

	while (sum && (sum->present || sum->event != event))
		sum = sum->next;
	return sum ? sum : new_sum(entry, event, false);
}

static size_t former_bytes(const struct ledger_sum *sum)
{
	return !sum->present && sum->former ? heap_bytes(sum->size) : 0;
}

/* Adds counters to the sum of former slots. Returns 0, or -ENOMEM with nothing added. */
static int add_to_former(struct ledger_entry *entry, unsigned event, const struct counters *counters)
{
	struct ledger_sum *sum = former_of(entry, event);
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

int ledger_add(struct ledger_entry *entry, unsigned event, const u8 *packed, size_t size)
{
	struct counters counters = {0};

	packed_add(packed, size, &counters);
	return add_to_former(entry, event, &counters);
}

static void remove_sum(struct ledger_entry *entry, struct ledger_sum *sum)
{
	struct ledger_sum **place = &entry->sums;

	while (*place != sum)
		place = &(*place)->next;
	*place = sum->next;
	state_remove(entry->ledger->state, &sum->record);
	shrink_entry(entry, heap_bytes(sizeof(*sum)) + former_bytes(sum));
	sum_free(sum);
}

int ledger_merge(struct ledger_entry *entry, struct ledger_sum **of_slot)
{
	struct ledger_sum *sum = *of_slot;
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

static int need_offcore(struct offcore_counters **counters)
{
	if (!*counters)
		*counters = calloc(1, sizeof(**counters));
	return *counters ? 0 : -ENOMEM;
}

static int need_offcore_total(struct ledger_entry *entry)
{
	bool had = entry->offcore_total;
	int r = need_offcore(&entry->offcore_total);

	if (r == 0 && !had)
		grow_entry(entry, heap_bytes(sizeof(*entry->offcore_total)));
	return r;
}

int ledger_reserve_offcore(struct ledger_entry *entry)
{
	int r = need_offcore_total(entry);

	if (r < 0 || entry->offcore_delta)
		return r;
	r = need_offcore(&entry->offcore_delta);
	if (r < 0)
		return r;
	entry->next_offcore = entry->ledger->offcore;
	entry->ledger->offcore = entry;
	return 0;
}

void ledger_add_offcore(struct ledger_entry *entry, const struct offcore_counters *delta)
{
	offcore_counters_add(entry->offcore_total, delta);
	offcore_counters_add(entry->offcore_delta, delta);
	save_offcore(entry);
}

static void drop_offcore_delta(struct ledger_entry *entry)
{
	state_remove(entry->ledger->state, &entry->offcore_delta_record);
	free(entry->offcore_delta);
	entry->offcore_delta = NULL;
	entry->next_offcore = NULL;
}

void ledger_begin(struct ledger *ledger)
{
	ledger->begun++;
}

void ledger_offcore_taken(struct ledger *ledger)
{
	for (struct ledger_entry *entry = ledger->offcore, *next; entry; entry = next) {
		next = entry->next_offcore;
		drop_offcore_delta(entry);
	}
	ledger->offcore = NULL;
}

static void unlist_offcore(struct ledger *ledger, struct ledger_entry *entry)
{
	struct ledger_entry **place = &ledger->offcore;

	if (!entry->offcore_delta)
		return;
	while (*place != entry)
		place = &(*place)->next_offcore;
	*place = entry->next_offcore;
	drop_offcore_delta(entry);
}

void ledger_save(struct ledger *ledger)
{
	for (struct ledger_entry *entry = ledger->offcore; entry; entry = entry->next_offcore)
		state_put(ledger->state, &entry->offcore_delta_record, STATE_COUNTED_NEXT, entry->number,
			  entry->offcore_delta, sizeof(*entry->offcore_delta));
}

/* Goes event by event: after a failure the next fold continues with the events that are not in `other` yet. */
static int fold_one(struct ledger *ledger, struct ledger_entry *entry)
{
	if (entry->offcore_total) {
		if (need_offcore_total(ledger->other) < 0)
			return -ENOMEM;
		offcore_counters_add(ledger->other->offcore_total, entry->offcore_total);
		save_offcore(ledger->other);
		free(TAKE_PTR(entry->offcore_total));
		shrink_entry(entry, heap_bytes(sizeof(*entry->offcore_total)));
		state_remove(ledger->state, &entry->offcore_record);
	}
	while (entry->sums) {
		struct ledger_sum *sum = entry->sums;

		if (sum->size > 0 && ledger_add(ledger->other, sum->event, sum->former, sum->size) < 0)
			return -ENOMEM;
		remove_sum(entry, sum);
	}
	unlist_offcore(ledger, entry);
	state_remove(ledger->state, &entry->record);
	tdelete(entry, &ledger->by_path, compare_paths);
	unqueue(ledger, entry);
	return 0;
}

/* The index of the first entry whose number is not below `number`, by binary search. */
static size_t lower_bound(const struct ledger *ledger, u32 number)
{
	size_t first = 0, n = ledger->n;

	while (first < n) {
		size_t middle = first + (n - first) / 2;

		if (ledger->entries[middle]->number < number)
			first = middle + 1;
		else
			n = middle;
	}
	return first;
}

/* Returns the index. After 2^32 entries, numbers start again and are not sorted: then searches one by one. */
static size_t place_of(const struct ledger *ledger, const struct ledger_entry *entry)
{
	size_t place = lower_bound(ledger, entry->number);

	if (place < ledger->n && ledger->entries[place] == entry)
		return place;
	place = 0;
	while (ledger->entries[place] != entry)
		place++;
	return place;
}

/*
 * Removes the folded entries, a list linked by `newer`, from the array and frees them. Looks up all indices
 * before it empties any of them. `unheld` holds the index meanwhile.
 */
static void take_out(struct ledger *ledger, struct ledger_entry *folded)
{
	size_t kept = 0;

	if (!folded)
		return;
	for (struct ledger_entry *entry = folded; entry; entry = entry->newer)
		entry->unheld = place_of(ledger, entry);
	for (struct ledger_entry *entry = folded, *next; entry; entry = next) {
		next = entry->newer;
		ledger->entries[entry->unheld] = NULL;
		entry_free(entry);
	}
	for (size_t i = 0; i < ledger->n; i++)
		if (ledger->entries[i])
			ledger->entries[kept++] = ledger->entries[i];
	ledger->n = kept;
}

/* Returns the amount to keep: `now`, or three quarters of `most` if `now` is more than `most`. */
static size_t fold_target(size_t now, size_t most)
{
	return now > most ? most - most / 4 : now;
}

size_t ledger_unheld_bytes(const struct ledger *ledger)
{
	return ledger->unheld_bytes;
}

int ledger_fold(struct ledger *ledger, u64 before_ns, size_t most)
{
	size_t stay = fold_target(ledger->n_unheld, most);
	size_t bytes = fold_target(ledger->unheld_bytes, LEDGER_UNHELD_BYTES);
	struct ledger_entry *folded = NULL;
	int r = 0;

	for (struct ledger_entry *entry = ledger->oldest, *newer; entry && r == 0; entry = newer) {
		newer = entry->newer;
		if (entry->died_ns >= before_ns && ledger->n_unheld <= stay && ledger->unheld_bytes <= bytes)
			break;
		/* Deltas of this collection or of the next one may refer to the entry. */
		if (entry->unheld && ledger->begun <= entry->unheld)
			continue;
		r = fold_one(ledger, entry);
		if (r < 0)
			break;
		entry->newer = folded;
		folded = entry;
	}
	take_out(ledger, folded);
	return r;
}

static int compare_ids(const void *key, const void *member)
{
	u64 wanted = *(const u64 *)key, id = *(const u64 *)member;

	return (wanted > id) - (wanted < id);
}

void ledger_mark_guests(struct ledger *ledger, const u64 *ids, size_t n)
{
	for (size_t i = 0; n > 0 && i < ledger->n; i++)
		if (!ledger->entries[i]->guest &&
		    bsearch(&ledger->entries[i]->id, ids, n, sizeof(*ids), compare_ids)) {
			ledger->entries[i]->guest = true;
			ledger_entry_changed(ledger->entries[i]);
		}
}

struct ledger_entry *const *ledger_entries(const struct ledger *ledger, size_t *ret_n)
{
	*ret_n = ledger->n;
	return ledger->entries;
}

static int restore_entry(struct ledger *ledger, const struct state_record *record)
{
	_cleanup_(entry_freep) struct ledger_entry *entry = NULL;
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	_cleanup_free_ char *path = NULL;
	u64 id = state_get_number(&reader), died_ns = state_get_number(&reader),
	    guest = state_get_number(&reader);
	int r = state_get_string(&reader, PATH_MAX, &path);

	if (r < 0)
		return r;
	/* Records are sorted by number. The first two numbers are fixed and not saved. */
	if (record->key < ledger->next_number || record->key >= UINT32_MAX || guest > 1 ||
	    ledger_find(ledger, path))
		return -EBADMSG;
	ledger->next_number = (u32)record->key;
	r = entry_new(ledger, path, &entry);
	if (r < 0)
		return r;
	entry->id = id;
	entry->died_ns = died_ns;
	entry->guest = guest;
	r = enter(ledger, entry);
	if (r < 0)
		return r;
	state_take(ledger->state, record, &entry->record);
	(void)TAKE_PTR(entry);
	return 0;
}

struct ledger_entry *ledger_numbered(const struct ledger *ledger, u32 number)
{
	size_t place;

	if (number == ledger->other->number)
		return ledger->other;
	if (number == ledger->unattributed->number)
		return ledger->unattributed;
	place = lower_bound(ledger, number);
	return place < ledger->n && ledger->entries[place]->number == number ? ledger->entries[place] : NULL;
}

static int restore_former(struct ledger *ledger, const struct state_record *record)
{
	struct ledger_entry *entry =
		record->key >> 40 ? NULL : ledger_numbered(ledger, (u32)(record->key >> 8));
	unsigned event = record->key & 0xff;
	struct ledger_sum *sum;
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
	state_take(ledger->state, record, &sum->record);
	return 0;
}

static int restore_offcore(struct ledger *ledger, const struct state_record *record)
{
	struct ledger_entry *entry = record->key >> 32 ? NULL : ledger_numbered(ledger, (u32)record->key);

	if (!entry || record->length != sizeof(*entry->offcore_total))
		return -EBADMSG;
	if (need_offcore_total(entry) < 0)
		return -ENOMEM;
	memcpy(entry->offcore_total, record->bytes, record->length);
	state_take(ledger->state, record, &entry->offcore_record);
	return 0;
}

static int restore_offcore_delta(struct ledger *ledger, const struct state_record *record)
{
	struct ledger_entry *entry = record->key >> 32 ? NULL : ledger_numbered(ledger, (u32)record->key);

	if (!entry || record->length != sizeof(*entry->offcore_delta))
		return -EBADMSG;
	if (ledger_reserve_offcore(entry) < 0)
		return -ENOMEM;
	memcpy(entry->offcore_delta, record->bytes, record->length);
	ledger_keep_unheld(entry);
	state_take(ledger->state, record, &entry->offcore_delta_record);
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

int ledger_restore(struct ledger *ledger, struct state *state)
{
	int r;

	ledger->state = state;
	r = restore_each(ledger, STATE_ENTRY, restore_entry);
	if (r == 0)
		r = restore_each(ledger, STATE_MERGED, restore_former);
	if (r == 0)
		r = restore_each(ledger, STATE_COUNTED, restore_offcore);
	if (r == 0)
		r = restore_each(ledger, STATE_COUNTED_NEXT, restore_offcore_delta);
	return r;
}
