// SPDX-License-Identifier: GPL-2.0
/* The methods GetStatus, GetTop and GetCgroup. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/control/control_past.h"
#include "export/control/order.h"
#include "export/json/json.h"
#include "export/json/json_names.h"
#include "export/json/json_past.h"
#include "snapshot/snapshot_view.h"
#include "window/trend.h"

/*
 * Sums contain one another: in a chain of nested cgroups, each sum reads all cgroups below it again. The sums of one
 * reply read at most SUMS_MOST times as many cgroups as there are, or SUMS_LEAST cgroups if that is more. The next
 * reply has the other sums.
 */
#define SUMS_MOST  4
#define SUMS_LEAST 20000ULL

/* The longest trend of the past. */
#define TREND_MOST_S 1e9

static time_t now(void)
{
	return time(NULL);
}

static json_object *add_bandwidth(const struct control *control, json_object *status)
{
	const struct resctrl_rates *rates =
		control->backend.bandwidth ? control->backend.bandwidth(control->backend.userdata) : NULL;

	return status && rates && rates->n > 0 ? json_add_bandwidth(status, rates) : status;
}

static int reply_status(struct varlink_call *call, const struct control *control)
{
	const struct snapshot *snapshot;
	int r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);

	if (r < 0)
		return control_not_measured(call, r);
	return control_reply(
		call,
		control_add_history(
			control, control_add_alerts(control, add_bandwidth(control, json_status(snapshot)))));
}

int control_get_status(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"since", "until", NULL});
	struct control_when when;
	const char *mistake = surplus ? surplus : control_get_when(parameters, false, now(), &when);
	const struct past *past;
	int r;

	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (!when.past)
		return reply_status(call, userdata);
	/* The sum of all cgroups is enough. */
	if (!control_past(call, userdata, &when, 0, "", false, &past, &r))
		return r;
	return control_reply(call, json_add_past(json_status_of_past(past), past, when.open));
}

static int reply_text(const char *text, size_t length, void *userdata)
{
	return varlink_reply_text(userdata, text, length);
}

/* The parameters of GetTop. */
struct top_request {
	struct control_when when;
	struct order order;
	u64 limit, offset;
	struct view_request view;
	const char *event; /* NULL: all events */
	struct json_more more;
};

/*
 * Reads the number of bins, and the time that all bins together cover. `ret` is unchanged if these parameters
 * are absent. Returns false if a parameter is invalid.
 */
static bool get_trend(const json_object *parameters, const struct control_when *when, struct json_trend *ret)
{
	const double most = when->past ? MIN((double)(when->until_us - when->since_us) / 1e6, TREND_MOST_S)
				       : (double)TREND_SPAN_NS / (double)NSEC_PER_SEC;
	double seconds = most;
	u64 bins = 0;

	if (json_get(parameters, "trend") &&
	    (!json_get_u64(parameters, "trend", &bins) || bins == 0 || bins > TREND_BINS_MAX))
		return false;
	if (json_get(parameters, "trend_s") && (!json_get_double(parameters, "trend_s", &seconds) ||
						!(seconds >= 1) || seconds > most || bins == 0))
		return false;
	if (bins > 0)
		*ret = (struct json_trend){.bins = bins,
					   .bin_ns = (u64)(seconds * (double)NSEC_PER_SEC) / bins};
	return true;
}

/* The bins of the past end with its range. */
static void end_trend(const struct past *past, struct json_trend *trend)
{
	trend->end_ns = past_trend_end_ns(past);
	trend->bin_ns = MIN(trend->bin_ns, trend->end_ns / MAX(trend->bins, 1));
}

