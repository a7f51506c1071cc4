// SPDX-License-Identifier: GPL-2.0
#include "store/store.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "base/log.h"
#include "store/stored_name.h"

#define SETTLE_USEC 10000000

/*
 * Descriptors that may be on their way to the manager at the same time. The kernel refuses more than RLIMIT_NOFILE of
 * a user (ETOOMANYREFS, unix(7)).
 */
#define UNSETTLED_MAX 200

/*
 * The next process gets all names in $LISTEN_FDNAMES, which is one string of the environment. exec refuses
 * strings longer than 32 pages (MAX_ARG_STRLEN, uapi linux/binfmts.h), so with more names the unit would not
 * start again. The 32nd page is for the name of the variable and the names of sockets.
 */
#define NAMES_BYTES_MAX (31UL * 4096)

struct passed {
	char *name;
	int fd; /* -1: taken */
};

struct stored {
	const char *name; /* `copy`, but for a key to find it with */
	size_t n;         /* number of descriptors with this name */
	char copy[];
};

struct store {
	bool has_manager;
	size_t n;
	struct passed *passed; /* sorted by name */
	void *stored;          /* tsearch(3): a struct stored for each name that the manager has */
	size_t names_bytes;    /* bytes of the names of stored descriptors, with a separator each */
	unsigned unsettled;    /* descriptors that were sent since the last store_settle() */
};

struct store *store_free(struct store *store)
{
	if (!store)
		return NULL;
	for (size_t i = 0; i < store->n; i++) {
		cleanup_close(&store->passed[i].fd);
		free(store->passed[i].name);
	}
	free(store->passed);
	tdestroy(store->stored, free);
	free(store);
	return NULL;
}

static int compare_stored(const void *a, const void *b)
{
	return strcmp(((const struct stored *)a)->name, ((const struct stored *)b)->name);
}

/* Returns the entry of a name, which begins with no descriptor, or NULL without memory. */
static struct stored *stored_entry(struct store *store, const char *name)
{
	const size_t size = strlen(name) + 1;
	_cleanup_free_ struct stored *added = calloc(1, sizeof(*added) + size);
	struct stored **found;

	if (!added)
		return NULL;
	added->name = memcpy(added->copy, name, size);
	found = tsearch(added, &store->stored, compare_stored);
	if (!found)
		return NULL;
	if (*found == added)
		return TAKE_PTR(added);
	return *found;
}

/* Removes the entry of a name. Only what was stored is subtracted: storing may have failed. */
static void forget(struct store *store, const char *name)
{
	const struct stored key = {.name = name};
	struct stored **found = tfind(&key, &store->stored, compare_stored);
	struct stored *entry = found ? *found : NULL;

	if (!entry)
		return;
	store->names_bytes -= entry->n * (strlen(name) + 1);
	(void)tdelete(entry, &store->stored, compare_stored);
	free(entry);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct passed *)a)->name, ((const struct passed *)b)->name);
}

static bool is_ours(const char *name)
{
	struct stored_name parsed;

	return stored_name_parse(name, &parsed);
}

static int take_over(struct store *store, char **names, size_t n)
{
	store->passed = calloc(n, sizeof(*store->passed));
	if (!store->passed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		store->passed[i] =
			(struct passed){.name = TAKE_PTR(names[i]), .fd = SD_LISTEN_FDS_START + (int)i};
		store->n++;
	}
	for (size_t i = 0; i < n; i++) {
		struct stored *entry;

		if (!is_ours(store->passed[i].name))
			continue;
		entry = stored_entry(store, store->passed[i].name);
		if (!entry)
			return -ENOMEM;
		entry->n++;
		store->names_bytes += strlen(store->passed[i].name) + 1;
	}
	qsort(store->passed, n, sizeof(*store->passed), compare);
	return 0;
}

