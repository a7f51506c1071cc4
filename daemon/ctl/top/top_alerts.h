// SPDX-License-Identifier: GPL-2.0
/* The alerts of a reply of GetAlerts as the plain values that the live top shows. Pure functions. */
#ifndef PEBSD_CTL_TOP_ALERTS_H
#define PEBSD_CTL_TOP_ALERTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/text.h"
#include "format/verdict.h"

/* More alerts than this are counted, but not listed. The daemon sends firing alerts first. */
#define TOP_ALERTS_MAX 1000

/* The most urgent one first. */
enum top_alert_state { TOP_ALERT_FIRING, TOP_ALERT_UNKNOWN, TOP_ALERT_PENDING, TOP_ALERT_OTHER };

struct top_alert {
	enum top_alert_state state;
	enum line_mood mood;
	char *rule, *cgroup; /* from the daemon: may contain bytes that are unsafe on a terminal */
	char *visible_rule, *visible, *path; /* safe to print: the rule, the cgroup's name, and its path */
	char *words;                         /* the state: "unknown (firing)" */
	char age[TEXT_NUMBER_MAX];
	char value[VERDICT_TEXT_MAX], limit[VERDICT_TEXT_MAX]; /* "p99 912", "above 896" */
};

struct top_alerts {
	size_t n;
	bool more; /* the daemon has more than these */
	struct top_alert *list;
};

/*
 * Alerts of the past are as they were at `now` (format/alert_then.h, which changes the reply). Returns 0 or -ENOMEM; free with top_alerts_done(). A reply without a list has no alerts.
 */
int top_alerts_read(json_object *reply, time_t now, struct top_alerts *ret);
void top_alerts_done(struct top_alerts *alerts);

/* Returns the most urgent alert of the cgroup that is not resolved, or NULL. */
const struct top_alert *top_alerts_of(const struct top_alerts *alerts, const char *cgroup);

/* The character that marks a row: '!' firing, '~' pending, '?' unknown. ' ': no such alert. */
char top_alert_mark(const struct top_alert *alert);

/* Explains the marks. */
extern const char top_alert_legend[];

#endif
