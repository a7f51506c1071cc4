// SPDX-License-Identifier: GPL-2.0
/* The methods Reload, Pause and Resume. */
#include <errno.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/json/json.h"

static void free_lines(char **lines)
{
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
}

static json_object *lines_array(char *const *lines)
{
	_cleanup_json_ json_object *array = json_object_new_array();

	for (; array && lines && *lines; lines++)
		if (json_object_array_add(array, json_name(*lines)) < 0)
			return NULL;
	return TAKE_PTR(array);
}

static int reply_reload(struct varlink_call *call, const struct control *control, int error,
			char *const *lines)
{
	char *const failure[] = {(char *)strerror(-error), NULL};
	_cleanup_json_ json_object *parameters = json_object_new_object();
	const struct snapshot *snapshot;

	if (!parameters)
		return -ENOMEM;
	if (error < 0) {
		if (json_object_object_add(parameters, "mistakes",
					   lines_array(lines && *lines ? lines : failure)) < 0)
			return -ENOMEM;
		return varlink_error(call, CONTROL_ERROR("ConfigInvalid"), TAKE_PTR(parameters));
	}
	if (json_object_object_add(parameters, "remarks", lines_array(lines)) < 0)
		return -ENOMEM;
	if (control_snapshot(control, &(struct maybe_double){0}, &snapshot) >= 0 &&
	    json_object_object_add(parameters, "config", json_config(snapshot)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(parameters));
}

int control_reload(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	const struct control *control = userdata;
	char **lines = NULL;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	r = control->backend.reload(control->backend.userdata, &lines);
	r = reply_reload(call, control, r, lines);
	free_lines(lines);
	return r;
}

/* Reads `for_s`. If it is absent or null, the pause lasts until Resume: `ret` is not known. */
static int get_seconds(const json_object *parameters, struct maybe_double *ret)
{
	*ret = (struct maybe_double){.known = json_get(parameters, "for_s") != NULL};
	if (ret->known && (!json_get_double(parameters, "for_s", &ret->value) ||
			   !(ret->value > 0 && ret->value <= CONTROL_PAUSE_SECONDS_MAX)))
		return -EINVAL;
	return 0;
}

int control_pause(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"for_s", NULL});
	_cleanup_json_ json_object *answer = NULL;
	const struct control *control = userdata;
	const struct snapshot *snapshot;
	struct maybe_double seconds;
	char until[TEXT_TIME_MAX];
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (get_seconds(parameters, &seconds) < 0)
		return varlink_invalid_parameter(call, "for_s");
	r = control->backend.pause(control->backend.userdata, &seconds);
	if (r < 0)
		return control_not_measured_why(
			call, "pause",
			r == -EOPNOTSUPP ? "a replay holds no counters that it could free" : strerror(-r));
	r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	answer = json_object_new_object();
	if (!answer)
		return -ENOMEM;
	text_time(&snapshot->paused_until, until);
	if (snapshot->paused_until.tv_sec != 0 &&
	    json_object_object_add(answer, "paused_until", json_object_new_string(until)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(answer));
}

int control_resume(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	_cleanup_json_ json_object *answer = NULL;
	const struct control *control = userdata;
	bool was_paused;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	was_paused = control->backend.resume(control->backend.userdata);
	answer = json_object_new_object();
	if (!answer || json_object_object_add(answer, "was_paused", json_object_new_boolean(was_paused)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(answer));
}
