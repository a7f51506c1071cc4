// SPDX-License-Identifier: GPL-2.0
#include "export/control.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_get.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"
#include "export/control_interface.h"
#include "export/control_socket.h"
#include "export/json.h"
#include "export/json_hot.h"
#include "export/order.h"
#include "export/permission.h"
#include "export/varlink.h"

#define ERROR(name) CONTROL_INTERFACE "." name

struct control {
	struct control_backend backend;
	struct varlink_service service;
	struct varlink_server *server;
	struct control_socket socket;
	struct permission permission;
};

static int reply(struct varlink_call *call, json_object *parameters)
{
	return parameters ? varlink_reply(call, parameters) : -ENOMEM;
}

static int not_measured_why(struct varlink_call *call, const char *what, const char *reason)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	if (!parameters || json_object_object_add(parameters, "what", json_object_new_string(what)) < 0 ||
	    json_object_object_add(parameters, "reason", json_object_new_string(reason)) < 0)
		return -ENOMEM;
	return varlink_error(call, ERROR("NotMeasured"), TAKE_PTR(parameters));
}

static bool permitted(const struct varlink_call *call, const struct control *control,
		      enum permission_level level)
{
	struct permission_peer peer = {.credentials = varlink_peer(call)};

	peer.groups = varlink_peer_groups(call, &peer.n_groups);
	return permission_grants(&control->permission, level, &peer);
}

/* Tells who may. */
static int deny(struct varlink_call *call, const struct control *control, enum permission_level level)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	_cleanup_free_ char *text = permission_text(&control->permission, level);

	if (!parameters || !text ||
	    json_object_object_add(parameters, "permitted", json_object_new_string(text)) < 0)
		return -ENOMEM;
	return varlink_error(call, VARLINK_PERMISSION_DENIED, TAKE_PTR(parameters));
}

static int not_measured(struct varlink_call *call, int error)
{
	return not_measured_why(call, "samples",
				error == -ENODATA ? "nothing was collected yet; try again in a few seconds"
						  : strerror(-error));
}

static int take_snapshot(const struct control *control, const struct maybe_double *window,
			 const struct snapshot **ret)
{
	return control->backend.snapshot(control->backend.userdata, window, ret);
}

/* Absent and null mean all the time. */
static int get_window(const json_object *parameters, struct maybe_double *ret)
{
	struct maybe_double window = {0};

	if (json_get(parameters, "window_s")) {
		window.known = true;
		if (!json_get_double(parameters, "window_s", &window.value) || !isfinite(window.value) ||
		    window.value <= 0)
			return -EINVAL;
	}
	*ret = window;
	return 0;
}

static int get_status(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	const struct snapshot *snapshot;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	r = take_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	return r < 0 ? not_measured(call, r) : reply(call, json_status(snapshot));
}

static int get_top(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"window_s", "sort", "limit", NULL});
	struct order order = {.by = ORDER_LATENCY};
	_cleanup_free_ size_t *cgroups = NULL;
	const struct snapshot *snapshot;
	struct maybe_double window;
	u64 limit = ~0ULL;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (get_window(parameters, &window) < 0)
		return varlink_invalid_parameter(call, "window_s");
	if (json_get(parameters, "sort")) {
		const char *sort = json_get_text(parameters, "sort");

		if (!sort || order_parse(sort, &order) < 0)
			return varlink_invalid_parameter(call, "sort");
	}
	if (json_get(parameters, "limit") && !json_get_u64(parameters, "limit", &limit))
		return varlink_invalid_parameter(call, "limit");

	r = take_snapshot(userdata, &window, &snapshot);
	if (r < 0)
		return not_measured(call, r);
	r = order_cgroups(snapshot, &order, &cgroups);
	if (r < 0)
		return r;
	return reply(call, json_top_of(snapshot, cgroups,
				       limit < snapshot->n_cgroups ? limit : snapshot->n_cgroups));
}

/* By the form of its path that the replies show. */
static const struct snapshot_cgroup *find_cgroup(const struct snapshot *snapshot, const char *shown)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (utf8_is_shown_as(snapshot->cgroups[i].path, shown))
			return &snapshot->cgroups[i];
	return NULL;
}

static int no_such_cgroup(struct varlink_call *call, const char *shown)
{
	json_object *error = json_object_new_object();

	if (!error || json_object_object_add(error, "cgroup", json_object_new_string(shown)) < 0) {
		json_object_put(error);
		return -ENOMEM;
	}
	return varlink_error(call, ERROR("NoSuchCgroup"), error);
}

