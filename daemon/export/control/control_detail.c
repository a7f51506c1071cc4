// SPDX-License-Identifier: GPL-2.0
#include "export/control/control_detail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/monotonic.h"
#include "base/utf8.h"
#include "cgroup/plain_path.h"
#include "export/control/control_methods.h"
#include "export/json/json.h"
#include "export/json/json_names.h"
#include "export/json/json_writer.h"
#include "export/json/json_zoom.h"
#include "profile/hidden_names.h"

#define LIST_DEFAULT 50
#define LIST_MAX     10000
#define ACCESSES     8

static struct zooms *zooms_of(const struct control *control)
{
	return control->backend.zooms(control->backend.userdata);
}

int control_cgroup_path(const struct control *control, const char *shown, char **ret)
{
	const struct snapshot_cgroup *cgroup = NULL;
	const struct snapshot *snapshot;
	const char *path = NULL;

	if (control_snapshot(control, &(struct maybe_double){0}, &snapshot) >= 0) {
		cgroup = json_find_cgroup(snapshot, shown);
		path = cgroup ? cgroup->path : no_slot_shown_as(snapshot->no_slot, shown);
	}
	if (!path && !plain_path(shown))
		return -ENOENT;
	*ret = strdup(path ? path : shown);
	return *ret ? 0 : -ENOMEM;
}

const char *control_read_zoom_request(const json_object *parameters, struct control_zoom_request *ret)
{
	bool by_cgroup = json_get(parameters, "cgroup"), by_id = json_get(parameters, "zoom");

	*ret = (struct control_zoom_request){.shown = json_get_text(parameters, "cgroup")};
	if (by_cgroup ? !ret->shown : !by_id)
		return "cgroup";
	if (by_id && (by_cgroup || !json_get_u64(parameters, "zoom", &ret->id)))
		return "zoom";
	return NULL;
}

const struct zoom *control_find_zoom(const struct control *control,
				     const struct control_zoom_request *request)
{
	const struct zoom *zoom;

	if (!request->shown)
		return zooms_get(zooms_of(control), request->id);
	for (size_t i = 0; (zoom = zooms_nth(zooms_of(control), i)); i++)
		if (utf8_is_shown_as(zoom_recording_about_const(zoom->recording)->cgroup, request->shown))
			return zoom;
	return NULL;
}

int control_no_zoom(struct varlink_call *call, const struct control *control,
		    const struct control_zoom_request *request)
{
	const struct snapshot *snapshot;
	int r;

	if (!request->shown)
		return control_not_measured_why(
			call, "zoom",
			"there is no zoom with this number: it never existed, or it was removed (pebsd keeps the newest ones for an hour)");
	r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	/* A cgroup without a slot exists, too, and can be zoomed. */
	if (!json_find_cgroup(snapshot, request->shown) &&
	    !no_slot_shown_as(snapshot->no_slot, request->shown))
		return control_no_such_cgroup(call, request->shown);
	return control_not_measured_why(call, "zoom",
					"there is no zoom of this cgroup; start one (pebsctl zoom CGROUP)");
}

int control_busy(struct varlink_call *call, const char *reason, const struct timespec *until)
{
	struct json_writer writer = {0};
	json_object *object = json_checked(&writer, json_object_new_object());

	json_put_text(&writer, object, "reason", reason);
	if (until)
		json_put_time(&writer, object, "until", until);
	object = json_finish(&writer, object);
	return object ? varlink_error(call, CONTROL_ERROR("Busy"), object) : -ENOMEM;
}

static int get_request(const json_object *parameters, struct zoom_request *ret, const char **ret_invalid)
{
	u64 rate = 0;

	*ret = (struct zoom_request){.seconds = ZOOM_SECONDS_DEFAULT};
	*ret_invalid = "seconds";
	if (json_get(parameters, "seconds") && (!json_get_double(parameters, "seconds", &ret->seconds) ||
						!(ret->seconds > 0 && ret->seconds <= ZOOM_SECONDS_MAX)))
		return -EINVAL;
	*ret_invalid = "rate";
	if (json_get(parameters, "rate") &&
	    (!json_get_u64(parameters, "rate", &rate) || rate == 0 || rate > ZOOM_RATE_MAX))
		return -EINVAL;
	ret->rate = (u32)rate;
	return 0;
}

static int reply_begun(struct varlink_call *call, struct control *control, u64 id)
{
	const struct zoom *zoom = zooms_get(zooms_of(control), id);
	const struct zoom_about *about;
	struct json_writer writer = {0};
	struct timespec until;
	json_object *object;

	if (!zoom)
		return control_not_measured_why(call, "zoom", "the new zoom is already gone; try again");
	about = zoom_recording_about_const(zoom->recording);
	until = json_zoom_until(zoom, about);
	object = json_start_of(&writer, about->origin);
	json_put_u64(&writer, object, "zoom", id);
	json_put_text(&writer, object, "cgroup", about->cgroup);
	json_put_time(&writer, object, "until", &until);
	if (zoom->note)
		json_put_text(&writer, object, "note", zoom->note);
	return control_reply_named(call, control, json_finish(&writer, object));
}

