// SPDX-License-Identifier: GPL-2.0
#include "cgroup/short_names.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "cgroup/short_name.h"

/* Trees find by the first member, a text. */
struct named {
	const char *path; /* shown form */
	const char *raw;  /* the path itself, or its shown form if that is all that is known */
	const char *name;
	unsigned int level;
	bool sampled;
	bool removed;
	struct named *next; /* the next one to name, in place() */
};

struct used_name {
	const char *name;
	struct named *owner; /* NULL: several cgroups would have this name, so none has it */
	bool free;           /* all of these are removed ones, so a present one can have it */
};

struct short_names {
	struct arena arena;
	const struct container_lookup *lookup;
	unsigned int labels;
	void *paths; /* trees of tsearch(3): they cannot be made slow by chosen names, as a hash could */
	void *names;
};

static int compare(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

static void keep(void *item)
{
	(void)item; /* the arena's */
}

int short_names_new(const struct container_lookup *lookup, unsigned int labels, struct short_names **ret)
{
	struct short_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->lookup = lookup;
	names->labels = labels;
	*ret = names;
	return 0;
}

struct short_names *short_names_free(struct short_names *names)
{
	if (!names)
		return NULL;
	tdestroy(names->paths, keep);
	tdestroy(names->names, keep);
	arena_done(&names->arena);
	free(names);
	return NULL;
}

static const char *copy(struct short_names *names, const char *text, size_t length)
{
	char *copied = arena_take(&names->arena, length + 1);

	if (copied)
		memcpy(copied, text, length);
	return copied;
}

static void *find(void *const *tree, const char *text)
{
	void *node = tfind(&text, tree, compare);

	return node ? *(void **)node : NULL;
}

/* Returns the shown form of the name at this level, owned by the arena; NULL: no memory. */
static const char *name_of(struct short_names *names, const struct named *entry, unsigned int level)
{
	const struct container *known =
		names->lookup ? names->lookup->find(names->lookup->userdata, entry->raw) : NULL;
	struct container labels = {0};
	_cleanup_free_ char *name = NULL, *shown = NULL;

	for (enum container_label label = 0; known && label < CONTAINER_LABELS; label++)
		if (names->labels & 1U << label)
			labels.text[label] = known->text[label];
	if (short_name(entry->raw, &labels, level, &name) < 0)
		return NULL;
	if (entry->raw == entry->path && utf8_is_valid(name))
		return copy(names, name, strlen(name));
	if (utf8_show(name, &shown) < 0)
		return NULL;
	return copy(names, shown, strlen(shown));
}

/* Gives the cgroup the first name from its level on that no other cgroup would have. */
static int place(struct short_names *names, struct named *added)
{
	struct named *entry = added;

	added->next = NULL;
	while (entry) {
		const char *name = name_of(names, entry, entry->level);
		struct used_name *used = name ? find(&names->names, name) : NULL;
		struct named *other;

		if (!name)
			return -ENOMEM;
		entry->name = name;
		if (!used) {
			used = arena_take(&names->arena, sizeof(*used));
			if (!used)
				return -ENOMEM;
			*used = (struct used_name){name, entry, false};
			if (!tsearch(used, &names->names, compare))
				return -ENOMEM;
			entry = entry->next;
			continue;
		}
		if (used->owner == entry || entry->level >= SHORT_NAME_PATH) {
			entry = entry->next;
			continue;
		}
		other = used->owner;
		if (!other && used->free && !entry->removed) {
			used->owner = entry;
			entry = entry->next;
			continue;
		}
		if (!other || other->level >= SHORT_NAME_PATH || (entry->removed && !other->removed)) {
			entry->level++;
			continue;
		}
		/* The owner gets a longer name first. */
		other->level++;
		if (other->removed && !entry->removed) {
			used->owner = entry;
			other->next = entry->next;
		} else {
			used->owner = NULL;
			used->free = entry->removed;
			entry->level++;
			other->next = entry;
		}
		entry = other;
	}
	return 0;
}

/*
 * Uses the first `length` bytes of the path. `is_shown`: `path` is the shown form, and the path itself is not known.
 * Sets `*ret_new` if the cgroup was not known to exist now.
 */
static int add_one(struct short_names *names, const char *path, size_t length, struct named about,
		   bool is_shown, bool *ret_new)
{
	_cleanup_free_ char *raw = strndup(path, length), *shown = NULL;
	struct named *entry;

	*ret_new = false;
	if (!raw)
		return -ENOMEM;
	if (!is_shown && !utf8_is_shown_as(raw, raw) && utf8_show(raw, &shown) < 0)
		return -ENOMEM;
	entry = find(&names->paths, shown ? shown : raw);
	if (entry) {
		*ret_new = entry->removed && !about.removed;
		entry->sampled = entry->sampled || about.sampled;
		entry->removed = entry->removed && about.removed;
		return 0;
	}
	entry = arena_take(&names->arena, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = about;
	entry->raw = entry->path = copy(names, raw, length);
	if (shown)
		entry->path = copy(names, shown, strlen(shown));
	if (!entry->raw || !entry->path || !tsearch(entry, &names->paths, compare))
		return -ENOMEM;
	*ret_new = true;
	return place(names, entry);
}

/* Removes the last component of a path from `*length`. Returns false if nothing but the root is above. */
static bool go_up(const char *path, size_t *length)
{
	while (*length > 1 && path[*length - 1] != '/')
		--*length;
	return --*length > 0;
}

static int add_all(struct short_names *names, const char *path, struct named about, bool is_shown)
{
	size_t length = strlen(path);
	bool added = false;
	int r = *path ? add_one(names, path, length, about, is_shown, &added) : 0;

	about.sampled = false;
	/* The cgroups above a known one are known, and those above a present one are present. */
	while (r == 0 && added && path[0] == '/' && go_up(path, &length))
		r = add_one(names, path, length, about, is_shown, &added);
	return r;
}

int short_names_add(struct short_names *names, const char *path, bool sampled)
{
	struct named *known = find(&names->paths, path);

	/* The usual case needs no memory. */
	if (known && strcmp(known->raw, path) == 0 && !known->removed) {
		known->sampled = known->sampled || sampled;
		return 0;
	}
	return add_all(names, path, (struct named){.sampled = sampled}, false);
}

int short_names_add_removed(struct short_names *names, const char *path, bool *ret_longer)
{
	_cleanup_free_ char *shown = NULL;
	struct named *known;

	if (!utf8_is_shown_as(path, path) && utf8_show(path, &shown) < 0)
		return -ENOMEM;
	known = find(&names->paths, shown ? shown : path);
	if (!known)
		return add_all(names, path, (struct named){.sampled = true, .removed = true}, false);
	if (!known->removed && known->level > 0)
		*ret_longer = true;
	known->removed = true;
	return 0;
}

const char *short_names_find(struct short_names *names, const char *shown)
{
	const struct named *entry = find(&names->paths, shown);

	if (!entry && add_all(names, shown, (struct named){.removed = true}, true) < 0)
		return NULL;
	entry = find(&names->paths, shown);
	return entry ? entry->name : shown;
}

const char *short_names_path(const struct short_names *names, const char *name, bool *ret_sampled)
{
	const struct used_name *used = find(&names->names, name);

	if (!used || !used->owner)
		return NULL;
	if (ret_sampled)
		*ret_sampled = used->owner->sampled;
	return used->owner->path;
}