static int get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"cgroup", "window_s", NULL});
	const char *shown = json_get_text(parameters, "cgroup");
	const struct snapshot_cgroup *cgroup;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *snapshot;
	struct maybe_double window;
	bool alive = false;
	u64 id = 0;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (get_window(parameters, &window) < 0)
		return varlink_invalid_parameter(call, "window_s");

	/* A cgroup that was quiet in the window is still known from the time before. */
	r = take_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return not_measured(call, r);
	cgroup = find_cgroup(snapshot, shown);
	if (!cgroup)
		return no_such_cgroup(call, shown);
	if (window.known) {
		path = strdup(cgroup->path); /* the next snapshot ends this one */
		if (!path)
			return -ENOMEM;
		id = cgroup->id;
		alive = cgroup->alive;
		r = take_snapshot(userdata, &window, &snapshot);
		if (r < 0)
			return not_measured(call, r);
		cgroup = find_cgroup(snapshot, shown);
	}
	return reply(call, cgroup ? json_cgroup(snapshot, (size_t)(cgroup - snapshot->cgroups))
				  : json_cgroup_without_samples(snapshot, path, id, alive));
}

/* Of each event that has code addresses: 0, or the first failure. `ret_any`: there is such an event. */
static int take_hot(const struct control *control, const struct snapshot *snapshot, const char *path,
		    struct hot_list lists[EVENTS_MAX], const struct hot_list *ret[EVENTS_MAX], bool *ret_any)
{
	int r = 0;

	*ret_any = false;
	for (unsigned i = 0; i < snapshot->n_events && r >= 0; i++) {
		if (!snapshot->events[i].event.settings.has_code_address)
			continue;
		*ret_any = true;
		r = control->backend.hot(control->backend.userdata, path, i, &lists[i]);
		if (r >= 0)
			ret[i] = &lists[i];
	}
	return r;
}

static int reply_hot(struct varlink_call *call, const struct control *control,
		     const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, u64 limit)
{
	const struct json_hot_options options = {.limit = limit,
						 .kernel_addresses = varlink_peer(call)->uid == 0};
	const struct hot_list *found[EVENTS_MAX] = {NULL};
	struct hot_list lists[EVENTS_MAX] = {0};
	bool any;
	int r = take_hot(control, snapshot, cgroup->path, lists, found, &any);

	if (!any)
		r = not_measured_why(
			call, "code addresses",
			strcmp(snapshot->origin, "perf") == 0
				? "no event that records them is sampled; name `instructions` in `events` of "
				  "[sampling]"
				: "no event that records them is here: neither a recording nor the model has "
				  "one");
	else if (r == -ENOENT)
		r = not_measured_why(call, "code addresses",
				     "the cgroup was removed, and its code is forgotten with it");
	else if (r >= 0)
		r = reply(call, json_hot(snapshot, cgroup, found, &options));
	for (size_t i = 0; i < EVENTS_MAX; i++)
		hot_list_done(&lists[i]);
	return r;
}

static int get_hot(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"cgroup", "limit", NULL});
	const char *shown = json_get_text(parameters, "cgroup");
	const struct snapshot_cgroup *cgroup;
	const struct snapshot *snapshot;
	u64 limit = ~0ULL;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (json_get(parameters, "limit") && !json_get_u64(parameters, "limit", &limit))
		return varlink_invalid_parameter(call, "limit");
	if (!permitted(call, userdata, PERMISSION_DETAIL))
		return deny(call, userdata, PERMISSION_DETAIL);
	r = take_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return not_measured(call, r);
	cgroup = find_cgroup(snapshot, shown);
	return cgroup ? reply_hot(call, userdata, snapshot, cgroup, limit) : no_such_cgroup(call, shown);
}

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
		return varlink_error(call, ERROR("ConfigInvalid"), TAKE_PTR(parameters));
	}
	if (json_object_object_add(parameters, "remarks", lines_array(lines)) < 0)
		return -ENOMEM;
	if (take_snapshot(control, &(struct maybe_double){0}, &snapshot) >= 0 &&
	    json_object_object_add(parameters, "config", json_config(snapshot)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(parameters));
}

static int reload(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	const struct control *control = userdata;
	char **lines = NULL;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!permitted(call, control, PERMISSION_ROOT))
		return deny(call, control, PERMISSION_ROOT);
	r = control->backend.reload(control->backend.userdata, &lines);
	r = reply_reload(call, control, r, lines);
	free_lines(lines);
	return r;
}

static int not_paused(struct varlink_call *call, int error)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	const char *reason =
		error == -EOPNOTSUPP ? "a replay holds no counter that it could free" : strerror(-error);

	if (!parameters || json_object_object_add(parameters, "what", json_object_new_string("pause")) < 0 ||
	    json_object_object_add(parameters, "reason", json_object_new_string(reason)) < 0)
		return -ENOMEM;
	return varlink_error(call, ERROR("NotMeasured"), TAKE_PTR(parameters));
}

