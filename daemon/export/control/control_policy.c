// SPDX-License-Identifier: GPL-2.0
/* The methods about rules, alerts and neighbours. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "export/control/control_past.h"
#include "export/json/json_names.h"
#include "export/json/json_neighbours.h"
#include "export/json/json_past.h"
#include "export/json/json_rules.h"
#include "snapshot/view_tree.h"

static const struct policy *take_policy(const struct control *control)
{
	return control->backend.policy(control->backend.userdata);
}

json_object *control_add_alerts(const struct control *control, json_object *status)
{
	const struct policy *policy = control->backend.policy ? take_policy(control) : NULL;
	json_object *count;
	u64 firing = 0;
	size_t n = 0;

	if (!policy || !status || !policy_rules(policy, &n) || n == 0)
		return status;
	for (size_t i = 0; i < n; i++) {
		struct policy_counts counts;

		policy_count(policy, i, &counts);
		firing += counts.states[ALERT_FIRING] + counts.unknown_firing;
	}
	count = json_object_new_uint64(firing);
	if (count && json_object_object_add(status, "alerts_firing", count) == 0)
		return status;
	json_object_put(count);
	json_object_put(status);
	return NULL;
}

/* Reads which page is requested. Returns false if `offset` is invalid. */
static bool get_page(const json_object *parameters, struct json_page *ret)
{
	*ret = (struct json_page){0};
	return !json_get(parameters, "offset") || json_get_u64(parameters, "offset", &ret->first);
}

int control_get_rules(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"offset", NULL});
	struct json_page page;
	_cleanup_free_ struct policy_counts *counts = NULL;
	const struct snapshot *snapshot;
	const struct policy *policy;
	const struct rule *rules;
	size_t n;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!get_page(parameters, &page))
		return varlink_invalid_parameter(call, "offset");
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	page.taken = snapshot->taken;
	policy = take_policy(userdata);
	rules = policy_rules(policy, &n);
	counts = calloc(n + 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		policy_count(policy, i, &counts[i]);
	return control_reply(call, json_rules(snapshot->origin, rules, counts, n, &page));
}

/* The end of a time, but not in the future. */
static time_t end_of(const struct control_when *when, time_t now)
{
	return MIN((time_t)(when->until_us / 1000000), now);
}

/* Alerts of the past, and what an answer says of their time. */
struct past_alerts {
	json_object *list;
	struct past_span *gaps;
	struct json_alerts_range range;
	const char *origin;
	time_t until;
};

static void past_alerts_done(struct past_alerts *past)
{
	json_object_put(past->list);
	free(past->gaps);
}

/* `shown` and `rule` as in control_past_alerts(). Returns false if the handler returns `*ret_result`. */
static bool take_past_alerts(struct varlink_call *call, struct control *control,
			     const struct control_when *when, const char *shown, const char *rule,
			     struct past_alerts *ret, int *ret_result)
{
	const time_t now = time(NULL);
	const struct snapshot *snapshot;
	int r;

	if (!control_past_alerts(call, control, when, shown, rule, &ret->list, ret_result) ||
	    !control_past_gaps(call, control, when, now, &ret->gaps, &ret->range.n_gaps, ret_result))
		return false;
	r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0) {
		*ret_result = control_not_measured(call, r);
		return false;
	}
	ret->range.since_us = when->since_us;
	ret->range.gaps = ret->gaps;
	ret->origin = snapshot->origin;
	ret->until = end_of(when, now);
	return true;
}

static int reply_past_alerts(struct varlink_call *call, struct control *control,
			     const struct control_when *when, struct json_page *page)
{
	_cleanup_(past_alerts_done) struct past_alerts past = {0};
	int r;

	if (!take_past_alerts(call, control, when, NULL, NULL, &past, &r))
		return r;
	page->taken = (struct timespec){.tv_sec = past.until};
	return control_reply_named(call, control,
				   json_alerts_of_past(past.origin, past.list, &past.range, page));
}

int control_get_alerts(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"offset", "since", "until", NULL});
	const char *mistake;
	struct control_when when;
	struct json_page page;
	_cleanup_free_ struct alert *alerts = NULL;
	const struct snapshot *snapshot;
	size_t n = 0;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!get_page(parameters, &page))
		return varlink_invalid_parameter(call, "offset");
	mistake = control_get_when(parameters, false, time(NULL), &when);
	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (when.past)
		return reply_past_alerts(call, userdata, &when, &page);
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	page.taken = snapshot->taken;
	r = policy_alerts(take_policy(userdata), &alerts, &n);
	return r < 0 ? r
		     : control_reply_named(call, userdata, json_alerts(snapshot->origin, alerts, n, &page));
}

