// SPDX-License-Identifier: GPL-2.0
/* The methods GetHistory and Compare. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_get.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/control/control_past.h"
#include "export/json/json_compare.h"
#include "export/json/json_history.h"
#include "export/json/json_names.h"
#include "export/json/json_past.h"
#include "snapshot/snapshot_view.h"

#define DEFAULT_BINS 60

/* The panes of one reply have about this many cgroups together at most. The next reply continues. */
#define READS_MOST 20000

json_object *control_add_history(const struct control *control, json_object *status)
{
	struct json_writer writer = {.failed = !status};
	struct history_state state = {0};

	if (!status || !control->backend.history)
		return status;
	control->backend.history(control->backend.userdata, &state);
	json_put(&writer, status, "history", json_history_status(&writer, &state));
	return json_finish(&writer, status);
}

/* Returns the name of the invalid parameter, or NULL. */
static const char *get_history_request(json_object *parameters, struct control_when *when,
				       struct json_history *history, struct json_page *page)
{
	static const char *const names[] = {"cgroup", "subtree", "since",      "until",
					    "bins",   "offset",  "histograms", NULL};
	const char *mistake = varlink_surplus_parameter(parameters, names);
	u64 bins = DEFAULT_BINS;

	if (!mistake)
		mistake = control_get_when(parameters, false, time(NULL), when);
	if (mistake)
		return mistake;
	if (!when->past)
		return "since";
	history->shown = json_get_text(parameters, "cgroup");
	if (json_get(parameters, "cgroup") && !history->shown)
		return "cgroup";
	if (json_get(parameters, "subtree") && (!json_get_bool(parameters, "subtree", &history->subtree) ||
						(history->subtree && !history->shown)))
		return "subtree";
	if (json_get(parameters, "bins") &&
	    (!json_get_u64(parameters, "bins", &bins) || bins == 0 || bins > HISTORY_PANES_MAX))
		return "bins";
	if (json_get(parameters, "offset") && !json_get_u64(parameters, "offset", &page->first))
		return "offset";
	if (json_get(parameters, "histograms") &&
	    !json_get_bool(parameters, "histograms", &history->histograms))
		return "histograms";
	history->bins = (u32)bins;
	return NULL;
}

int control_get_history(struct varlink_call *call, json_object *parameters, void *userdata)
{
	struct json_page page = {.sums_most = READS_MOST};
	struct json_history history = {0};
	struct control_when when;
	const char *mistake = get_history_request(parameters, &when, &history, &page);
	int r;

	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	history.open = when.open;
	history.range = (struct past_span){when.since_us, when.until_us};
	history.parts = json_history_parts(when.until_us - when.since_us, history.bins, !history.shown);
	if (!control_past(call, userdata, &when, history.bins * history.parts,
			  history.shown ? history.shown : "", history.subtree, &history.past, &r))
		return r;
	return control_reply_named(call, userdata, json_history(&history, &page));
}

/* A side of Compare, as it was asked for. */
struct side_request {
	const char *name; /* "a" or "b" */
	const char *shown;
	bool subtree;
	struct control_when when;
	const struct past *past; /* NULL: the present */
};

/* Returns the name of the invalid parameter, or NULL. */
static const char *get_side(json_object *parameters, struct side_request *ret)
{
	static const char *const names[] = {"cgroup", "subtree", "since", "until", "window_s", NULL};
	json_object *side = json_get_object(parameters, ret->name);
	const char *mistake;

	if (!side)
		return "";
	mistake = varlink_surplus_parameter(side, names);
	if (!mistake)
		mistake = control_get_when(side, true, time(NULL), &ret->when);
	if (mistake)
		return mistake;
	ret->shown = json_get_text(side, "cgroup");
	if (json_get(side, "cgroup") && !ret->shown)
		return "cgroup";
	if (json_get(side, "subtree") &&
	    (!json_get_bool(side, "subtree", &ret->subtree) || (ret->subtree && !ret->shown)))
		return "subtree";
	return NULL;
}

static int invalid_side(struct varlink_call *call, const struct side_request *side, const char *mistake)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s%s%s", side->name, *mistake ? "." : "", mistake);
	return varlink_invalid_parameter(call, name);
}

