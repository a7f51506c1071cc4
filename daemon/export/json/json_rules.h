// SPDX-License-Identifier: GPL-2.0
/*
 * Rules and alerts as JSON, with the conventions of json.h. The types are defined in io.pebsd.varlink. Pure
 * functions. Each function that returns an object returns a new one that the caller owns, or NULL if there is
 * no memory.
 */
#ifndef PEBSD_EXPORT_JSON_RULES_H
#define PEBSD_EXPORT_JSON_RULES_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "history/past.h"
#include "policy/policy.h"

/*
 * All rules, with the number of cgroups in each state: `counts` has one entry for each rule. `page` NULL:
 * all.
 */
json_object *json_rules(const char *origin, const struct rule *rules, const struct policy_counts *counts,
			size_t n, struct json_page *page);

/* The alerts in the given order. `page` NULL: all. */
json_object *json_alerts(const char *origin, const struct alert *alerts, size_t n, struct json_page *page);

/*
 * A time of the past, and its parts in which nothing is stored: ascending, they may reach beyond its end. NULL: not
 * known.
 */
struct json_alerts_range {
	u64 since_us;
	const struct past_span *gaps;
	size_t n_gaps;
};

/*
 * The alerts of the history from the start of the range to the page's `taken`, as they were at `taken`, in the order of
 * GetAlerts. `alerts` is an array as HISTORY_ASK_ALERTS returns it; they must not be used otherwise afterwards.
 */
json_object *json_alerts_of_past(const char *origin, json_object *alerts,
				 const struct json_alerts_range *range, struct json_page *page);

/*
 * One rule on one cgroup. `alerts` are from policy_explain(), one for each event. `suspects`: sentences of
 * json_suspects(), which follow those of explain(); NULL: none.
 */
json_object *json_explain(const char *origin, const struct rule *rule, const struct alert *alerts, size_t n,
			  json_object *suspects);

/*
 * The text of an alert that the history stores (struct history_alert), shorter than HISTORY_ALERT_MAX: with sentences
 * if the alert fired and its rule has a window, unless they make the text too long. The caller frees it. NULL: no
 * memory.
 */
char *json_alert_record(const struct alert *alert);

/*
 * A rule on one cgroup in the past, as far as the history has it: the alerts of the rule as they were at `until`, the
 * newest first, at most HISTORY_EXPLAINED_MAX. `alerts` is an array of the alerts from the start of the range to
 * `until`, as HISTORY_ASK_ALERTS with a path returns it; they must not be used otherwise afterwards. What the rule was
 * then is not stored.
 */
json_object *json_explain_past(const char *origin, const char *rule, json_object *alerts,
			       const struct json_alerts_range *range, time_t until);

/*
 * The `fields` of control_publish() for an alert whose state changed: all of the alert, and "from". The event
 * that was sampled is "source", as in other published items, because "event" there says what happened. Names
 * are not in their shown form yet: control_publish() converts them.
 */
json_object *json_transition(const struct transition *transition);

/* Adds a value of a metric or one of its bounds, in the metric's unit; nothing if it is not finite. */
void json_put_metric(struct json_writer *writer, json_object *object, const char *key,
		     const struct metric *metric, double value);

#endif
