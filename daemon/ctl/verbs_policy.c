// SPDX-License-Identifier: GPL-2.0
/* The verbs about rules, alerts and neighbours. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/suggest.h"
#include "base/text.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/call/call_when.h"
#include "ctl/top/top_request.h"
#include "ctl/verbs.h"
#include "format/format.h"
#include "format/rule_text.h"

#define METHOD(name) "io.pebsd." name

/*
 * Alerts and explanations cover this many seconds before --at. Resolved alerts are listed for an hour, as in the
 * present.
 */
#define ALERTS_SECONDS 3600

static enum ctl_exit get_rules(const struct ctl_options *options, struct client *client, json_object **ret)
{
	return call_pages(options, client, METHOD("GetRules"), NULL, "rules", ret);
}

enum ctl_exit verb_rules(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *rules = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	(void)arguments;
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = get_rules(options, client, &rules);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(rules);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_rules(stream, rules, &style);
	return call_print_text(stream, &text, &length);
}

static enum ctl_exit get_alerts(const struct ctl_options *options, struct client *client, json_object **ret)
{
	json_object *parameters = json_object_new_object();

	if (!call_add_when(parameters, options, ALERTS_SECONDS)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call_pages(options, client, METHOD("GetAlerts"), parameters, "alerts", ret);
}

enum ctl_exit verb_alerts(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *alerts = NULL;
	_cleanup_json_ json_object *rules = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	(void)arguments;
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = get_alerts(options, client, &alerts);
	if (result == CTL_DONE && options->json)
		return call_print_json(alerts);
	/* The list of cgroups that rules cannot judge now says nothing about the past. */
	if (result == CTL_DONE && !call_is_past(options))
		result = get_rules(options, client, &rules);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_alerts(stream, rules, alerts, time(NULL), &style);
	return call_print_text(stream, &text, &length);
}

static const char *nearest_rule(json_object *list, const char *name)
{
	size_t n = json_object_array_length(list), n_names = 0;
	_cleanup_free_ const char **names = calloc(n ? n : 1, sizeof(*names));

	if (!names)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		names[n_names] = json_get_text(json_object_array_get_idx(list, i), "rule");
		n_names += names[n_names] != NULL;
	}
	return suggest_nearest(name, names, n_names);
}

/*
 * Reports that there is no such rule. If GetRules fails, that failure is reported too, and no similar rule is
 * suggested.
 */
static enum ctl_exit no_such_rule(const struct ctl_options *options, struct client *client, const char *name)
{
	_cleanup_json_ json_object *rules = NULL;
	_cleanup_free_ char *visible = text_visible(name), *suggestion = NULL;
	const char *nearest;
	json_object *list;

	(void)get_rules(options, client, &rules);
	list = json_get_array(rules, "rules");
	nearest = list ? nearest_rule(list, name) : NULL;
	suggestion = nearest ? text_visible(nearest) : NULL;

	(void)fprintf(stderr, "pebsctl: there is no rule '%s'", visible ? visible : "?");
	if (list && json_object_array_length(list) == 0)
		(void)fprintf(stderr, ": no rules are configured; `pebsctl rules` says how to add one\n");
	else if (suggestion)
		(void)fprintf(stderr, "; did you mean %s? `pebsctl rules` lists all rules\n", suggestion);
	else
		(void)fprintf(stderr, "; `pebsctl rules` lists all rules\n");
	return CTL_NO_SUCH;
}

static bool was_sampled(struct client *client, const char *path)
{
	json_object *parameters = json_object_new_object();
	struct client_reply reply = {0};
	bool sampled;

	if (!call_add_name(parameters, "cgroup", path)) {
		json_object_put(parameters);
		return false;
	}
	sampled = client_call(client, METHOD("GetCgroup"), parameters, &reply) >= 0 && !reply.error;
	json_object_put(reply.root);
	return sampled;
}

/* Reports why an existing rule has no verdict: the cgroup has no samples, or the rule does not match it. */
static enum ctl_exit not_judged(const struct ctl_options *options, struct client *client,
				const struct client_reply *reply, char *const *arguments)
{
	_cleanup_json_ json_object *rules = NULL;
	_cleanup_free_ char *rule = NULL, *cgroup = NULL, *patterns = NULL;
	const json_object *found;

	if (!was_sampled(client, arguments[1]))
		return failure_of_call(options, reply);
	(void)get_rules(options, client, &rules);
	found = rule_text_find(rules, arguments[0]);
	rule = text_visible(arguments[0]);
	cgroup = text_visible(arguments[1]);
	patterns = found ? rule_text_cgroups(found) : NULL;
	(void)fprintf(
		stderr,
		"pebsctl: rule %s does not match cgroup '%s'%s%s; `pebsctl rules` prints the patterns of all rules\n",
		rule ? rule : "?", cgroup ? cgroup : "?", patterns ? ": its `cgroup` is " : "",
		patterns ? patterns : "");
	return CTL_NO_SUCH;
}