/* A cgroup without samples in the time of the side is known if it has samples at other times. */
static int side_without_samples(const struct control *control, const struct side_request *request,
				struct compared_side **ret)
{
	const struct snapshot_cgroup *cgroup;
	const struct snapshot *snapshot;
	_cleanup_free_ char *path = NULL;
	int r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);

	if (r < 0)
		return -ENXIO;
	if (request->subtree) {
		r = control_subtree_path(snapshot, request->shown, &path);
		if (r < 0)
			return r;
	} else {
		cgroup = json_find_cgroup(snapshot, request->shown);
		if (!cgroup)
			return -ENXIO;
		path = strdup(cgroup->path);
		if (!path)
			return -ENOMEM;
	}
	if (!request->past)
		r = control_snapshot(control, &request->when.window, &snapshot);
	if (r < 0)
		return r;
	r = compared_side_new(request->past ? past_snapshot(request->past) : snapshot,
			      &(struct snapshot_cgroup){.path = path, .entry = UINT32_MAX}, ret);
	if (r == 0)
		(*ret)->subtree = request->subtree;
	return r;
}

/* Returns 0; -ENXIO: no such cgroup; -ENODATA: nothing was collected yet; or -ENOMEM. */
static int read_side(const struct control *control, const struct side_request *request,
		     struct compared_side **ret)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	const struct snapshot_cgroup *cgroup = NULL;
	const struct snapshot *snapshot = NULL;
	int r = 0;

	if (request->past)
		snapshot = past_snapshot(request->past);
	else
		r = control_snapshot(control, &request->when.window, &snapshot);
	if (r == 0 && request->subtree)
		r = snapshot_view_new(snapshot, &(struct view_request){.subtree = request->shown}, &view);
	if (r < 0)
		return r;
	if (view) {
		snapshot = snapshot_view_of(view);
		cgroup = snapshot->n_cgroups ? &snapshot->cgroups[0] : NULL;
	} else if (request->shown) {
		cgroup = json_find_cgroup(snapshot, request->shown);
	}
	if (request->shown && !cgroup)
		return side_without_samples(control, request, ret);
	return compared_side_new(snapshot, cgroup, ret);
}

static json_object *past_members(struct json_writer *writer, const struct side_request *request)
{
	json_object *members;

	if (!request->past)
		return NULL;
	members = json_checked(writer, json_object_new_object());
	json_put_past(writer, members, request->past, request->when.open);
	return members;
}

int control_compare(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"a", "b", NULL});
	struct side_request requests[2] = {{.name = "a"}, {.name = "b"}};
	_cleanup_(compared_side_freep) struct compared_side *a = NULL, *b = NULL;
	struct compared_side **sides[] = {&a, &b};
	struct json_writer writer = {0};
	json_object *of_a, *of_b;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		const char *mistake = get_side(parameters, &requests[i]);

		if (mistake)
			return invalid_side(call, &requests[i], mistake);
	}
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		if (!requests[i].when.past || control_past(call, userdata, &requests[i].when, 0,
							   requests[i].shown ? requests[i].shown : "",
							   requests[i].subtree, &requests[i].past, &r))
			continue;
		/* If the first side waits for its answer, the history reads the second one meanwhile. */
		if (i == 0 && requests[1].when.past)
			control_past_ask(userdata, &requests[1].when, 0,
					 requests[1].shown ? requests[1].shown : "", requests[1].subtree);
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		r = read_side(userdata, &requests[i], sides[i]);
		control_release(userdata);
		if (r == -ENXIO)
			return control_no_such_cgroup(call, requests[i].shown);
		if (r == -ENODATA)
			return control_not_measured(call, r);
		if (r < 0)
			return r;
	}
	of_a = past_members(&writer, &requests[0]);
	of_b = past_members(&writer, &requests[1]);
	if (writer.failed) {
		json_object_put(of_a);
		json_object_put(of_b);
		return -ENOMEM;
	}
	return control_reply_named(call, userdata, json_compare(a, b, of_a, of_b));
}
