// SPDX-License-Identifier: GPL-2.0
/* FindCgroups: the cgroups that a user means by a name. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_get.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "cgroup/cgroup_match.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/json/json_writer.h"

/* Paths in a reply. A user who gets this many has to type a longer name in any case. */
#define FOUND_MAX 16

struct found {
	const char *name;
	const char *paths[FOUND_MAX];
	size_t n;
	bool more;
	bool exact; /* a path is displayed exactly as the name, and no other counts */
};

/* Returns true if `path` is `above` or lies below it. */
static bool is_at_or_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	return strncmp(path, above, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/*
 * Adds a path, unless it lies below one that was added: a pod's own cgroup stands for its containers. Removes
 * paths below the new one.
 */
static void add(struct found *found, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->n; i++)
		if (is_at_or_below(path, found->paths[i]))
			return;
	for (size_t i = 0; i < found->n; i++)
		if (!is_at_or_below(found->paths[i], path))
			found->paths[kept++] = found->paths[i];
	found->n = kept;
	if (found->n == FOUND_MAX)
		found->more = true;
	else
		found->paths[found->n++] = path;
}

static void try_path(struct found *found, const struct container_lookup *lookup, const char *path)
{
	const struct container *labels = lookup ? lookup->find(lookup->userdata, path) : NULL;

	if (found->exact)
		return;
	if (utf8_is_shown_as(path, found->name)) {
		found->exact = true;
		found->more = false;
		found->paths[0] = path;
		found->n = 1;
	} else if (cgroup_match(path, labels, found->name)) {
		add(found, path);
	}
}

static void try_all(struct found *found, const struct snapshot *snapshot)
{
	const struct no_slot *list = snapshot->no_slot;

	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		try_path(found, snapshot->containers, snapshot->cgroups[i].path);
	for (size_t i = 0; list && i < list->n; i++)
		try_path(found, snapshot->containers, list->paths[i]);
}

/* The part of a path that users type: the last component, or for a "model:NAME" what follows the colon. */
static const char *last_part(const char *path)
{
	const char *at = strrchr(path, path[0] == '/' ? '/' : ':');

	return at && at[1] ? at + 1 : path;
}

/* Copies a name without the suffix of a unit. NULL: no memory. */
static const char *copy_stem(struct arena *arena, const char *part)
{
	const char *suffix = strrchr(part, '.');
	size_t length = suffix ? (size_t)(suffix - part) : strlen(part);
	char *stem = arena_take(arena, length + 1);

	if (stem)
		memcpy(stem, part, length);
	return stem;
}

/* Returns the path whose end, with or without its suffix, is most similar; NULL: none is, or no memory. */
static const char *find_nearest(const struct snapshot *snapshot, const char *name)
{
	size_t n = snapshot->n_cgroups;
	_cleanup_free_ const char **parts = calloc(2 * n + 1, sizeof(*parts));
	_cleanup_(arena_done) struct arena arena = {0};
	const char *nearest;

	if (!parts)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		parts[i] = last_part(snapshot->cgroups[i].path);
		parts[n + i] = copy_stem(&arena, parts[i]);
		if (!parts[n + i])
			return NULL;
	}
	nearest = suggest_nearest(last_part(name), parts, 2 * n);
	for (size_t i = 0; nearest && i < 2 * n; i++)
		if (parts[i] == nearest)
			return snapshot->cgroups[i % n].path;
	return NULL;
}

static int add_shown(json_object *list, const char *path)
{
	_cleanup_free_ char *shown = NULL;
	int r = utf8_show(path, &shown);

	if (r < 0)
		return r;
	return json_object_array_add(list, json_object_new_string(shown)) < 0 ? -ENOMEM : 0;
}

static json_object *make_reply(const struct snapshot *snapshot, const struct found *found)
{
	_cleanup_json_ json_object *reply = json_object_new_object();
	const char *nearest = found->n == 0 ? find_nearest(snapshot, found->name) : NULL;
	_cleanup_free_ char *shown = NULL;
	json_object *list;

	if (!reply || json_object_object_add(reply, "version", json_object_new_int(JSON_VERSION)) < 0)
		return NULL;
	list = json_object_new_array();
	if (!list || json_object_object_add(reply, "cgroups", list) < 0)
		return NULL;
	for (size_t i = 0; i < found->n; i++)
		if (add_shown(list, found->paths[i]) < 0)
			return NULL;
	if (found->more && json_object_object_add(reply, "more", json_object_new_boolean(true)) < 0)
		return NULL;
	if (nearest && (utf8_show(nearest, &shown) < 0 ||
			json_object_object_add(reply, "nearest", json_object_new_string(shown)) < 0))
		return NULL;
	return TAKE_PTR(reply);
}

int control_find_cgroups(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"name", NULL});
	struct found found = {.name = json_get_text(parameters, "name")};
	const struct snapshot *snapshot;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!found.name || !*found.name)
		return varlink_invalid_parameter(call, "name");
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	try_all(&found, snapshot);
	return control_reply(call, make_reply(snapshot, &found));
}