int store_open(struct store **ret)
{
	_cleanup_(store_freep) struct store *store = calloc(1, sizeof(*store));
	const char *socket = getenv("NOTIFY_SOCKET");
	char **names = NULL;
	int n, r = 0;

	if (!store)
		return -ENOMEM;
	store->has_manager = socket && *socket;
	n = sd_listen_fds_with_names(1, &names);
	if (n > 0)
		r = take_over(store, names, (size_t)n);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (n < 0)
		(void)log_warning(
			0,
			"cannot read which descriptors the service manager passed: %s; they are not used, and all counters start from zero",
			strerror(-n));
	if (r < 0)
		return r;
	if (!store->has_manager)
		log_debug(
			"no service manager stores descriptors: after a restart all counters start from zero");
	*ret = TAKE_PTR(store);
	return 0;
}

bool store_has_manager(const struct store *store)
{
	return store && store->has_manager;
}

/* Returns the first descriptor with this name, or NULL. */
static struct passed *find(const struct store *store, const char *name)
{
	const struct passed key = {.name = (char *)name};
	struct passed *found;

	if (!store || store->n == 0)
		return NULL;
	found = bsearch(&key, store->passed, store->n, sizeof(*store->passed), compare);
	while (found && found > store->passed && compare(found - 1, &key) == 0)
		found--;
	return found;
}

int store_take(struct store *store, const char *name)
{
	struct passed *found = find(store, name);
	const struct passed *next = found ? found + 1 : NULL;

	if (!found || found->fd < 0)
		return -ENOENT;
	if (next < store->passed + store->n && compare(found, next) == 0)
		return -ENOTUNIQ;
	return TAKE_FD(found->fd);
}

int store_take_one_of(struct store *store, const char *name)
{
	struct passed *found = find(store, name);

	for (; found && found < store->passed + store->n && strcmp(found->name, name) == 0; found++)
		if (found->fd >= 0)
			return TAKE_FD(found->fd);
	return -ENOENT;
}

const char *store_nth(const struct store *store, size_t index)
{
	for (size_t i = 0; store && i < store->n; i++)
		if (store->passed[i].fd >= 0 && index-- == 0)
			return store->passed[i].name;
	return NULL;
}

void store_drop_rest(struct store *store)
{
	const char *last = "";

	for (size_t i = 0; store && i < store->n; i++) {
		struct passed *passed = &store->passed[i];

		if (passed->fd < 0 || !is_ours(passed->name))
			continue;
		/* The manager removes all descriptors with this name at once. */
		if (strcmp(passed->name, last) != 0)
			(void)store_remove(store, passed->name);
		last = passed->name;
		cleanup_close(&passed->fd);
		passed->fd = -1;
	}
}

int store_put(struct store *store, const char *name, int fd)
{
	size_t bytes = strlen(name) + 1;
	char message[STORED_NAME_MAX + 64];
	struct stored *entry;
	int r;

	if (!store_has_manager(store))
		return 0;
	if (store->names_bytes + bytes > NAMES_BYTES_MAX)
		return -E2BIG;
	entry = stored_entry(store, name);
	if (!entry)
		return -ENOMEM;
	if (store->unsettled == UNSETTLED_MAX)
		(void)store_settle(store);
	/*
	 * FDPOLL=0 keeps the manager from polling the descriptor. An event that is not mapped polls as hung up, and
	 * a map as failed, so the manager would remove both.
	 */
	(void)snprintf(message, sizeof(message), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	r = sd_pid_notify_with_fds(0, 0, message, &fd, 1);
	if (r > 0) {
		entry->n++;
		store->names_bytes += bytes;
		store->unsettled++;
	}
	return r < 0 ? r : 0;
}

int store_remove(struct store *store, const char *name)
{
	int r;

	if (!store_has_manager(store))
		return 0;
	r = sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name);
	if (r > 0)
		forget(store, name);
	return r < 0 ? r : 0;
}

int store_settle(struct store *store)
{
	int r;

	if (!store_has_manager(store))
		return 0;
	store->unsettled = 0;
	r = sd_notify_barrier(0, SETTLE_USEC);
	return r < 0 ? r : 0;
}
