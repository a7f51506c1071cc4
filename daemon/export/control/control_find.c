// SPDX-License-Identifier: GPL-2.0
/* FindCgroups: the cgroups that a user means by a name. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/json_get.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "cgroup/cgroup_match.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/control/control_past.h"
#include "export/json/json_names.h"
#include "export/json/json_writer.h"

/* Paths in a reply. A user who gets this many has to type a longer name in any case. */
#define FOUND_MAX 16

/* Fewer letters are part of too many names to suggest one. */
#define CONTAINED_MIN 3

struct found {
	const char *name;
	const char *paths[FOUND_MAX];
	size_t n;
	bool more;
	bool exact;        /* a path is displayed exactly as the name, and alone counts */
	const char *named; /* shown form of the path that alone has this name, and alone counts; NULL: none */
	struct short_names *names;
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
		(void)snprintf(stem, length + 1, "%s", part);
	return stem;
}

/* Returns the first text that begins with `name`, or else one that contains it; NULL: none does. */
static const char *find_containing(const char *const *texts, size_t n, const char *name)
{
	const char *containing = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *at = strlen(name) >= CONTAINED_MIN ? strstr(texts[i], name) : NULL;

		if (at == texts[i])
			return texts[i];
		if (at && !containing)
			containing = texts[i];
	}
	return containing;
}

/* The name of a path, which need not be UTF-8. NULL: no memory. */
static const char *find_name(struct short_names *names, const char *path)
{
	_cleanup_free_ char *shown = NULL;

	return utf8_show(path, &shown) < 0 ? NULL : short_names_find(names, shown);
}

/*
 * Returns the path whose name, or end with or without its suffix, is most similar; NULL: none is, or no memory.
 * The names are in their shown form.
 */
static const char *find_nearest(const struct snapshot *snapshot, struct short_names *names, const char *name)
{
	size_t n = snapshot->n_cgroups;
	_cleanup_free_ const char **parts = calloc(3 * n + 1, sizeof(*parts));
	_cleanup_(arena_done) struct arena arena = {0};
	const char *nearest;

	if (!parts)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		parts[i] = last_part(snapshot->cgroups[i].path);
		parts[n + i] = copy_stem(&arena, parts[i]);
		parts[2 * n + i] = find_name(names, snapshot->cgroups[i].path);
		if (!parts[n + i] || !parts[2 * n + i])
			return NULL;
	}
	nearest = suggest_nearest(name, parts, 3 * n);
	if (!nearest)
		nearest = suggest_nearest(last_part(name), parts, 3 * n);
	if (!nearest)
		nearest = find_containing(parts, 3 * n, name);
	for (size_t i = 0; nearest && i < 3 * n; i++)
		if (parts[i] == nearest)
			return snapshot->cgroups[i % n].path;
	return NULL;
}

/* Puts the shown form of a path to `paths`, and its name to `list`. */
static void append(struct json_writer *writer, struct short_names *names, const char *path,
		   json_object *paths, json_object *list)
{
	_cleanup_free_ char *shown = NULL;
	const char *name = utf8_show(path, &shown) < 0 ? NULL : short_names_find(names, shown);

	json_append(writer, paths, shown ? json_object_new_string(shown) : NULL);
	json_append(writer, list, name ? json_object_new_string(name) : NULL);
}

static json_object *make_reply(const struct snapshot *snapshot, const struct found *found)
{
	const char *nearest =
		found->n == 0 && !found->named ? find_nearest(snapshot, found->names, found->name) : NULL;
	struct json_writer writer = {0};
	json_object *reply = json_checked(&writer, json_object_new_object());
	json_object *paths = json_checked(&writer, json_object_new_array());
	json_object *list = json_checked(&writer, json_object_new_array());

	json_put_u64(&writer, reply, "version", JSON_VERSION);
	if (found->named) {
		json_append(&writer, paths, json_object_new_string(found->named));
		json_append(&writer, list, json_object_new_string(found->name));
	}
	for (size_t i = 0; i < found->n && !found->named; i++)
		append(&writer, found->names, found->paths[i], paths, list);
	json_put(&writer, reply, "cgroups", paths);
	json_put(&writer, reply, "names", list);
	if (found->more && !found->named)
		json_put(&writer, reply, "more", json_object_new_boolean(true));
	if (nearest) {
		const char *name;

		json_put_text(&writer, reply, "nearest", nearest);
		name = short_names_find(found->names, json_get_text(reply, "nearest"));
		json_put(&writer, reply, "nearest_name", name ? json_object_new_string(name) : NULL);
	}
	return json_finish(&writer, reply);
}

/* Gives names to cgroups of the past, as replies about the past do. */
static int add_names(struct short_names *names, const struct snapshot *past)
{
	for (size_t i = 0; i < past->n_cgroups; i++)
		if (!find_name(names, past->cgroups[i].path))
			return -ENOMEM;
	return 0;
}

/*
 * A name that replies show belongs to one cgroup alone. If that cgroup has no samples of its own, or had none in the
 * past, others that the name may mean come first. `past` NULL: the present.
 */
static void try_name(struct found *found, const struct snapshot *past)
{
	bool sampled = false;
	const char *path = short_names_path(found->names, found->name, &sampled);

	if (path && past)
		sampled = json_find_cgroup(past, path);
	if (!found->exact && (sampled || found->n == 0))
		found->named = path;
}

int control_find_cgroups(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"name", "since", "until", NULL});
	struct found found = {.name = json_get_text(parameters, "name")};
	const struct snapshot *snapshot, *then;
	const struct past *past = NULL;
	struct control_when when;
	const char *mistake;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!found.name || !*found.name)
		return varlink_invalid_parameter(call, "name");
	mistake = control_get_when(parameters, false, time(NULL), &when);
	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (when.past && !control_past_cgroups(call, userdata, &when, NULL, &past, &r))
		return r;
	then = past ? past_snapshot(past) : NULL;
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r == 0)
		r = control_names(userdata, &found.names);
	if (r == 0 && then)
		r = add_names(found.names, then);
	if (r < 0)
		return control_not_measured(call, r);
	if (then)
		try_all(&found, then);
	if (found.n == 0)
		try_all(&found, snapshot);
	try_name(&found, then);
	return control_reply(call, make_reply(then ? then : snapshot, &found));
}
