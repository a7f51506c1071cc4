// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_names.h"

#include "base/json_get.h"

static int add(json_object *value, struct short_names *names)
{
	const char *path = json_get_text(value, "cgroup");
	const char *name = path ? short_names_find(names, path) : NULL;
	json_object *text = name ? json_object_new_string(name) : NULL;

	if (path && !text)
		return -1;
	if (text && json_object_object_add(value, "name", text) < 0) {
		json_object_put(text);
		return -1;
	}
	return 0;
}

static int add_all(json_object *value, struct short_names *names)
{
	int r = 0;

	if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach (value, key, member) {
			(void)key;
			r = r < 0 ? r : add_all(member, names);
		}
		r = r < 0 ? r : add(value, names);
	} else if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++)
			r = add_all(json_object_array_get_idx(value, i), names);
	}
	return r;
}

json_object *json_add_names(json_object *value, struct short_names *names)
{
	if (!value || !names || add_all(value, names) == 0)
		return value;
	json_object_put(value);
	return NULL;
}

int json_names_add(const struct snapshot *snapshot, struct short_names *names)
{
	const struct no_slot *list = snapshot->no_slot;
	int r = 0;

	for (size_t i = 0; r == 0 && i < snapshot->n_cgroups; i++)
		r = short_names_add(names, snapshot->cgroups[i].path, true);
	for (size_t i = 0; r == 0 && list && i < list->n; i++)
		r = short_names_add(names, list->paths[i], true);
	return r;
}

int json_names_new(const struct snapshot *snapshot, struct short_names **ret)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	int r = short_names_new(snapshot->containers, ~0U, &names);

	if (r == 0)
		r = json_names_add(snapshot, names);
	if (r == 0)
		*ret = TAKE_PTR(names);
	return r;
}