static int no_such_rule(struct varlink_call *call, const char *name)
{
	_cleanup_json_ json_object *error = json_object_new_object();

	if (!error || json_object_object_add(error, "rule", json_object_new_string(name)) < 0)
		return -ENOMEM;
	return varlink_error(call, CONTROL_ERROR("NoSuchRule"), TAKE_PTR(error));
}

/*
 * Finds the path that is displayed as `shown`, and copies it. It searches the cgroups of the snapshot, those that
 * the policy judges (also without samples of their own), and those without a slot. For a rule with `subtree`, it
 * also searches the ancestors of cgroups without a slot. Returns 0, -ENXIO or -ENOMEM.
 */
static int find_path(const struct snapshot *snapshot, const struct policy *policy, const struct rule *rule,
		     const char *shown, char **ret)
{
	const struct snapshot_cgroup *cgroup = json_find_cgroup(snapshot, shown);
	const char *path = cgroup ? cgroup->path : policy_next_path(policy, NULL);

	while (!cgroup && path && !utf8_is_shown_as(path, shown))
		path = policy_next_path(policy, path);
	if (!path)
		path = no_slot_shown_as(snapshot->no_slot, shown);
	if (!path)
		return rule->subtree ? control_subtree_without_slot(snapshot, shown, ret) : -ENXIO;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

static struct json_suspects suspects_of(const struct control *control)
{
	const struct control_backend *backend = &control->backend;

	return (struct json_suspects){.find = backend->neighbours,
				      .past = backend->past,
				      .past_neighbours = backend->past_neighbours,
				      .userdata = backend->userdata,
				      .now = time(NULL)};
}

/*
 * Waits for neighbours of the past. Returns true with 0 in `*ret` if the call has waited for too long, and is answered
 * without neighbours; else the handler returns `*ret`.
 */
static bool gave_up(struct varlink_call *call, int *ret)
{
	*ret = varlink_wait(call);
	if (*ret != -ETIME)
		return false;
	*ret = 0;
	return true;
}

static int reply_explain(struct varlink_call *call, struct control *control, const struct snapshot *snapshot,
			 const struct policy *policy, const struct rule *rule, const char *shown)
{
	const struct json_suspects wanted = suspects_of(control);
	const char *origin =
		snapshot->origin; /* a constant; the next call may free the rest of the snapshot */
	_cleanup_free_ struct alert *alerts = NULL;
	_cleanup_json_ json_object *suspects = NULL;
	_cleanup_free_ char *path = NULL;
	size_t n = 0;
	int r = find_path(snapshot, policy, rule, shown, &path);

	if (r == 0)
		r = policy_explain(policy, rule->name, path, &alerts, &n);
	if (r == 0)
		r = json_suspects(&wanted, alerts, n, &suspects);
	if (r == -ENXIO)
		return control_no_such_cgroup(call, shown);
	if (r == -EAGAIN && !gave_up(call, &r))
		return r;
	return r < 0 ? r
		     : control_reply_named(call, control, json_explain(origin, rule, alerts, n, suspects));
}

/* Returns whether the cgroup, or one below it, had samples then. Also true if that cannot be known. */
static bool was_sampled(const struct past *past, const char *shown)
{
	const struct snapshot *snapshot = past ? past_snapshot(past) : NULL;
	size_t length;

	for (size_t i = 0; snapshot && i < snapshot->n_cgroups; i++)
		if (view_tree_holds(snapshot->cgroups[i].path, shown, &length))
			return true;
	return !snapshot;
}

/*
 * Finds whether the rule and the cgroup are known: now, or then, or because the history has an alert of the rule on the
 * cgroup at another time. Returns false if the handler returns `*ret_result`: it waits, or one of them is not known.
 */
static bool is_known(struct varlink_call *call, const struct control *control,
		     const struct control_when *when, const char *name, const char *shown, int *ret_result)
{
	const struct control_when ever = {.past = true, .until_us = INT64_MAX};
	const struct policy *policy = control->backend.policy ? take_policy(control) : NULL;
	const struct rule *rule = policy ? policy_rule(policy, name) : NULL;
	_cleanup_json_ json_object *list = NULL;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *snapshot;
	const struct past *past;

	if (rule && control_snapshot(control, &(struct maybe_double){0}, &snapshot) == 0 &&
	    find_path(snapshot, policy, rule, shown, &path) == 0)
		return true;
	if (rule && !control_past_cgroups(call, control, when, shown, &past, ret_result))
		return false;
	if (rule && was_sampled(past, shown))
		return true;
	if (!control_past_alerts(call, control, &ever, shown, name, &list, ret_result))
		return false;
	if (json_object_array_length(list) > 0)
		return true;
	*ret_result = rule ? control_no_such_cgroup(call, shown) : no_such_rule(call, name);
	return false;
}

static int reply_past_explain(struct varlink_call *call, struct control *control,
			      const struct control_when *when, const char *name, const char *shown)
{
	const struct json_suspects wanted = suspects_of(control);
	_cleanup_(past_alerts_done) struct past_alerts past = {0};
	_cleanup_json_ json_object *reply = NULL;
	int r;

	if (!take_past_alerts(call, control, when, shown, name, &past, &r))
		return r;
	if (json_object_array_length(past.list) == 0 && !is_known(call, control, when, name, shown, &r))
		return r;
	reply = json_explain_past(past.origin, name, past.list, &past.range, past.until);
	r = reply ? json_past_suspects(&wanted, reply) : -ENOMEM;
	if (r == -EAGAIN && !gave_up(call, &r))
		return r;
	return r < 0 ? r : control_reply_named(call, control, TAKE_PTR(reply));
}

int control_explain(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"rule", "cgroup", "since", "until", NULL});
	const char *name = json_get_text(parameters, "rule");
	const char *shown = json_get_text(parameters, "cgroup");
	const char *mistake;
	struct control_when when;
	const struct snapshot *snapshot;
	const struct policy *policy;
	const struct rule *rule;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!name)
		return varlink_invalid_parameter(call, "rule");
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	mistake = control_get_when(parameters, false, time(NULL), &when);
	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (when.past && strlen(shown) >= HISTORY_TEXT_MAX)
		return varlink_invalid_parameter(call, "cgroup");
	if (when.past && strlen(name) >= HISTORY_RULE_MAX)
		return varlink_invalid_parameter(call, "rule");
	/* The rule may have changed since, or may be gone. */
	if (when.past)
		return reply_past_explain(call, userdata, &when, name, shown);
	r = control_snapshot(userdata, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	policy = take_policy(userdata);
	rule = policy_rule(policy, name);
	return rule ? reply_explain(call, userdata, snapshot, policy, rule, shown) : no_such_rule(call, name);
}

