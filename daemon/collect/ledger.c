// SPDX-License-Identifier: GPL-2.0
#include "ledger.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#include "collect/series.h"

struct ledger {
	void *by_path; /* tsearch(3) tree of struct ledger_entry */
	struct ledger_entry **entries;
	size_t n;
	size_t allocated;
	u32 next_number;
	struct ledger_entry *other;
	struct ledger_entry *unattributed;
};

static void entry_free(struct ledger_entry *entry)
{
	if (!entry)
		return;
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		free(entry->total[i]);
		free(entry->difference[i]);
	}
	free(entry->offcore_total);
	free(entry->offcore_difference);
	free(entry->path);
	free(entry);
}

static void entry_freep(struct ledger_entry **entry)
{
	entry_free(*entry);
}

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
	*ret = entry;
	return 0;
}

int ledger_new(struct ledger **ret)
{
	_cleanup_(ledger_freep) struct ledger *ledger = calloc(1, sizeof(*ledger));
	int r;

	if (!ledger)
		return -ENOMEM;
	r = entry_new(ledger, SERIES_OTHER, &ledger->other);
	if (r == 0)
		r = entry_new(ledger, SERIES_UNATTRIBUTED, &ledger->unattributed);
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

int ledger_get(struct ledger *ledger, const char *path, struct ledger_entry **ret)
{
	_cleanup_(entry_freep) struct ledger_entry *entry = NULL;
	int r;

	*ret = ledger_find(ledger, path);
	if (*ret)
		return 0;
	r = grow(ledger);
	if (r == 0)
		r = entry_new(ledger, path, &entry);
	if (r < 0)
		return r;
	if (!tsearch(entry, &ledger->by_path, compare_paths))
		return -ENOMEM;
	*ret = ledger->entries[ledger->n++] = TAKE_PTR(entry);
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

static int need(struct figures **figures)
{
	if (!*figures)
		*figures = calloc(1, sizeof(**figures));
	return *figures ? 0 : -ENOMEM;
}

int ledger_reserve(struct ledger_entry *entry, unsigned event)
{
	return need(&entry->total[event]) < 0 || need(&entry->difference[event]) < 0 ? -ENOMEM : 0;
}

static int need_offcore(struct offcore_figures **figures)
{
	if (!*figures)
		*figures = calloc(1, sizeof(**figures));
	return *figures ? 0 : -ENOMEM;
}

int ledger_reserve_offcore(struct ledger_entry *entry)
{
	int r = need_offcore(&entry->offcore_total);

	return r < 0 ? r : need_offcore(&entry->offcore_difference);
}

void ledger_add_offcore(struct ledger_entry *entry, const struct offcore_figures *difference)
{
	offcore_figures_add(entry->offcore_total, difference);
	offcore_figures_add(entry->offcore_difference, difference);
}

void ledger_add(struct ledger_entry *entry, unsigned event, const struct figures *difference)
{
	figures_add(entry->total[event], difference);
	figures_add(entry->difference[event], difference);
}

static void forget_difference(struct ledger_entry *entry)
{
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		free(entry->difference[i]);
		entry->difference[i] = NULL;
	}
	free(entry->offcore_difference);
	entry->offcore_difference = NULL;
}

void ledger_begin(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->n; i++)
		forget_difference(ledger->entries[i]);
	forget_difference(ledger->other);
	forget_difference(ledger->unattributed);
}

static int fold_one(struct ledger *ledger, struct ledger_entry *entry)
{
	for (size_t i = 0; i < EVENTS_MAX; i++)
		if (entry->total[i] && need(&ledger->other->total[i]) < 0)
			return -ENOMEM;
	if (entry->offcore_total && need_offcore(&ledger->other->offcore_total) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < EVENTS_MAX; i++)
		if (entry->total[i])
			figures_add(ledger->other->total[i], entry->total[i]);
	if (entry->offcore_total)
		offcore_figures_add(ledger->other->offcore_total, entry->offcore_total);
	tdelete(entry, &ledger->by_path, compare_paths);
	entry_free(entry);
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

/* The moment before which the dead fold, so that no more than three quarters of `most` are left; 0: all may
 * stay. */
static int crowded_before(const struct ledger *ledger, size_t most, u64 *ret)
{
	_cleanup_free_ u64 *died = NULL;
	size_t n = 0, keep = most - most / 4;

	*ret = 0;
	for (size_t i = 0; i < ledger->n; i++)
		n += !ledger->entries[i]->holders;
	if (n <= most)
		return 0;
	died = calloc(n, sizeof(*died));
	if (!died)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < ledger->n; i++)
		if (!ledger->entries[i]->holders)
			died[n++] = ledger->entries[i]->died_ns;
	qsort(died, n, sizeof(*died), compare_times);
	*ret = keep ? died[n - keep] : died[n - 1] + 1;
	return 0;
}

int ledger_fold(struct ledger *ledger, u64 before_ns, size_t most)
{
	size_t kept = 0;
	u64 crowded_ns;
	int r = crowded_before(ledger, most, &crowded_ns);

	if (r < 0)
		return r;
	if (crowded_ns > before_ns)
		before_ns = crowded_ns;
	for (size_t i = 0; i < ledger->n; i++) {
		struct ledger_entry *entry = ledger->entries[i];
		bool folds = r == 0 && !entry->holders && entry->died_ns < before_ns;

		if (folds)
			r = fold_one(ledger, entry);
		if (!folds || r < 0)
			ledger->entries[kept++] = entry;
	}
	ledger->n = kept;
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
		if (bsearch(&ledger->entries[i]->id, ids, n, sizeof(*ids), compare_ids))
			ledger->entries[i]->guest = true;
}

struct ledger_entry *const *ledger_entries(const struct ledger *ledger, size_t *ret_n)
{
	*ret_n = ledger->n;
	return ledger->entries;
}
