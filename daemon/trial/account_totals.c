// SPDX-License-Identifier: GPL-2.0
#include "trial/account_totals.h"

#include <errno.h>
#include <string.h>

#include "account.h"
#include "base/number_map.h"
#include "origin/replay/replay_limit.h"

/*
 * The counters of one event of one cgroup since the last collection. After a collection a page is reused for
 * any other cgroup, because a recording may have many cgroups, but few of them at the same time.
 */
struct page {
	struct page *next;        /* in the list of unused pages */
	struct counters counters; /* counts that fold() moved here, before sums of the record could wrap */
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

struct account_totals {
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
	struct replay_limit since_fold;
	struct account_losses losses;
};

int account_totals_new(const struct event_settings *events, size_t n_events, size_t max,
		       struct account_totals **ret)
{
	struct account_totals *totals;

	if (n_events > EVENTS_MAX)
		return -EINVAL;
	totals = calloc(1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	memcpy(totals->events, events, n_events * sizeof(*events));
	totals->n_events = n_events;
	totals->max = max;
	*ret = totals;
	return 0;
}

struct account_totals *account_totals_free(struct account_totals *totals)
{
	if (!totals)
		return NULL;
	for (size_t i = 0; i < totals->n; i++) {
		free(totals->list[i].path);
		for (size_t event = 0; event < EVENTS_MAX; event++)
			free(totals->list[i].pages[event]);
	}
	while (totals->unused) {
		struct page *page = totals->unused;

		totals->unused = page->next;
		free(page);
	}
	number_map_clear(&totals->by_id);
	free(totals->list);
	free(totals->moved);
	free(totals);
	return NULL;
}

static int grow(struct account_totals *totals)
{
	size_t capacity = totals->capacity ? 2 * totals->capacity : 16;
	struct account *list = reallocarray(totals->list, capacity, sizeof(*list));
	u32 *moved;

	if (!list)
		return -ENOMEM;
	totals->list = list;
	moved = reallocarray(totals->moved, capacity, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	totals->moved = moved;
	totals->capacity = capacity;
	return 0;
}

int account_totals_name(struct account_totals *totals, u64 cgroup_id, const char *path)
{
	_cleanup_free_ char *copy = NULL;
	u64 entry;
	int r;

	if (number_map_get(&totals->by_id, cgroup_id, &entry))
		return 0;
	if (totals->n >= totals->max)
		return -ENOSPC;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	if (totals->n == totals->capacity && grow(totals) < 0)
		return -ENOMEM;
	r = number_map_set(&totals->by_id, cgroup_id, totals->n);
	if (r < 0)
		return r;
	totals->list[totals->n++] = (struct account){.path = TAKE_PTR(copy)};
	return 0;
}

/* Moves the counts of the page's record to its `counters`. */
static void fold(const struct event_settings *event, struct page *page)
{
	struct counters counts;

	if (event->has_latency)
		counters_of_latency(&page->latency, &counts);
	else
		counters_of_plain(&page->plain, &counts);
	counters_add(&page->counters, &counts);
	memset(&page->latency, 0, sizeof(page->latency));
}

static void fold_all(struct account_totals *totals)
{
	for (size_t i = 0; i < totals->n_moved; i++)
		for (size_t event = 0; event < totals->n_events; event++)
			if (totals->list[totals->moved[i]].pages[event])
				fold(&totals->events[event], totals->list[totals->moved[i]].pages[event]);
	totals->since_fold = (struct replay_limit){};
}

static struct page *take_page(struct account_totals *totals)
{
	struct page *page = totals->unused;

	if (page) {
		totals->unused = page->next;
		memset(page, 0, sizeof(*page));
		return page;
	}
	page = aligned_alloc(_Alignof(struct page), sizeof(*page));
	if (page)
		memset(page, 0, sizeof(*page));
	return page;
}

/* Treats a sample as account() of the BPF programs does, with a page instead of a slot. */
static int add(struct account_totals *totals, const struct sample *sample)
{
	const struct event_settings *event;
	struct account *account;
	struct page *page;
	u64 entry;

	if (sample->event >= totals->n_events) {
		totals->losses.malformed++;
		return 0;
	}
	event = &totals->events[sample->event];
	if (account_filtered(sample, event->operations)) {
		totals->losses.filtered++;
		return 0;
	}
	if (account_malformed(sample)) {
		totals->losses.malformed++;
		return 0;
	}
	if (!number_map_get(&totals->by_id, sample->cgroup_id, &entry)) {
		totals->losses.unattributed++;
		return 0;
	}
	account = &totals->list[entry];
	page = account->pages[sample->event];
	if (!page) {
		page = take_page(totals);
		if (!page)
			return -ENOMEM;
		account->pages[sample->event] = page;
	}
	if (!account->moved)
		totals->moved[totals->n_moved++] = (u32)entry;
	account->moved = true;
	if (event->has_latency)
		account_latency(&page->latency, sample, false);
	else if (event->has_source)
		account_plain(&page->plain, sample, false);
	else
		account_count(&page->plain, sample, false);
	return 0;
}

int account_totals_add(struct account_totals *totals, const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (!replay_limit_take(&totals->since_fold, &samples[i], 1)) {
			fold_all(totals);
			(void)replay_limit_take(&totals->since_fold, &samples[i], 1);
		}
		r = add(totals, &samples[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static void release(struct account_totals *totals, struct account *account)
{
	for (size_t event = 0; event < totals->n_events; event++) {
		struct page *page = TAKE_PTR(account->pages[event]);

		if (!page)
			continue;
		page->next = totals->unused;
		totals->unused = page;
	}
	account->moved = false;
}

void account_totals_collect(struct account_totals *totals, account_totals_callback callback, void *userdata)
{
	fold_all(totals);
	for (size_t i = 0; i < totals->n_moved; i++) {
		struct account *account = &totals->list[totals->moved[i]];
		const struct counters *deltas[EVENTS_MAX] = {NULL};

		for (size_t event = 0; event < totals->n_events; event++)
			if (account->pages[event])
				deltas[event] = &account->pages[event]->counters;
		callback(userdata, totals->moved[i], account->path, deltas);
		release(totals, account);
	}
	totals->n_moved = 0;
}

struct account_losses account_totals_losses(const struct account_totals *totals)
{
	return totals->losses;
}

int account_losses_note(const struct account_losses *losses, char **ret)
{
	*ret = NULL;
	if (losses->malformed == 0)
		return 0;
	if (asprintf(
		    ret,
		    "malformed samples are not counted: %lu; the recording says that each took more than %llu cycles",
		    losses->malformed, SAMPLE_LATENCY_MAX) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}
