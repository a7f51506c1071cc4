// SPDX-License-Identifier: GPL-2.0
/*
 * Rules and what became of them as JSON; see json.h, whose conventions hold. The types are written out in
 * io.pebsd.varlink. Pure. Each function returns a new object that the caller owns, NULL where
 * memory is short.
 */
#ifndef PEBSD_EXPORT_JSON_RULES_H
#define PEBSD_EXPORT_JSON_RULES_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "policy/policy.h"

/* Each rule, with how many of its subjects are in which state: `counts` has one for each. `page` NULL: all.
 */
json_object *json_rules(const char *origin, const struct rule *rules, const struct policy_counts *counts,
			size_t n, struct json_page *page);

/* In the order given. `page` NULL: all. */
json_object *json_alerts(const char *origin, const struct alert *alerts, size_t n, struct json_page *page);

/* One rule on one cgroup: `alerts` are what policy_explain() gives, one for each event. */
json_object *json_explain(const char *origin, const struct rule *rule, const struct alert *alerts, size_t n);

/* The members that control_publish() is given for an alert that changed its state: all of the alert, and
 * "from"; the event is "source", as in what else is published, for "event" is what happened. Names stand as
 * they are, not in their shown form, which is control_publish()'s to give. */
json_object *json_transition(const struct transition *transition);

/* A value of a metric or one of its bounds, in the metric's unit; nothing where it is not finite. */
void json_put_metric(struct json_writer *writer, json_object *object, const char *key,
		     const struct metric *metric, double value);

#endif
