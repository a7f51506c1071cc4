// SPDX-License-Identifier: GPL-2.0
#include "export/control/control.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"
#include "export/control/control_call.h"
#include "export/control/control_detail.h"
#include "export/control/control_methods.h"
#include "export/json/json_names.h"

/* Watchers keep their connection. The other connections stay free for clients that make single calls. */
#define CONTROL_WATCHERS_MAX (VARLINK_CONNECTIONS_MAX * 3 / 4)

static int watch(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	struct control *control = userdata;
	struct short_names *names;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (varlink_server_subscribers(control->server) >= CONTROL_WATCHERS_MAX)
		return control_busy(call, "the maximum number of clients is watching", NULL);
	/* Items have names. Before the first collection no name is known. */
	r = control_names(control, &names);
	if (r < 0 && r != -ENODATA)
		return r;
	return varlink_subscribe(call);
}

/*
 * Addresses, function names and profiles are data of other users. Only root and the users that the
 * configuration names may read these data, or change something. Only root may call Reload, or get a profile
 * as perf.data (control_profile.c).
 */
const struct varlink_method control_methods[] = {
	{.name = "GetStatus", .rights = PERMISSION_ASK, .handle = control_get_status},
	{.name = "GetTop", .rights = PERMISSION_ASK, .handle = control_get_top},
	{.name = "GetCgroup", .rights = PERMISSION_ASK, .handle = control_get_cgroup},
	{.name = "FindCgroups", .rights = PERMISSION_ASK, .handle = control_find_cgroups},
	{.name = "Zoom", .rights = PERMISSION_DETAIL, .handle = control_zoom},
	{.name = "EndZoom", .rights = PERMISSION_DETAIL, .handle = control_end_zoom},
	{.name = "GetZoom", .rights = PERMISSION_DETAIL, .handle = control_get_zoom},
	{.name = "GetZooms", .rights = PERMISSION_DETAIL, .handle = control_get_zooms},
	{.name = "GetHot", .rights = PERMISSION_DETAIL, .handle = control_get_hot},
	{.name = "GetProfile", .rights = PERMISSION_DETAIL, .handle = control_get_profile},
	{.name = "GetRules", .rights = PERMISSION_ASK, .handle = control_get_rules},
	{.name = "GetAlerts", .rights = PERMISSION_ASK, .handle = control_get_alerts},
	{.name = "Explain", .rights = PERMISSION_ASK, .handle = control_explain},
	{.name = "GetNeighbours", .rights = PERMISSION_ASK, .handle = control_get_neighbours},
	{.name = "GetHistory", .rights = PERMISSION_ASK, .handle = control_get_history},
	{.name = "Compare", .rights = PERMISSION_ASK, .handle = control_compare},
	{.name = "Pause", .rights = PERMISSION_DETAIL, .handle = control_pause},
	{.name = "Resume", .rights = PERMISSION_DETAIL, .handle = control_resume},
	{.name = "Reload", .rights = PERMISSION_ROOT, .handle = control_reload},
	{.name = "Watch", .rights = PERMISSION_ASK, .handle = watch, .needs_more = true},
};
const size_t control_n_methods = ARRAY_SIZE(control_methods);

static bool refuses(struct varlink_call *call, const struct varlink_method *method, void *userdata, int *ret)
{
	const struct control *control = userdata;
	enum permission_level level = (enum permission_level)method->rights;

	if (control_permitted(call, control, level))
		return false;
	*ret = control_deny(call, control, level);
	return true;
}

int control_new(sd_event *event, const char *socket_path, const char *group,
		const struct control_backend *backend, struct control **ret, char **ret_message)
{
	static const struct local_socket_words words = {"control socket", "give another --socket"};
	struct control *control = calloc(1, sizeof(*control));
	_cleanup_close_ int fd = -1;
	int r;

	*ret_message = NULL;
	if (!control)
		return -ENOMEM;
	control->event = event;
	control->backend = *backend;
	control->service = (struct varlink_service){
		.vendor = "pebsd",
		.product = "pebsd",
		.version = PEBSD_VERSION,
		.url = "",
		.interface = CONTROL_INTERFACE,
		.description = control_interface_description,
		.methods = control_methods,
		.n_methods = ARRAY_SIZE(control_methods),
		.refuses = refuses,
		.userdata = control,
	};
	r = local_socket_listen(&words, socket_path, group, &control->socket, &fd, ret_message);
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

void control_permit_own(struct control *control)
{
	control->permission.has_own = true;
	control->permission.own = geteuid();
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	varlink_server_free(control->server);
	profile_pieces_clear(&control->pieces);
	control_forget_nodes(control);
	short_names_free(control->names.names);
	local_socket_remove(&control->socket);
	free(control);
	return NULL;
}

void control_collected(struct control *control)
{
	struct short_names *names;

	/* Without this the names of all cgroups that ever appeared would stay. */
	if (varlink_server_subscribers(control->server) > 0 &&
	    control_names_old(&control->names, time(NULL), false))
		(void)control_names(control, &names);
}

void control_retry(struct control *control)
{
	varlink_server_retry(control->server);
}

/* Replaces all texts of `item` by their shown form: they are names or contain names. */
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

/* Lets the names know that a cgroup appeared, or was removed. */
static int add_cgroup(struct control *control, const char *kind, const json_object *item)
{
	struct short_names *names = control->names.names;
	const char *path = json_get_text(item, "cgroup");
	int r = 0;

	if (!path || !names)
		return 0;
	if (strcmp(kind, "born") == 0)
		r = short_names_add(names, path, false);
	else if (strcmp(kind, "gone") == 0)
		r = short_names_add_removed(names, path, &control->names.longer);
	return r;
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
	    json_object_object_add(item, "text", json_object_new_string(text)) < 0 ||
	    add_cgroup(control, kind, item) < 0 || show_names(item) < 0 ||
	    !(item = json_add_names(item, control->names.names))) {
		(void)log_warning(-ENOMEM, "control socket: cannot send '%s' to watching clients", text);
		return;
	}
	varlink_server_publish(control->server, item);
}