static const char no_latency[] =
	"neighbours need an event of loads with a latency and a data source, and no such event is sampled";

static int reply_past_neighbours(struct varlink_call *call, struct control *control,
				 const struct control_when *when, const char *shown, struct json_page *page)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	const struct snapshot_cgroup *cgroup;
	const struct snapshot *snapshot;
	const struct past *past;
	int r;

	if (!control_past_panes(call, control, when, &past, &r))
		return r;
	snapshot = past_snapshot(past);
	page->taken = snapshot->taken;
	cgroup = json_find_cgroup(snapshot, shown);
	if (!cgroup)
		return control_no_samples(call, control, "neighbours", shown);
	r = control->backend.past_neighbours(control->backend.userdata, past, cgroup->path, &report);
	if (r == -ENOENT)
		return control_no_samples(call, control, "neighbours", shown);
	if (r == -ENODATA)
		return control_not_measured_why(call, "neighbours", no_latency);
	return r < 0 ? r
		     : control_reply_named(
			       call, control,
			       json_add_past(json_neighbours(snapshot->origin, cgroup->path, report, page),
					     past, when->open));
}

int control_get_neighbours(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"cgroup", "offset", "since", "until", NULL});
	const char *mistake;
	struct control_when when;
	struct json_page page;
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	const char *shown = json_get_text(parameters, "cgroup");
	struct control *control = userdata;
	const struct snapshot_cgroup *cgroup;
	_cleanup_free_ char *path = NULL;
	const struct snapshot *snapshot;
	const char *origin;
	int r;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (!get_page(parameters, &page))
		return varlink_invalid_parameter(call, "offset");
	mistake = control_get_when(parameters, false, time(NULL), &when);
	if (mistake)
		return varlink_invalid_parameter(call, mistake);
	if (when.past)
		return reply_past_neighbours(call, control, &when, shown, &page);
	r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);
	if (r < 0)
		return control_not_measured(call, r);
	page.taken = snapshot->taken;
	cgroup = json_find_cgroup(snapshot, shown);
	if (!cgroup)
		return control_no_samples(call, control, "neighbours", shown);
	origin = snapshot->origin; /* a constant; the rest of the snapshot may be freed by the next call */
	path = strdup(cgroup->path);
	if (!path)
		return -ENOMEM;
	r = control->backend.neighbours(control->backend.userdata, path, &report);
	if (r == -ENOENT)
		return control_no_samples(call, control, "neighbours", shown);
	if (r == -ENODATA)
		return control_not_measured_why(call, "neighbours", no_latency);
	return r < 0 ? r : control_reply_named(call, control, json_neighbours(origin, path, report, &page));
}