static bool is_error(const struct client_reply *reply, const char *name)
{
	return reply->error && strcmp(reply->error, name) == 0;
}

struct call_range verb_explain_time(const struct ctl_options *options, char *const *arguments)
{
	(void)arguments;
	return call_range(options, ALERTS_SECONDS);
}

static enum ctl_exit get_explained(const struct ctl_options *options, struct client *client,
				   char *const *arguments, json_object **ret)
{
	json_object *parameters = json_object_new_object();
	struct client_reply reply = {0};
	enum ctl_exit result = CTL_DONE;
	int r;

	if (!call_add_name(parameters, "rule", arguments[0]) ||
	    !call_add_name(parameters, "cgroup", arguments[1]) ||
	    !call_add_when(parameters, options, ALERTS_SECONDS)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	r = client_call(client, METHOD("Explain"), parameters, &reply);
	if (r < 0)
		result = failure_of_connection(options, r);
	else if (is_error(&reply, METHOD("NoSuchRule")))
		result = no_such_rule(options, client, arguments[0]);
	else if (is_error(&reply, METHOD("NoSuchCgroup")) && !call_is_past(options))
		result = not_judged(options, client, &reply, arguments);
	else if (reply.error)
		result = failure_of_call(options, &reply);
	else
		*ret = json_object_get(reply.parameters);
	json_object_put(reply.root);
	return result;
}

/*
 * Gets what says which memory the cgroup waits for, over the window of the rule. `ret_cgroup` is NULL if the rule does
 * not judge waiting, or if the daemon has no figures of the cgroup in that window.
 */
static enum ctl_exit get_waits(const struct ctl_options *options, struct client *client,
			       json_object *explained, const char *path, json_object **ret_status,
			       json_object **ret_cgroup)
{
	json_object *rule = json_get_object(explained, "rule"), *parameters;
	double seconds = 0;
	bool subtree = false;
	enum ctl_exit result;

	if (!format_explain_waits(explained))
		return CTL_DONE;
	(void)json_get_double(rule, "window_s", &seconds);
	(void)json_get_bool(rule, "subtree", &subtree);
	parameters = top_window_parameters(seconds);
	if (!call_add_name(parameters, "cgroup", path) ||
	    json_object_object_add(parameters, "subtree", json_object_new_boolean(subtree)) < 0) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	result = call(options, client, METHOD("GetStatus"), NULL, ret_status);
	if (result != CTL_DONE) {
		json_object_put(parameters);
		return result;
	}
	return call_if_possible(options, client, METHOD("GetCgroup"), parameters, ret_cgroup);
}

enum ctl_exit verb_explain(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *explained = NULL;
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = get_explained(options, client, arguments, &explained);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(explained);
	/* The split by source exists only for the present. */
	if (!call_is_past(options))
		result = get_waits(options, client, explained, arguments[1], &status, &cgroup);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_explain_asked(stream, explained, arguments[0], arguments[1], &style);
	format_explain(stream, explained, status, cgroup, time(NULL), &style);
	return call_print_text(stream, &text, &length);
}

/* --at names the time around it; --until without a start the same length before it. */
struct call_range verb_neighbours_time(const struct ctl_options *options, char *const *arguments)
{
	const struct call_range range = call_neighbours_range(call_range(options, 0).until, options->now);

	(void)arguments;
	return options->has_at ? range : call_range(options, (double)(range.until - range.since));
}

static bool add_neighbours_range(json_object *parameters, const struct ctl_options *options)
{
	const struct call_range range = verb_neighbours_time(options, NULL);

	return parameters && (!call_is_past(options) || call_add_range(parameters, &range));
}

enum ctl_exit verb_neighbours(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *neighbours = NULL;
	_cleanup_free_ char *text = NULL;
	json_object *parameters;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	parameters = json_object_new_object();
	if (!call_add_name(parameters, "cgroup", arguments[0]) ||
	    !add_neighbours_range(parameters, options)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	result = call_pages(options, client, METHOD("GetNeighbours"), parameters, "neighbours", &neighbours);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(neighbours);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_neighbours(stream, neighbours, &style);
	return call_print_text(stream, &text, &length);
}
