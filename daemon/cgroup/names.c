// SPDX-License-Identifier: GPL-2.0
#include "cgroup/names.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/utf8.h"

#define ID_TEXT_MAX sizeof("cgroup:18446744073709551615")

/*
 * An entry exists while its cgroup is alive or has children. Children point to the entry of their parent
 * instead of its id, so they keep their path when the id is reused.
 */
struct name {
	u64 id; /* must be first: tfind(3) compares it with a plain id */
	struct name *parent;
	size_t children;
	char *text; /* component, or a whole path; NULL: unknown */
	bool alive;
	bool added;   /* by names_add() or names_add_path(); otherwise it is known only as a parent */
	bool whole;   /* `text` is a whole path */
	bool indexed; /* the index finds it by its id */
	LIST_ENTRY(name) all;
};

struct names {
	void *index; /* struct name by id: tsearch(3) */
	LIST_HEAD(, name) all;
	size_t count;
	size_t max;
};

static int compare_ids(const void *a, const void *b)
{
	u64 left = *(const u64 *)a;
	u64 right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

static struct name *find(const struct names *names, u64 id)
{
	struct name *const *place = tfind(&id, &names->index, compare_ids);

	return place ? *place : NULL;
}

int names_new(size_t max, struct names **ret)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	LIST_INIT(&names->all);
	names->max = max;
	*ret = names;
	return 0;
}

static void name_free(struct name *name)
{
	free(name->text);
	free(name);
}

static void leave_to_list(void *name)
{
	(void)name;
}

struct names *names_free(struct names *names)
{
	if (!names)
		return NULL;
	tdestroy(names->index, leave_to_list);
	for (struct name *name = LIST_FIRST(&names->all), *next; name; name = next) {
		next = LIST_NEXT(name, all);
		name_free(name);
	}
	free(names);
	return NULL;
}

/* Frees a name that is no longer needed, and the ancestors that only it needed. */
static void release(struct names *names, struct name *name)
{
	while (name && !name->alive && !name->children) {
		struct name *parent = name->parent;

		if (name->indexed)
			tdelete(&name->id, &names->index, compare_ids);
		LIST_REMOVE(name, all);
		names->count--;
		name_free(name);
		if (parent)
			parent->children--;
		name = parent;
	}
}

static void unhold(struct names *names, struct name *parent)
{
	if (!parent)
		return;
	parent->children--;
	release(names, parent);
}

/* Makes an unknown name. `place`: the index's entry for this id, which gets the new name. NULL: none yet. */
static int name_new(struct names *names, u64 id, struct name **place, struct name **ret)
{
	_cleanup_free_ struct name *name = calloc(1, sizeof(*name));

	if (!name)
		return -ENOMEM;
	name->id = id;
	if (place)
		*place = name;
	else if (!tsearch(name, &names->index, compare_ids))
		return -ENOMEM;
	name->indexed = true;
	LIST_INSERT_HEAD(&names->all, name, all);
	names->count++;
	*ret = TAKE_PTR(name);
	return 0;
}

static int find_or_new(struct names *names, u64 id, struct name **ret)
{
	*ret = find(names, id);
	if (*ret)
		return 0;
	return names->count < names->max ? name_new(names, id, NULL, ret) : -ENOSPC;
}

/* Makes a new name for the id of `old`, which stays only as long as it has children. */
static int supersede(struct names *names, struct name *old, struct name **ret)
{
	int r;

	if (old->children && names->count >= names->max)
		return -ENOSPC;
	r = name_new(names, old->id, tfind(&old->id, &names->index, compare_ids), ret);
	if (r < 0)
		return r;
	old->indexed = false;
	old->alive = false;
	release(names, old);
	return 0;
}

static bool is_same(const struct name *name, const struct name *parent, const char *text, bool whole)
{
	if (name->parent != parent || name->whole != whole)
		return false;
	return !name->text || !text || strcmp(name->text, text) == 0;
}

static bool is_below(const struct name *name, const struct name *ancestor)
{
	while (name && name != ancestor)
		name = name->parent;
	return name;
}