/* Returns the name of the invalid parameter, or NULL. */
static const char *get_view(const json_object *parameters, struct top_request *request)
{
	struct view_request *view = &request->view;

	if (json_get(parameters, "filter")) {
		view->filter = json_get_text(parameters, "filter");
		if (!view->filter || strlen(view->filter) > VIEW_FILTER_MAX)
			return "filter";
	}
	if (json_get(parameters, "depth")) {
		view->sums = true;
		if (!json_get_u64(parameters, "depth", &view->depth) || view->depth > VIEW_DEPTH_MAX)
			return "depth";
	}
	if (json_get(parameters, "event")) {
		request->event = json_get_text(parameters, "event");
		if (!request->event)
			return "event";
	}
	return get_trend(parameters, &request->when, &request->more.trend) ? NULL : "trend";
}

static const char *get_top_request(json_object *parameters, struct top_request *request)
{
	static const char *const names[] = {"window_s", "since", "until", "sort",  "limit",   "offset",
					    "filter",   "depth", "event", "trend", "trend_s", NULL};
	const char *surplus = varlink_surplus_parameter(parameters, names);
	const char *mistake;

	*request = (struct top_request){.order.by = ORDER_LATENCY, .limit = ~0ULL};
	if (surplus)
		return surplus;
	mistake = control_get_when(parameters, true, now(), &request->when);
	if (mistake)
		return mistake;
	if (json_get(parameters, "sort")) {
		const char *sort = json_get_text(parameters, "sort");

		if (!sort || order_parse(sort, &request->order) < 0)
			return "sort";
	}
	if (json_get(parameters, "limit") && !json_get_u64(parameters, "limit", &request->limit))
		return "limit";
	if (json_get(parameters, "offset")) {
		request->more.matching = true;
		if (!json_get_u64(parameters, "offset", &request->offset))
			return "offset";
	}
	return get_view(parameters, request);
}

/* Finds the event whose key has this shown form. */
static bool find_event(const struct snapshot *snapshot, const char *shown, unsigned *ret)
{
	for (unsigned event = 0; event < snapshot->n_events; event++)
		if (utf8_is_shown_as(snapshot->events[event].key, shown)) {
			*ret = event;
			return true;
		}
	return false;
}

/* Replies with the cgroups of the snapshot in this order of their indexes. */
static int reply_top(struct varlink_call *call, const struct snapshot *snapshot, const size_t *cgroups,
		     const struct top_request *request, size_t sums_most)
{
	u64 all = snapshot->n_cgroups;
	u64 first = request->offset < all ? request->offset : all;
	u64 n = request->limit < all - first ? request->limit : all - first;
	struct json_page page = {.first = first, .taken = snapshot->taken, .sums_most = sums_most};
	struct json_more more = request->more;
	int r = varlink_reply_begin(call);

	more.page = &page;
	if (r == 0)
		r = json_write_top(snapshot, cgroups + first, n, &more,
				   JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, reply_text, call);
	return r == 0 ? varlink_reply_end(call) : r;
}

static int reply_all(struct varlink_call *call, const struct snapshot *snapshot,
		     const struct top_request *request)
{
	_cleanup_free_ size_t *cgroups = NULL;
	int r = order_cgroups(snapshot, &request->order, &cgroups);

	return r < 0 ? r : reply_top(call, snapshot, cgroups, request, 0);
}

static int reply_view(struct varlink_call *call, const struct snapshot *snapshot, struct top_request *request)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	_cleanup_free_ size_t *cgroups = NULL;
	int r;

	if (request->event) {
		request->view.one_event = request->order.one_event = true;
		if (!find_event(snapshot, request->event, &request->view.event))
			return varlink_invalid_parameter(call, "event");
		request->order.event = request->view.event;
	}
	if (request->order.by != ORDER_LATENCY) {
		request->view.value = order_value;
		request->view.userdata = &request->order;
	}
	request->more.matching = true;
	r = snapshot_view_new(snapshot, &request->view, &view);
	if (r == -E2BIG)
		return control_not_measured_why(
			call, "depth", "the sums to this depth take too much memory; use a smaller depth");
	if (r == 0)
		r = order_values(snapshot_view_values(view), snapshot_view_of(view)->n_cgroups, &cgroups);
	return r < 0 ? r
		     : reply_top(call, snapshot_view_of(view), cgroups, request,
				 MAX(SUMS_MOST * snapshot->n_cgroups, SUMS_LEAST));
}

