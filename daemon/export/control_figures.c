// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_get.h"
#include "export/control_call.h"
#include "export/control_methods.h"
#include "export/json.h"
#include "export/order.h"

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

int control_get_status(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	const struct snapshot *snapshot;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	return r < 0 ? control_not_measured(call, r) : control_reply(call, json_status(snapshot));
}

static int reply_text(const char *text, size_t length, void *userdata)
{
	return varlink_reply_text(userdata, text, length);
}

static int reply_top(struct varlink_call *call, const struct snapshot *snapshot, const size_t *cgroups,
		     size_t n)
{
	int r = varlink_reply_begin(call);

	if (r == 0)
		r = json_write_top(snapshot, cgroups, n,
				   JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, reply_text, call);
	return r == 0 ? varlink_reply_end(call) : r;
}

int control_get_top(struct varlink_call *call, json_object *parameters, void *userdata)
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

	r = control_snapshot(userdata, &window, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	r = order_cgroups(snapshot, &order, &cgroups);
	if (r == 0)
		r = reply_top(call, snapshot, cgroups,
			      limit < snapshot->n_cgroups ? limit : snapshot->n_cgroups);
	control_release(userdata);
	return r;
}

int control_get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata)
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
	json_object *reply;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (get_window(parameters, &window) < 0)
		return varlink_invalid_parameter(call, "window_s");

	/* A cgroup that was quiet in the window is still known from the time before. */
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	cgroup = control_find_cgroup(snapshot, shown);
	if (!cgroup)
		return control_no_such_cgroup(call, shown);
	if (window.known) {
		path = strdup(cgroup->path); /* the next snapshot ends this one */
		if (!path)
			return -ENOMEM;
		id = cgroup->id;
		alive = cgroup->alive;
		r = control_snapshot(userdata, &window, &snapshot);
		if (r < 0)
			return control_not_measured(call, r);
		cgroup = control_find_cgroup(snapshot, shown);
	}
	reply = cgroup ? json_cgroup(snapshot, (size_t)(cgroup - snapshot->cgroups))
		       : json_cgroup_without_samples(snapshot, path, id, alive);
	control_release(userdata);
	return control_reply(call, reply);
}
