// SPDX-License-Identifier: GPL-2.0
#include "ctl/call/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "ctl/call/call_failure.h"
#include "format/output.h"

enum ctl_exit call_open(const struct ctl_options *options, struct client **ret)
{
	int r = client_connect(options->socket, ret);

	return r < 0 ? failure_of_connection(options, r) : CTL_DONE;
}

enum ctl_exit call(const struct ctl_options *options, struct client *client, const char *method,
		   json_object *parameters, json_object **ret)
{
	struct client_reply reply = {0};
	enum ctl_exit result = CTL_DONE;
	int r;

	r = client_call(client, method, parameters, &reply);
	if (r < 0)
		result = failure_of_connection(options, r);
	else if (reply.error)
		result = failure_of_call(options, &reply);
	else
		*ret = json_object_get(reply.parameters);
	json_object_put(reply.root);
	return result;
}

/*
 * Maximum number of attempts to get all pages of one moment. If pages of different moments are joined, an
 * item that moved up between two of them is missing. If every attempt gets such pages, those of the last
 * attempt are used.
 */
#define PAGES_TRIES 8

/*
 * Returns a copy of `parameters` for the page at `next`. Its `limit` is reduced by the `had` items received so
 * far. NULL: no memory.
 */
static json_object *next_parameters(const json_object *parameters, u64 next, u64 had)
{
	_cleanup_json_ json_object *copy = NULL;
	u64 limit;

	if (!parameters)
		copy = json_object_new_object();
	else if (json_object_deep_copy((json_object *)parameters, &copy, NULL) < 0)
		return NULL;
	if (!copy || json_object_object_add(copy, "offset", json_object_new_uint64(next)) < 0)
		return NULL;
	if (json_get_u64(copy, "limit", &limit) &&
	    json_object_object_add(copy, "limit", json_object_new_uint64(limit > had ? limit - had : 0)) < 0)
		return NULL;
	return TAKE_PTR(copy);
}

bool call_is_same_moment(const json_object *page, const json_object *other)
{
	const char *taken = json_get_text(page, "taken"), *before = json_get_text(other, "taken");

	return taken && before && strcmp(taken, before) == 0;
}

int call_append(json_object *list, json_object *more)
{
	size_t n = more ? json_object_array_length(more) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *item = json_object_get(json_object_array_get_idx(more, i));

		if (json_object_array_add(list, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return (int)n;
}

/* Appends the further pages to the first one, `all`. Sets `ret_torn` if a page was of another moment. */
static enum ctl_exit add_pages(const struct ctl_options *options, struct client *client, const char *method,
			       const json_object *parameters, const char *list, json_object *all,
			       bool *ret_torn)
{
	json_object *items = json_get_array(all, list);
	enum ctl_exit result = CTL_DONE;
	u64 next = 0;
	bool more = items && json_get_u64(all, "next", &next);

	*ret_torn = false;
	while (result == CTL_DONE && more) {
		_cleanup_json_ json_object *page = NULL;
		json_object *wanted = next_parameters(parameters, next, json_object_array_length(items));
		const u64 before = next;

		if (!wanted)
			return failure_of_memory();
		result = call(options, client, method, wanted, &page);
		if (result != CTL_DONE)
			return result;
		*ret_torn = *ret_torn || !call_is_same_moment(page, all);
		if (call_append(items, json_get_array(page, list)) < 0)
			return failure_of_memory();
		more = json_get_u64(page, "next", &next);
		if (more && next <= before)
			return failure_of_reply(options, "list");
	}
	return result;
}

enum ctl_exit call_pages(const struct ctl_options *options, struct client *client, const char *method,
			 json_object *parameters, const char *list, json_object **ret)
{
	_cleanup_json_ json_object *wanted = parameters;
	enum ctl_exit result = CTL_DONE;
	bool torn = true;

	for (int i = 0; i < PAGES_TRIES && result == CTL_DONE && torn; i++) {
		_cleanup_json_ json_object *all = NULL;

		result = call(options, client, method, json_object_get(wanted), &all);
		if (result == CTL_DONE)
			result = add_pages(options, client, method, wanted, list, all, &torn);
		if (result != CTL_DONE || (torn && i + 1 < PAGES_TRIES))
			continue;
		if (json_get(all, "next")) {
			json_object_object_del(all, "next");
			json_object_object_del(all, "taken");
		}
		*ret = TAKE_PTR(all);
	}
	return result;
}

enum ctl_exit call_if_possible(const struct ctl_options *options, struct client *client, const char *method,
			       json_object *parameters, json_object **ret)
{
	struct client_reply reply = {0};
	int r;

	r = client_call(client, method, parameters, &reply);
	*ret = r == 0 && !reply.error ? json_object_get(reply.parameters) : NULL;
	json_object_put(reply.root);
	return r < 0 ? failure_of_connection(options, r) : CTL_DONE;
}

bool call_add_name(json_object *parameters, const char *key, const char *name)
{
	_cleanup_free_ char *shown = NULL;

	/*
	 * Valid UTF-8 is taken as the shown form, copied from the output of pebsctl. Other bytes are the
	 * cgroup's own name, for example from a shell's file name completion.
	 */
	if (!utf8_is_valid(name) && utf8_show(name, &shown) < 0)
		shown = NULL;
	else if (!shown)
		shown = strdup(name);
	return parameters && shown &&
	       json_object_object_add(parameters, key, json_object_new_string(shown)) == 0;
}

enum ctl_exit call_print_json(json_object *object)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
		    (output_is_screen() ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);
	_cleanup_free_ char *line = NULL;
	int length = asprintf(&line, "%s\n", json_object_to_json_string_ext(object, flags));

	if (length < 0) {
		line = NULL;
		return failure_of_memory();
	}
	return failure_of_output(output_write(line, (size_t)length));
}

enum ctl_exit call_print_text(FILE *stream, char *const *text, const size_t *length)
{
	if (fclose(stream) != 0)
		return failure_of_memory();
	return failure_of_output(output_write(*text, *length));
}