int control_get_top(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const struct snapshot *snapshot;
	struct top_request request;
	const char *mistake = get_top_request(parameters, &request);
	int r;

	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	r = control_names(userdata, &request.more.names);
	if (r < 0 && !(r == -ENODATA && request.when.past))
		return control_not_measured(call, r);
	if (request.when.past) {
		if (!control_past(call, userdata, &request.when, 0, NULL, false, &request.more.past, &r))
			return r;
		request.more.past_open = request.when.open;
		snapshot = past_snapshot(request.more.past);
		end_trend(request.more.past, &request.more.trend);
	} else {
		r = control_snapshot(userdata, &request.when.window, &snapshot);
		if (r < 0)
			return control_not_measured(call, r);
	}
	if (request.view.filter || request.view.sums || request.event)
		r = reply_view(call, snapshot, &request);
	else
		r = reply_all(call, snapshot, &request);
	control_release(userdata);
	return r;
}

struct cgroup_request {
	const char *shown;
	struct control_when when;
	bool subtree;
	struct json_trend trend;
};

static const char *get_cgroup_request(json_object *parameters, struct cgroup_request *request)
{
	static const char *const names[] = {"cgroup",  "window_s", "since",   "until",
					    "subtree", "trend",    "trend_s", NULL};
	const char *surplus = varlink_surplus_parameter(parameters, names);
	const char *mistake;

	*request = (struct cgroup_request){.shown = json_get_text(parameters, "cgroup")};
	if (surplus)
		return surplus;
	if (!request->shown)
		return "cgroup";
	mistake = control_get_when(parameters, true, now(), &request->when);
	if (mistake)
		return mistake;
	if (json_get(parameters, "subtree") && !json_get_bool(parameters, "subtree", &request->subtree))
		return "subtree";
	return get_trend(parameters, &request->when, &request->trend) ? NULL : "trend";
}

/* Returns a snapshot whose only cgroup is the sum of `shown` and the cgroups below it. */
static int view_subtree(const struct snapshot *snapshot, const char *shown, struct snapshot_view **ret)
{
	return snapshot_view_new(snapshot, &(struct view_request){.subtree = shown}, ret);
}

/*
 * Finds the path that is displayed as `shown`: the path of the sum, or if there is no sum, the path of a cgroup
 * without a slot, or of one of its ancestors. Returns 0, and the caller frees `ret`; -ENXIO, -ENOMEM.
 */
static int subtree_path(const struct snapshot *sum, const char *shown, char **ret)
{
	if (sum->n_cgroups == 0)
		return control_subtree_without_slot(sum, shown, ret);
	*ret = strdup(sum->cgroups[0].path);
	return *ret ? 0 : -ENOMEM;
}

static int reply_subtree(struct varlink_call *call, struct control *control,
			 const struct cgroup_request *request)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *all = NULL, *windowed = NULL;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *snapshot;
	const struct snapshot *sum;
	json_object *reply;
	int r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);

	if (r < 0)
		return control_not_measured(call, r);
	r = view_subtree(snapshot, request->shown, &all);
	if (r < 0)
		return r;
	sum = snapshot_view_of(all);
	r = subtree_path(sum, request->shown, &path);
	if (r == -ENXIO)
		return control_no_such_cgroup(call, request->shown);
	if (r < 0)
		return r;
	if (request->when.window.known) {
		all = snapshot_view_free(all);
		r = control_snapshot(control, &request->when.window, &snapshot);
		if (r < 0)
			return control_not_measured(call, r);
		r = view_subtree(snapshot, request->shown, &windowed);
		if (r < 0)
			return r;
		sum = snapshot_view_of(windowed);
	}
	reply = sum->n_cgroups
			? json_cgroup(sum, 0, &request->trend)
			: json_subtree_without_samples(
				  snapshot, path, snapshot_view_without_slot(snapshot, path, strlen(path)));
	control_release(control);
	return control_reply_named(call, control, reply);
}

