// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_names.h"

#include <json-c/json_visit.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "collect/no_slot.h"

const struct snapshot_cgroup *json_find_cgroup(const struct snapshot *snapshot, const char *shown)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (utf8_is_shown_as(snapshot->cgroups[i].path, shown))
			return &snapshot->cgroups[i];
	return NULL;
}

static int add_name(json_object *object, struct short_names *names)
{
	const char *path = json_get_text(object, "cgroup");
	const char *name = path ? short_names_find(names, path) : NULL;
	json_object *text = name ? json_object_new_string(name) : NULL;

	if (path && !text)
		return -1;
	if (text && json_object_object_add(object, "name", text) < 0) {
		json_object_put(text);
		return -1;
	}
	return 0;
}

/* A json_c_visit_userfunc. NOLINTBEGIN(readability-non-const-parameter) */
static int visit(json_object *value, int flags, json_object *parent, const char *key, size_t *index,
		 void *userdata)
{
	(void)parent;
	(void)key;
	(void)index;
	if (flags != JSON_C_VISIT_SECOND || !json_object_is_type(value, json_type_object))
		return JSON_C_VISIT_RETURN_CONTINUE;
	return add_name(value, userdata) < 0 ? JSON_C_VISIT_RETURN_ERROR : JSON_C_VISIT_RETURN_CONTINUE;
}
/* NOLINTEND(readability-non-const-parameter) */

json_object *json_add_names(json_object *value, struct short_names *names)
{
	if (!value || !names || json_c_visit(value, 0, visit, names) == 0)
		return value;
	json_object_put(value);
	return NULL;
}

int json_names_add(const struct snapshot *snapshot, struct short_names *names, bool *ret_longer)
{
	const struct no_slot *list = snapshot->no_slot;
	int r = 0;

	/* A cgroup that lost its slot is not alive, but in the list: it is present. */
	for (size_t i = 0; r == 0 && i < snapshot->n_cgroups; i++)
		if (!snapshot->cgroups[i].alive &&
		    !(list && no_slot_has_name(list, snapshot->cgroups[i].path)))
			r = short_names_add_removed(names, snapshot->cgroups[i].path, ret_longer);
	for (size_t i = 0; r == 0 && i < snapshot->n_cgroups; i++)
		if (snapshot->cgroups[i].alive)
			r = short_names_add(names, snapshot->cgroups[i].path, true);
	for (size_t i = 0; r == 0 && list && i < list->n; i++)
		r = short_names_add(names, list->paths[i], true);
	return r;
}

int json_names_new(const struct snapshot *snapshot, struct short_names **ret)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	int r = short_names_new(snapshot->containers, ~0U, &names);
	bool longer = false;

	if (r == 0)
		r = json_names_add(snapshot, names, &longer);
	if (r == 0)
		*ret = TAKE_PTR(names);
	return r;
}
