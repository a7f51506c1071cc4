// SPDX-License-Identifier: GPL-2.0
#include "collect/hot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Shared with a writer: each member is read once and whole. */
#define SHARED(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

/* An owner's cell in one table. */
struct found {
	u64 item;
	u32 table;
	u64 count;
	u64 error;
};

struct search {
	struct found *found;
	size_t n;
	size_t room;
};

void hot_list_done(struct hot_list *list)
{
	free(list->items);
	*list = (struct hot_list){0};
}

/*
 * Whether the cell is the owner's. One that changes hands under the reader shows: an item that comes back has
 * a higher error than when it left.
 */
static bool read_cell(const struct hot_cell *shared, u64 owner, struct found *ret)
{
	while (SHARED(shared->owner) == owner) {
		ret->item = SHARED(shared->item);
		ret->error = SHARED(shared->error);
		ret->count = SHARED(shared->count);
		if (SHARED(shared->item) == ret->item && SHARED(shared->error) == ret->error &&
		    SHARED(shared->owner) == owner)
			return true;
	}
	return false;
}

static int keep(struct search *search, const struct found *found)
{
	if (search->n == search->room) {
		size_t room = search->room ? 2 * search->room : 64;
		struct found *grown = reallocarray(search->found, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		search->found = grown;
		search->room = room;
	}
	search->found[search->n++] = *found;
	return 0;
}

static int search_all(struct search *search, const struct hot_set *tables, u32 n_tables, u64 owner)
{
	for (u32 table = 0; table < n_tables; table++) {
		for (u32 set = 0; set < HOT_SETS; set++) {
			const struct hot_set *shared = &tables[(size_t)table * HOT_SETS + set];

			for (u32 way = 0; way < HOT_WAYS; way++) {
				struct found found = {.table = table};

				if (read_cell(&shared->cells[way], owner, &found) && keep(search, &found) < 0)
					return -ENOMEM;
			}
		}
	}
	return 0;
}

static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->item != right->item)
		return left->item < right->item ? -1 : 1;
	return left->table < right->table ? -1 : left->table > right->table;
}

/* `n` cells of one item, by table: in the tables where it has none it may have come as often as `passed`. */
static struct hot_item sum_tables(const struct found *found, size_t n, const struct hot_set *tables,
				  u32 n_tables, u32 set)
{
	struct hot_item sum = {.item = found->item};
	size_t next = 0;

	for (u32 table = 0; table < n_tables; table++) {
		u64 error = SHARED(tables[(size_t)table * HOT_SETS + set].passed);

		/* One that left and came back under the reader is there twice. */
		for (; next < n && found[next].table == table; next++) {
			sum.samples += found[next].count - found[next].error;
			error = found[next].error;
		}
		sum.error += error;
	}
	return sum;
}

int hot_list_add(struct hot_list *list, const struct hot_set *tables, u32 n_tables, u64 seed, u64 owner)
{
	_cleanup_free_ struct found *found = NULL;
	struct search search = {0};
	struct hot_item *items;
	int r;

	r = search_all(&search, tables, n_tables, owner);
	found = search.found;
	if (r < 0)
		return r;
	if (search.n == 0)
		return 0;
	items = reallocarray(list->items, list->n + search.n, sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	qsort(found, search.n, sizeof(*found), compare_found);
	for (size_t i = 0, end; i < search.n; i = end) {
		for (end = i + 1; end < search.n && found[end].item == found[i].item;)
			end++;
		items[list->n++] = sum_tables(&found[i], end - i, tables, n_tables,
					      hot_set_of(owner, found[i].item, seed));
	}
	return 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct hot_item *left = a, *right = b;

	return left->item < right->item ? -1 : left->item > right->item;
}

static int compare_samples(const void *a, const void *b)
{
	const struct hot_item *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	if (left->error != right->error)
		return left->error < right->error ? -1 : 1;
	return compare_items(a, b);
}

void hot_list_finish(struct hot_list *list, u64 samples)
{
	size_t n = 0;
	u64 sum = 0;

	if (list->n)
		qsort(list->items, list->n, sizeof(*list->items), compare_items);
	for (size_t i = 0; i < list->n; i++) {
		struct hot_item *item = &list->items[i];

		sum += item->samples;
		if (n && list->items[n - 1].item == item->item) {
			list->items[n - 1].samples += item->samples;
			list->items[n - 1].error += item->error;
		} else {
			list->items[n++] = *item;
		}
	}
	list->n = n;
	list->samples = samples > sum ? samples : sum;
	/* No item has more than what is left when all have what is certainly theirs. */
	for (size_t i = 0; i < n; i++)
		if (list->items[i].error > list->samples - sum)
			list->items[i].error = list->samples - sum;
	if (n)
		qsort(list->items, n, sizeof(*list->items), compare_samples);
}
