// SPDX-License-Identifier: GPL-2.0
#include "ctl/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ctl/failure.h"
#include "ctl/output.h"

enum ctl_exit call_open(const struct options *options, struct client **ret)
{
	int r = client_connect(options->socket, ret);

	return r < 0 ? failure_of_connection(options, r) : CTL_DONE;
}

enum ctl_exit call(const struct options *options, struct client *client, const char *method,
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

enum ctl_exit call_if_possible(const struct options *options, struct client *client, const char *method,
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

	/* What is valid was copied from what pebsctl shows; a shell's file name may be the cgroup's own
	 * bytes. */
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
