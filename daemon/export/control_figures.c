// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_get.h"
#include "export/control_call.h"
#include "export/control_methods.h"
#include "export/json.h"
#include "export/json_hot.h"
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
	if (r < 0)
		return r;
	return control_reply(call, json_top_of(snapshot, cgroups,
					       limit < snapshot->n_cgroups ? limit : snapshot->n_cgroups));
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
	return control_reply(call, cgroup ? json_cgroup(snapshot, (size_t)(cgroup - snapshot->cgroups))
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
		r = control_not_measured_why(
			call, "code addresses",
			strcmp(snapshot->origin, "perf") == 0
				? "no event that records them is sampled; name `instructions` in `events` of "
				  "[sampling]"
				: "no event that records them is here: neither a recording nor the model has "
				  "one");
	else if (r == -ENOENT)
		r = control_not_measured_why(call, "code addresses",
					     "the cgroup was removed, and its code is forgotten with it");
	else if (r >= 0)
		r = control_reply(call, json_hot(snapshot, cgroup, found, &options));
	for (size_t i = 0; i < EVENTS_MAX; i++)
		hot_list_done(&lists[i]);
	return r;
}

int control_get_hot(struct varlink_call *call, json_object *parameters, void *userdata)
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
	if (!control_permitted(call, userdata, PERMISSION_DETAIL))
		return control_deny(call, userdata, PERMISSION_DETAIL);
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	cgroup = control_find_cgroup(snapshot, shown);
	return cgroup ? reply_hot(call, userdata, snapshot, cgroup, limit)
		      : control_no_such_cgroup(call, shown);
}