static int reply_cgroup(struct varlink_call *call, struct control *control,
			const struct cgroup_request *request)
{
	const struct snapshot_cgroup *cgroup;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *snapshot;
	bool alive = false;
	u64 id = 0;
	json_object *reply;
	int r;

	/*
	 * Look in the snapshot of the whole time first: it has the cgroup even if it had no sample in the
	 * window.
	 */
	r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	cgroup = json_find_cgroup(snapshot, request->shown);
	if (!cgroup) {
		const char *without = no_slot_shown_as(snapshot->no_slot, request->shown);

		return without ? control_reply_named(call, control,
						     json_cgroup_without_samples(snapshot, without, 0, true))
			       : control_no_such_cgroup(call, request->shown);
	}
	if (request->when.window.known) {
		path = strdup(cgroup->path); /* the next snapshot invalidates this one */
		if (!path)
			return -ENOMEM;
		id = cgroup->id;
		alive = cgroup->alive;
		r = control_snapshot(control, &request->when.window, &snapshot);
		if (r < 0)
			return control_not_measured(call, r);
		cgroup = json_find_cgroup(snapshot, request->shown);
	}
	reply = cgroup ? json_cgroup(snapshot, (size_t)(cgroup - snapshot->cgroups), &request->trend)
		       : json_cgroup_without_samples(snapshot, path, id, alive);
	control_release(control);
	return control_reply_named(call, control, reply);
}

/*
 * Makes the reply for a cgroup, or a subtree, that had no samples then. It must be known at present. Returns 0; -ENXIO
 * if it is not; or -ENOMEM.
 */
static int past_without_samples(const struct control *control, const struct cgroup_request *request,
				const struct snapshot *then, json_object **ret)
{
	const struct snapshot_cgroup *cgroup;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *present;
	int r = control_snapshot(control, &(struct maybe_double){0}, &present);

	if (r == -ENODATA)
		return -ENXIO;
	if (r == 0 && request->subtree) {
		r = control_subtree_path(present, request->shown, &path);
		if (r == 0)
			*ret = json_subtree_without_samples(then, path, 0);
	} else if (r == 0) {
		cgroup = json_find_cgroup(present, request->shown);
		if (!cgroup)
			return -ENXIO;
		*ret = json_cgroup_without_samples(then, cgroup->path, cgroup->id, cgroup->alive);
	}
	return r;
}

/* Replies with the cgroup as it was. */
static int reply_past_cgroup(struct varlink_call *call, struct control *control,
			     struct cgroup_request *request)
{
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	const struct snapshot_cgroup *cgroup;
	const struct snapshot *snapshot;
	json_object *reply = NULL;
	const struct past *past;
	int r;

	if (!control_past(call, control, &request->when, 0, request->shown, request->subtree, &past, &r))
		return r;
	end_trend(past, &request->trend);
	snapshot = past_snapshot(past);
	r = request->subtree ? view_subtree(snapshot, request->shown, &view) : 0;
	if (r < 0)
		return r;
	if (view)
		snapshot = snapshot_view_of(view);
	cgroup = view ? snapshot->n_cgroups ? &snapshot->cgroups[0] : NULL
		      : json_find_cgroup(snapshot, request->shown);
	if (cgroup)
		reply = json_cgroup(snapshot, (size_t)(cgroup - snapshot->cgroups), &request->trend);
	else
		/* A view can make the figures of its own rows only. */
		r = past_without_samples(control, request, past_snapshot(past), &reply);
	if (r == -ENXIO)
		return control_no_such_cgroup(call, request->shown);
	if (r < 0)
		return r;
	return control_reply_named(call, control, json_add_past(reply, past, request->when.open));
}

int control_get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata)
{
	struct cgroup_request request;
	const char *mistake = get_cgroup_request(parameters, &request);

	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (request.when.past)
		return reply_past_cgroup(call, userdata, &request);
	return request.subtree ? reply_subtree(call, userdata, &request)
			       : reply_cgroup(call, userdata, &request);
}
