// SPDX-License-Identifier: GPL-2.0
#include "act/alert_store.h"

#include <errno.h>
#include <string.h>

void alert_store_init(struct alert_store *store)
{
	*store = (struct alert_store){.next_number = 1};
}

static void free_alerts(struct policy_saved_alert *saved_alerts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)saved_alerts[i].cgroup);
		free((char *)saved_alerts[i].event_key);
	}
	free(saved_alerts);
}

void alert_store_clear(struct alert_store *store)
{
	free_alerts(store->saved_alerts, store->n_saved_alerts);
	free(store->intents);
	free(store->files);
	alert_store_init(store);
}

int alert_store_set_alerts(struct alert_store *store, const struct policy_saved_alert *saved_alerts, size_t n)
{
	struct policy_saved_alert *copy = calloc(n ? n : 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = saved_alerts[i];
		copy[i].cgroup = strdup(saved_alerts[i].cgroup);
		copy[i].event_key = strdup(saved_alerts[i].event_key);
		if (!copy[i].cgroup || !copy[i].event_key) {
			free_alerts(copy, i + 1);
			return -ENOMEM;
		}
	}
	free_alerts(store->saved_alerts, store->n_saved_alerts);
	store->saved_alerts = copy;
	store->n_saved_alerts = n;
	return 0;
}

int alert_store_begin(struct alert_store *store, u64 alert, bool firing, unsigned actions)
{
	struct alert_store_intent *longer;

	longer = reallocarray(store->intents, store->n_intents + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	store->intents = longer;
	longer[store->n_intents++] =
		(struct alert_store_intent){.alert = alert, .firing = firing, .actions = actions};
	return 0;
}

void alert_store_end(struct alert_store *store, u64 alert, bool firing, unsigned actions)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->n_intents; i++) {
		struct alert_store_intent intent = store->intents[i];

		if (intent.alert == alert && intent.firing == firing)
			intent.actions &= ~actions;
		if (intent.actions)
			store->intents[kept++] = intent;
	}
	store->n_intents = kept;
}

static int compare_files(const void *a, const void *b)
{
	u64 left = ((const struct alert_store_file *)a)->alert,
	    right = ((const struct alert_store_file *)b)->alert;

	return (left > right) - (left < right);
}

struct alert_store_file *alert_store_find_file(const struct alert_store *store, u64 alert)
{
	const struct alert_store_file wanted = {.alert = alert};

	if (store->n_files == 0)
		return NULL;
	return bsearch(&wanted, store->files, store->n_files, sizeof(wanted), compare_files);
}

int alert_store_add_file(struct alert_store *store, u64 alert)
{
	struct alert_store_file *longer;
	size_t at = store->n_files;

	if (alert_store_find_file(store, alert))
		return 0;
	longer = reallocarray(store->files, store->n_files + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	store->files = longer;
	for (; at > 0 && longer[at - 1].alert > alert; at--)
		longer[at] = longer[at - 1];
	longer[at] = (struct alert_store_file){.alert = alert};
	store->n_files++;
	return 0;
}

void alert_store_remove_file(struct alert_store *store, u64 alert)
{
	struct alert_store_file *file = alert_store_find_file(store, alert);

	if (!file)
		return;
	store->n_files--;
	memmove(file, file + 1, (size_t)(store->files + store->n_files - file) * sizeof(*file));
}
