// SPDX-License-Identifier: GPL-2.0
#include "trial/account_books.h"

#include <errno.h>
#include <string.h>

#include "account.h"
#include "base/number_map.h"
#include "origin/replay/replay_sum.h"

/*
 * The counters of one event of one cgroup since the last collection. After a collection a page is reused for
 * any other cgroup, because a recording may have many cgroups, but few of them at the same time.
 */
struct page {
	struct page *next;      /* in the list of unused pages */
	struct figures figures; /* counts that fold() moved here, before sums of the record could wrap */
	union {
		struct latency_record latency;
		struct plain_record plain;
	};
};

struct account {
	char *path;
	bool moved;
	struct page *pages[EVENTS_MAX]; /* NULL: no sample */
};

struct account_books {
	struct event_settings events[EVENTS_MAX];
	size_t n_events;
	size_t max;
	struct number_map by_id;
	struct account *list;
	size_t n;
	size_t capacity;
	u32 *moved; /* indices of accounts with a sample since the last collection; has `capacity`, too */
	size_t n_moved;
	struct page *unused;
	struct replay_sum sum;
	u64 unattributed;
	struct account_losses losses[EVENTS_MAX];
};

int account_books_new(const struct event_settings *events, size_t n_events, size_t max,
		      struct account_books **ret)
{
	struct account_books *books;

	if (n_events > EVENTS_MAX)
		return -EINVAL;
	books = calloc(1, sizeof(*books));
	if (!books)
		return -ENOMEM;
	memcpy(books->events, events, n_events * sizeof(*events));
	books->n_events = n_events;
	books->max = max;
	*ret = books;
	return 0;
}

struct account_books *account_books_free(struct account_books *books)
{
	if (!books)
		return NULL;
	for (size_t i = 0; i < books->n; i++) {
		free(books->list[i].path);
		for (size_t event = 0; event < EVENTS_MAX; event++)
			free(books->list[i].pages[event]);
	}
	while (books->unused) {
		struct page *page = books->unused;

		books->unused = page->next;
		free(page);
	}
	number_map_clear(&books->by_id);
	free(books->list);
	free(books->moved);
	free(books);
	return NULL;
}

static int grow(struct account_books *books)
{
	size_t capacity = books->capacity ? 2 * books->capacity : 16;
	struct account *list = reallocarray(books->list, capacity, sizeof(*list));
	u32 *moved;

	if (!list)
		return -ENOMEM;
	books->list = list;
	moved = reallocarray(books->moved, capacity, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	books->moved = moved;
	books->capacity = capacity;
	return 0;
}

int account_books_name(struct account_books *books, u64 cgroup_id, const char *path)
{
	_cleanup_free_ char *copy = NULL;
	u64 entry;
	int r;

	if (number_map_get(&books->by_id, cgroup_id, &entry))
		return 0;
	if (books->n >= books->max)
		return -ENOSPC;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	if (books->n == books->capacity && grow(books) < 0)
		return -ENOMEM;
	r = number_map_set(&books->by_id, cgroup_id, books->n);
	if (r < 0)
		return r;
	books->list[books->n++] = (struct account){.path = TAKE_PTR(copy)};
	return 0;
}

/* Moves the counts of the page's record to its `figures`. */
static void fold(const struct event_settings *event, struct page *page)
{
	struct figures counts;

	if (event->has_latency)
		figures_of_latency(&page->latency, &counts);
	else
		figures_of_plain(&page->plain, &counts);
	figures_add(&page->figures, &counts);
	memset(&page->latency, 0, sizeof(page->latency));
}

static void fold_all(struct account_books *books)
{
	for (size_t i = 0; i < books->n_moved; i++)
		for (size_t event = 0; event < books->n_events; event++)
			if (books->list[books->moved[i]].pages[event])
				fold(&books->events[event], books->list[books->moved[i]].pages[event]);
	books->sum = (struct replay_sum){};
}

static struct page *take_page(struct account_books *books)
{
	struct page *page = books->unused;

	if (page) {
		books->unused = page->next;
		memset(page, 0, sizeof(*page));
		return page;
	}
	page = aligned_alloc(_Alignof(struct page), sizeof(*page));
	if (page)
		memset(page, 0, sizeof(*page));
	return page;
}

/* Treats a sample as account() of the BPF programs does, with a page instead of a slot. */
static int add(struct account_books *books, const struct sample *sample)
{
	const struct event_settings *event;
	struct account *account;
	struct page *page;
	u64 entry;

	if (sample->event >= books->n_events) {
		books->losses[0].malformed++;
		return 0;
	}
	event = &books->events[sample->event];
	if (account_filtered(sample, event->operations)) {
		books->losses[sample->event].filtered++;
		return 0;
	}
	if (account_malformed(sample)) {
		books->losses[sample->event].malformed++;
		return 0;
	}
	if (!number_map_get(&books->by_id, sample->cgroup_id, &entry)) {
		books->unattributed++;
		return 0;
	}
	account = &books->list[entry];
	page = account->pages[sample->event];
	if (!page) {
		page = take_page(books);
		if (!page)
			return -ENOMEM;
		account->pages[sample->event] = page;
	}
	if (!account->moved)
		books->moved[books->n_moved++] = (u32)entry;
	account->moved = true;
	if (event->has_latency)
		account_latency(&page->latency, sample, false);
	else if (event->has_source)
		account_plain(&page->plain, sample, false);
	else
		account_count(&page->plain, sample, false);
	return 0;
}

int account_books_add(struct account_books *books, const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (!replay_sum_add(&books->sum, &samples[i], 1)) {
			fold_all(books);
			(void)replay_sum_add(&books->sum, &samples[i], 1);
		}
		r = add(books, &samples[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static void give_back(struct account_books *books, struct account *account)
{
	for (size_t event = 0; event < books->n_events; event++) {
		struct page *page = TAKE_PTR(account->pages[event]);

		if (!page)
			continue;
		page->next = books->unused;
		books->unused = page;
	}
	account->moved = false;
}

void account_books_collect(struct account_books *books, account_books_callback callback, void *userdata)
{
	fold_all(books);
	for (size_t i = 0; i < books->n_moved; i++) {
		struct account *account = &books->list[books->moved[i]];
		const struct figures *differences[EVENTS_MAX] = {NULL};

		for (size_t event = 0; event < books->n_events; event++)
			if (account->pages[event])
				differences[event] = &account->pages[event]->figures;
		callback(userdata, books->moved[i], account->path, differences);
		give_back(books, account);
	}
	books->n_moved = 0;
}

u64 account_books_unattributed(const struct account_books *books)
{
	return books->unattributed;
}

struct account_losses account_books_losses(const struct account_books *books, unsigned event)
{
	return books->losses[event];
}
