// SPDX-License-Identifier: GPL-2.0
/* The paths of targets, and the entries of the totals whose deltas are added to them. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

#define TABLE_LOG2_MIN 6

/* With a secret key: users choose the paths of cgroups, and could choose paths that all fall into one bucket. */
static u64 hash_of(const struct policy *policy, const char *name)
{
	return siphash_bytes(&policy->paths_key, name, strlen(name));
}

static size_t bucket_of(unsigned log2, u64 hash)
{
	return (size_t)(hash >> (64 - log2));
}

static int compare_to(const struct policy_path *path, u64 hash, const char *name)
{
	if (path->hash != hash)
		return path->hash < hash ? -1 : 1;
	return strcmp(path->name, name);
}

/* The link to the path, or the link where it would be inserted. */
static struct policy_path **place_of(struct policy_path **table, unsigned log2, u64 hash, const char *name)
{
	struct policy_path **place = &table[bucket_of(log2, hash)];

	while (*place && compare_to(*place, hash, name) < 0)
		place = &(*place)->next;
	return place;
}

struct policy_path *path_find(const struct policy *policy, const char *name)
{
	u64 hash = hash_of(policy, name);
	struct policy_path *path;

	if (!policy->paths)
		return NULL;
	path = *place_of(policy->paths, policy->paths_log2, hash, name);
	return path && compare_to(path, hash, name) == 0 ? path : NULL;
}

static int resize_paths(struct policy *policy, unsigned log2)
{
	struct policy_path **table = calloc((size_t)1 << log2, sizeof(struct policy_path *));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; policy->paths && i < (size_t)1 << policy->paths_log2; i++) {
		while (policy->paths[i]) {
			struct policy_path *path = policy->paths[i];
			struct policy_path **place = place_of(table, log2, path->hash, path->name);

			policy->paths[i] = path->next;
			path->next = *place;
			*place = path;
		}
	}
	free(policy->paths);
	policy->paths = table;
	policy->paths_log2 = log2;
	return 0;
}

/*
 * Log2 of the number of buckets for `n` elements. A table shrinks only if it has more than four times as many
 * buckets as it needs.
 */
static unsigned log2_for(unsigned now, size_t n)
{
	unsigned log2 = TABLE_LOG2_MIN;

	while ((size_t)1 << log2 < n)
		log2++;
	return log2 > now || log2 + 2 < now ? log2 : now;
}

int path_get(struct policy *policy, const char *name, struct policy_path **ret)
{
	unsigned log2 = log2_for(policy->paths_log2, policy->n_paths + 1);
	size_t length = strlen(name);
	struct policy_path **place;
	struct policy_path *path;
	int r;

	*ret = path_find(policy, name);
	if (*ret)
		return 0;
	if (log2 != policy->paths_log2) {
		r = resize_paths(policy, log2);
		if (r < 0)
			return r;
	}
	path = calloc(1, sizeof(*path) + length + 1);
	if (!path)
		return -ENOMEM;
	memcpy(path->name, name, length + 1);
	path->hash = hash_of(policy, name);
	place = place_of(policy->paths, log2, path->hash, name);
	path->next = *place;
	*place = path;
	policy->n_paths++;
	policy->bytes += sizeof(*path) + length + 1;
	*ret = path;
	return 0;
}

void path_forget(struct policy *policy, struct policy_path *path)
{
	free(path->ignore);
	free(path->threshold);
	path->ignore = path->threshold = NULL;
	if (path->gone)
		TAILQ_REMOVE(&policy->gone, path, gone_list);
	path->gone = false;
}

void path_release(struct policy *policy, struct policy_path *path)
{
	unsigned log2;

	if (!path || path->entry || path->targets || path->ignore || path->threshold)
		return;
	path_forget(policy, path);
	*place_of(policy->paths, policy->paths_log2, path->hash, path->name) = path->next;
	policy->n_paths--;
	policy->bytes -= sizeof(*path) + strlen(path->name) + 1;
	free(path);
	log2 = log2_for(policy->paths_log2, policy->n_paths);
	if (log2 < policy->paths_log2)
		(void)resize_paths(policy, log2);
}