static int begin_zoom(struct varlink_call *call, struct control *control, const char *shown,
		      const struct zoom_request *request)
{
	struct zoom_request complete = *request;
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ char *path = NULL;
	char reason[64];
	u64 id;
	int r = control_cgroup_path(control, shown, &path);

	(void)snprintf(reason, sizeof(reason), "asked for by uid %u", varlink_peer(call)->uid);
	complete.path = path;
	complete.reason = reason;
	if (r >= 0)
		r = zooms_begin(zooms_of(control), &complete, &id, &message);
	switch (r) {
	case 0:
		return reply_begun(call, control, id);
	case -ENOENT:
		return control_no_such_cgroup(call, shown);
	case -EBUSY:
		return control_busy(call, message ? message : strerror(-r), NULL);
	case -ENOMEM:
		/* Without a message, pebsd itself lacks memory, also for an answer. */
		return message ? control_not_measured_why(call, "zoom", message) : r;
	default:
		return control_not_measured_why(call, "zoom", message ? message : strerror(-r));
	}
}

int control_zoom(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"cgroup", "seconds", "rate", NULL});
	const char *shown = json_get_text(parameters, "cgroup");
	struct zoom_request request;
	const char *invalid;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (get_request(parameters, &request, &invalid) < 0)
		return varlink_invalid_parameter(call, invalid);
	return begin_zoom(call, userdata, shown, &request);
}

int control_end_zoom(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"zoom", NULL});
	struct json_writer writer = {0};
	json_object *object;
	bool ended;
	u64 id;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!json_get_u64(parameters, "zoom", &id))
		return varlink_invalid_parameter(call, "zoom");
	ended = zooms_end(zooms_of(userdata), id);
	object = json_checked(&writer, json_object_new_object());
	json_put(&writer, object, "ended", json_object_new_boolean(ended));
	return control_reply(call, json_finish(&writer, object));
}

static struct json_zoom state_of(const struct zoom *zoom, bool kernel_addresses)
{
	struct json_zoom state = {
		.zoom = zoom,
		.about = zoom_recording_about_const(zoom->recording),
		.bytes = zoom_recording_bytes(zoom->recording) + profile_bytes(zoom->profile),
		.now_ns = monotonic_ns(),
		.kernel_addresses = kernel_addresses,
	};

	profile_totals(zoom->profile, &state.totals);
	return state;
}

static int reply_zoom(struct varlink_call *call, struct control *control, const struct zoom *zoom, u64 limit)
{
	bool kernel_addresses = varlink_peer(call)->uid == 0;
	struct json_zoom state = state_of(zoom, kernel_addresses);
	const struct control_nodes *own = control_read_nodes(control);
	const struct zoom_nodes of_machine = {own->ranges, own->n_ranges, own->of_cpu, own->n_cpus};
	const struct zoom_nodes *nodes = zoom->nodes ? zoom->nodes : &of_machine;
	const struct report_settings settings = {
		.functions = limit,
		.objects = limit,
		.lines = limit,
		.accesses = ACCESSES,
		.ranges = nodes->ranges,
		.n_ranges = nodes->n_ranges,
		.node_of_cpu = nodes->of_cpu,
		.n_cpus = nodes->n_cpus,
	};
	struct profile_names names = zoom->names;
	struct profile_report report;
	struct hidden_names hidden;
	json_object *object;
	int r;

	if (!kernel_addresses)
		names = hidden_names(&hidden, &zoom->names);
	r = profile_report(zoom->profile, &names, &settings, &report);
	if (r < 0)
		return r;
	object = json_zoom_report(&state, &report);
	profile_report_done(&report);
	return control_reply_named(call, control, object);
}

int control_get_zoom(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"cgroup", "zoom", "limit", NULL});
	struct control_zoom_request request;
	const struct zoom *zoom;
	u64 limit = LIST_DEFAULT;
	const char *invalid;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	invalid = control_read_zoom_request(parameters, &request);
	if (invalid)
		return varlink_invalid_parameter(call, invalid);
	if (json_get(parameters, "limit") && (!json_get_u64(parameters, "limit", &limit) || limit > LIST_MAX))
		return varlink_invalid_parameter(call, "limit");
	zoom = control_find_zoom(userdata, &request);
	return zoom ? reply_zoom(call, userdata, zoom, limit) : control_no_zoom(call, userdata, &request);
}

int control_get_zooms(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	struct json_writer writer = {0};
	const struct zoom *zoom;
	json_object *object;
	json_object *list;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	object = json_checked(&writer, json_object_new_object());
	list = json_checked(&writer, json_object_new_array());
	for (size_t i = 0; (zoom = zooms_nth(zooms_of(userdata), i)); i++) {
		struct json_zoom state = state_of(zoom, false);

		json_append(&writer, list, json_zoom(&state));
	}
	json_put(&writer, object, "zooms", list);
	return control_reply_named(call, userdata, json_finish(&writer, object));
}