/* Finds or makes the entry for `id` below `parent`. */
static int find_place(struct names *names, u64 id, const struct name *parent, const char *text, bool whole,
		      struct name **ret)
{
	int r = find_or_new(names, id, ret);

	if (r < 0)
		return r;
	if ((*ret)->added)
		return is_same(*ret, parent, text, whole) ? 0 : supersede(names, *ret, ret);
	return is_below(parent, *ret) ? -EINVAL : 0;
}

/* `text` NULL: the component is unknown. */
static int add(struct names *names, u64 id, u64 parent_id, const char *text, bool whole)
{
	_cleanup_free_ char *copy = text ? strdup(text) : NULL;
	struct name *parent = NULL;
	struct name *name;
	int r;

	if (text && !copy)
		return -ENOMEM;
	if (parent_id) {
		r = find_or_new(names, parent_id, &parent);
		if (r < 0)
			return r;
		parent->children++;
	}
	r = find_place(names, id, parent, text, whole, &name);
	if (r < 0 || name->added)
		unhold(names, parent);
	if (r < 0)
		return r;
	if (!name->added) {
		name->parent = parent;
		name->whole = whole;
		name->added = true;
	}
	if (!name->text)
		name->text = TAKE_PTR(copy);
	name->alive = true;
	return 0;
}

int names_add(struct names *names, u64 id, u64 parent_id, const char *component)
{
	if (!id || id == parent_id)
		return -EINVAL;
	if (!parent_id)
		return add(names, id, 0, "", true);
	if (strchr(component, '/') || strcmp(component, ".") == 0 || strcmp(component, "..") == 0)
		return -EINVAL;
	if (strlen(component) > NAME_MAX)
		return -ENAMETOOLONG;
	return add(names, id, parent_id, *component ? component : NULL, false);
}

int names_add_path(struct names *names, u64 id, const char *path)
{
	if (!id || !*path)
		return -EINVAL;
	return add(names, id, 0, strcmp(path, "/") == 0 ? "" : path, true);
}

void names_remove(struct names *names, u64 id)
{
	struct name *name = find(names, id);

	if (!name)
		return;
	name->alive = false;
	release(names, name);
}

/* Returns the part that a name adds to paths: its text, or "cgroup:ID" in `buffer`. */
static const char *text_of(const struct name *name, char buffer[ID_TEXT_MAX])
{
	if (name->text)
		return name->text;
	(void)snprintf(buffer, ID_TEXT_MAX, "cgroup:%llu", (unsigned long long)name->id);
	return buffer;
}

static bool is_too_long(const struct name *name)
{
	char buffer[ID_TEXT_MAX];
	size_t length = 0;

	for (; name && length < PATH_MAX; name = name->parent)
		length += utf8_shown_length(text_of(name, buffer)) + (name->parent ? 1 : 0);
	return length >= PATH_MAX;
}

int names_path(const struct names *names, u64 id, char **ret)
{
	const struct name *name = find(names, id);
	const struct name unknown = {.id = id};
	char buffer[ID_TEXT_MAX];
	bool complete = true;
	size_t length = 0;
	char *path;

	if (!name || is_too_long(name))
		name = &unknown;
	for (const struct name *n = name; n; n = n->parent) {
		length += strlen(text_of(n, buffer)) + (n->parent ? 1 : 0);
		complete = complete && n->text;
	}
	path = malloc(length + sizeof("/"));
	if (!path)
		return -ENOMEM;
	/* For the root, `length` is 0, and the path stays "/". */
	memcpy(path, "/", sizeof("/"));
	if (length)
		path[length] = '\0';
	for (const struct name *n = name; n; n = n->parent) {
		const char *text = text_of(n, buffer);
		size_t n_text = strlen(text);

		length -= n_text;
		memcpy(path + length, text, n_text);
		if (n->parent)
			path[--length] = '/';
	}
	*ret = path;
	return complete;
}

size_t names_count(const struct names *names)
{
	return names->count;
}