struct policy_path *path_after(const struct policy *policy, const char *name)
{
	u64 hash = name ? hash_of(policy, name) : 0;
	struct policy_path *path;
	size_t bucket;

	if (!policy->paths)
		return NULL;
	bucket = name ? bucket_of(policy->paths_log2, hash) : 0;
	for (path = policy->paths[bucket]; name && path && compare_to(path, hash, name) <= 0;)
		path = path->next;
	for (;;) {
		for (; path; path = path->next)
			if (path->targets)
				return path;
		if (++bucket >= (size_t)1 << policy->paths_log2)
			return NULL;
		path = policy->paths[bucket];
	}
}

static struct entry **entry_bucket(const struct policy *policy, u32 number)
{
	return &policy->entries[number & ((1U << policy->entries_log2) - 1)];
}

static int resize_entries(struct policy *policy, unsigned log2)
{
	size_t n = policy->entries ? (size_t)1 << policy->entries_log2 : 0;
	struct entry **old = policy->entries;
	struct entry **table = calloc((size_t)1 << log2, sizeof(struct entry *));

	if (!table)
		return -ENOMEM;
	policy->entries = table;
	policy->entries_log2 = log2;
	for (size_t i = 0; i < n; i++) {
		while (old[i]) {
			struct entry *entry = old[i];
			struct entry **bucket = entry_bucket(policy, entry->number);

			old[i] = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	free(old);
	return 0;
}

void entry_unlist(struct policy *policy, struct entry *entry)
{
	for (size_t i = 0; i < entry->n; i++)
		entry->targets[i]->refs--;
	policy->bytes -= entry->room * sizeof(struct target *);
	free(entry->targets);
	entry->targets = NULL;
	entry->n = entry->room = 0;
	entry->known = 0;
}

void entry_drop(struct policy *policy, struct entry *entry)
{
	struct entry **place = entry_bucket(policy, entry->number);
	unsigned log2;

	while (*place != entry)
		place = &(*place)->next;
	*place = entry->next;
	entry_unlist(policy, entry);
	entry->path->entry = NULL;
	policy->n_entries--;
	policy->bytes -= sizeof(*entry);
	free(entry);
	log2 = log2_for(policy->entries_log2, policy->n_entries);
	if (log2 < policy->entries_log2)
		(void)resize_entries(policy, log2);
}

static int make_entry(struct policy *policy, u32 number, const char *name, struct entry **ret)
{
	unsigned log2 = log2_for(policy->entries_log2, policy->n_entries + 1);
	struct entry **bucket;
	struct entry *entry;
	struct policy_path *path = NULL;
	int r = 0;

	if (log2 != policy->entries_log2)
		r = resize_entries(policy, log2);
	if (r == 0)
		r = path_get(policy, name, &path);
	if (r < 0 || !path)
		return r;
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		path_release(policy, path);
		return -ENOMEM;
	}
	if (path->entry)
		entry_drop(policy, path->entry); /* the totals have given it a new number */
	entry->number = number;
	entry->path = path;
	path->entry = entry;
	bucket = entry_bucket(policy, number);
	entry->next = *bucket;
	*bucket = entry;
	policy->n_entries++;
	policy->bytes += sizeof(*entry);
	*ret = entry;
	return 0;
}

int entry_get(struct policy *policy, u32 number, const char *name, struct entry **ret)
{
	struct entry *entry = policy->entries ? *entry_bucket(policy, number) : NULL;

	while (entry && entry->number != number)
		entry = entry->next;
	if (entry && strcmp(entry->path->name, name) == 0) {
		*ret = entry;
		return 0;
	}
	if (entry) {
		struct policy_path *path = entry->path;

		entry_drop(policy, entry); /* the totals have given the number to another path */
		path_release(policy, path);
	}
	return make_entry(policy, number, name, ret);
}
