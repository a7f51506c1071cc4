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
	time_t began;                        /* when it began to fire, or to be pending; 0: not known */
	char age[TEXT_NUMBER_MAX]; /* how long the state has lasted, or how long an ended alert fired or was pending */
	/*
	 * "p99 912", "above 896". The value of a resolved alert is its worst one, "p99 worst 912"; of the past it is
	 * that of the time at which the alert fired, "p99 first 912". Either is "p99 -" if it is not known.
	 */
	char value[VERDICT_TEXT_MAX], limit[VERDICT_TEXT_MAX];
};

struct top_alerts {
	size_t n;
	size_t firing; /* including alerts that are unknown now and were firing before */
	bool more;     /* the daemon has more than these */
	struct top_alert *list;
};

/*
 * `now` is the time of the reply. Returns 0 or -ENOMEM; free with top_alerts_done(). A reply without a list has no
 * alerts.
 */
int top_alerts_read(json_object *reply, time_t now, struct top_alerts *ret);
void top_alerts_done(struct top_alerts *alerts);

/* Returns the most urgent alert of the cgroup that is not resolved, or NULL. */
const struct top_alert *top_alerts_of(const struct top_alerts *alerts, const char *cgroup);

/* The same, or else the alert of the cgroup that began last. `rule`: only alerts of this rule; NULL: of all. */
const struct top_alert *top_alerts_last_of(const struct top_alerts *alerts, const char *cgroup,
					   const char *rule);

/* The character that marks a row: '!' firing, '~' pending, '?' unknown. ' ': no such alert. */
char top_alert_mark(const struct top_alert *alert);

/* Explains the marks. */
extern const char top_alert_legend[];

#endif
