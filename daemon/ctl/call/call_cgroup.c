// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call_cgroup.h"

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"

static enum ctl_exit copy(const char *text, char **ret)
{
	*ret = strdup(text);
	return *ret ? CTL_DONE : failure_of_memory();
}

/* Returns item `i` of a list of texts, or NULL. The caller frees it. */
static char *visible_item(json_object *list, size_t i)
{
	json_object *item = list ? json_object_array_get_idx(list, i) : NULL;

	return json_object_is_type(item, json_type_string) ? text_visible(json_object_get_string(item))
							   : NULL;
}

static enum ctl_exit report_several(const char *name, json_object *paths, json_object *names, bool more)
{
	_cleanup_free_ char *visible = text_visible(name);

	(void)fprintf(
		stderr,
		"pebsctl: several cgroups are named '%s'; give one of these names, or more of the path:\n",
		visible ? visible : "?");
	for (size_t i = 0; i < json_object_array_length(paths); i++) {
		_cleanup_free_ char *path = visible_item(paths, i), *own = visible_item(names, i);

		(void)fprintf(stderr, "  %s%s%s%s\n", own ? own : "", own ? " (" : "", path ? path : "?",
			      own ? ")" : "");
	}
	if (more)
		(void)fprintf(stderr, "  and others\n");
	return CTL_NO_SUCH;
}

static enum ctl_exit choose(const json_object *reply, const char *name, char **ret_path, bool *ret_known,
			    char **ret_nearest)
{
	json_object *paths = json_get_array(reply, "cgroups");
	size_t n = paths ? json_object_array_length(paths) : 0;
	const char *nearest = json_get_text(reply, "nearest_name");
	const char *only;
	bool more = false;

	if (!nearest)
		nearest = json_get_text(reply, "nearest"); /* an older daemon */

	(void)json_get_bool(reply, "more", &more);
	if (n > 1)
		return report_several(name, paths, json_get_array(reply, "names"), more);
	only = n == 1 ? json_object_get_string(json_object_array_get_idx(paths, 0)) : NULL;
	*ret_known = only != NULL;
	if (nearest && !only && copy(nearest, ret_nearest) != CTL_DONE)
		return CTL_FAILED;
	return copy(only ? only : name, ret_path);
}

enum ctl_exit call_cgroup(const struct ctl_options *options, const char *name, const struct call_range *range,
			  char **ret_path, bool *ret_known, char **ret_nearest)
{
	_cleanup_(client_closep) struct client *client = NULL;
	json_object *parameters = json_object_new_object();
	struct client_reply reply = {0};
	enum ctl_exit result;
	int r;

	*ret_path = *ret_nearest = NULL;
	*ret_known = true;
	if (!call_add_name(parameters, "name", name) || (range && !call_add_range(parameters, range))) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	result = call_open(options, &client);
	if (result != CTL_DONE) {
		json_object_put(parameters);
		return result;
	}
	r = client_call(client, "io.pebsd.FindCgroups", parameters, &reply);
	if (r < 0)
		result = failure_of_connection(options, r);
	/*
	 * An older daemon, or one without a collection or history. Use the name as given: the verb's own call reports
	 * the error.
	 */
	else if (reply.error)
		result = copy(name, ret_path);
	else
		result = choose(reply.parameters, name, ret_path, ret_known, ret_nearest);
	json_object_put(reply.root);
	return result;
}