/* Absent and null mean until it is resumed. */
static int get_seconds(const json_object *parameters, struct maybe_double *ret)
{
	*ret = (struct maybe_double){.known = json_get(parameters, "for_s") != NULL};
	if (ret->known && (!json_get_double(parameters, "for_s", &ret->value) ||
			   !(ret->value > 0 && ret->value <= CONTROL_PAUSE_SECONDS_MAX)))
		return -EINVAL;
	return 0;
}

static int pause_sampling(struct varlink_call *call, json_object *parameters, void *userdata)
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
	if (!permitted(call, control, PERMISSION_DETAIL))
		return deny(call, control, PERMISSION_DETAIL);
	if (get_seconds(parameters, &seconds) < 0)
		return varlink_invalid_parameter(call, "for_s");
	r = control->backend.pause(control->backend.userdata, &seconds);
	if (r < 0)
		return not_paused(call, r);
	r = take_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return not_measured(call, r);
	answer = json_object_new_object();
	if (!answer)
		return -ENOMEM;
	text_time(&snapshot->paused_until, until);
	if (snapshot->paused_until.tv_sec != 0 &&
	    json_object_object_add(answer, "paused_until", json_object_new_string(until)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(answer));
}

static int resume(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	_cleanup_json_ json_object *answer = NULL;
	const struct control *control = userdata;
	bool was_paused;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!permitted(call, control, PERMISSION_DETAIL))
		return deny(call, control, PERMISSION_DETAIL);
	was_paused = control->backend.resume(control->backend.userdata);
	answer = json_object_new_object();
	if (!answer || json_object_object_add(answer, "was_paused", json_object_new_boolean(was_paused)) < 0)
		return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(answer));
}

static int watch(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});

	(void)userdata;
	return surplus ? varlink_invalid_parameter(call, surplus) : varlink_subscribe(call);
}

static const struct varlink_method methods[] = {
	{.name = "GetStatus", .handle = get_status}, {.name = "GetTop", .handle = get_top},
	{.name = "GetCgroup", .handle = get_cgroup}, {.name = "GetHot", .handle = get_hot},
	{.name = "Pause", .handle = pause_sampling}, {.name = "Resume", .handle = resume},
	{.name = "Reload", .handle = reload},        {.name = "Watch", .handle = watch, .needs_more = true},
};

int control_new(sd_event *event, const char *socket_path, const char *group,
		const struct control_backend *backend, struct control **ret, char **ret_message)
{
	struct control *control = calloc(1, sizeof(*control));
	_cleanup_close_ int fd = -1;
	int r;

	*ret_message = NULL;
	if (!control)
		return -ENOMEM;
	control->backend = *backend;
	control->service = (struct varlink_service){
		.vendor = "pebsd",
		.product = "pebsd",
		.version = PEBSD_VERSION,
		.url = "",
		.interface = CONTROL_INTERFACE,
		.description = control_interface_description,
		.methods = methods,
		.n_methods = ARRAY_SIZE(methods),
		.userdata = control,
	};
	r = control_socket_listen(socket_path, group, &control->socket, &fd, ret_message);
	if (r >= 0)
		r = varlink_server_new(event, fd, &control->service, &control->server);
	if (r < 0) {
		control_free(control);
		return r;
	}
	(void)TAKE_FD(fd);
	*ret = control;
	return 0;
}

void control_permit(struct control *control, const char *name)
{
	permission_resolve(name, &control->permission);
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	varlink_server_free(control->server);
	control_socket_remove(&control->socket);
	free(control);
	return NULL;
}

/* The texts in `item` are names, or have names in them. */
static int show_names(json_object *item)
{
	json_object_object_foreach (item, key, value) {
		_cleanup_free_ char *shown = NULL;

		(void)key;
		if (!json_object_is_type(value, json_type_string))
			continue;
		if (utf8_show(json_object_get_string(value), &shown) < 0 ||
		    !json_object_set_string(value, shown))
			return -ENOMEM;
	}
	return 0;
}

void control_publish(struct control *control, const char *kind, const char *text, json_object *fields)
{
	_cleanup_json_ json_object *item = fields ? fields : json_object_new_object();
	char time[TEXT_TIME_MAX];
	struct timespec now;

	if (varlink_server_subscribers(control->server) == 0)
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	text_time(&now, time);
	if (!item || json_object_object_add(item, "time", json_object_new_string(time)) < 0 ||
	    json_object_object_add(item, "event", json_object_new_string(kind)) < 0 ||
	    json_object_object_add(item, "text", json_object_new_string(text)) < 0 || show_names(item) < 0) {
		(void)log_warning(-ENOMEM, "control socket: the watchers miss '%s'", text);
		return;
	}
	varlink_server_publish(control->server, item);
}
