// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_alerts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "format/format_past.h"

const char top_alert_legend[] = "Alerts: ! firing  ~ pending  ? unknown";

static enum top_alert_state state_of(const json_object *alert)
{
	const char *held = verdict_state_held(alert);

	if (verdict_is_unknown(alert))
		return TOP_ALERT_UNKNOWN;
	return strcmp(held, "firing") == 0    ? TOP_ALERT_FIRING
	       : strcmp(held, "pending") == 0 ? TOP_ALERT_PENDING
					      : TOP_ALERT_OTHER;
}

static void read_value(const json_object *alert, bool past, struct top_alert *ret)
{
	const bool resolved = strcmp(verdict_state_held(alert), "resolved") == 0;
	const char *unit = json_get_text(alert, "unit");
	_cleanup_free_ char *metric = NULL;
	char quantity[VERDICT_TEXT_MAX];
	double value;

	verdict_limit(alert, VERDICT_SHORT, ret->limit);
	(void)line_visible(json_get_text(alert, "metric"), &metric);
	if (!verdict_member(alert, resolved ? "worst" : "value", &value)) {
		(void)snprintf(ret->value, sizeof(ret->value), "%.40s -", metric ? metric : "-");
		return;
	}
	verdict_quantity(value, unit, VERDICT_SHORT, quantity);
	(void)snprintf(ret->value, sizeof(ret->value), "%.40s %s%.80s", metric ? metric : "-",
		       resolved ? "worst "
		       : past   ? "first "
				: "",
		       quantity);
}

static time_t time_of(const json_object *alert, const char *key)
{
	const char *text = json_get_text(alert, key);
	time_t at;

	return text && text_parse_time(text, &at) == 0 ? at : 0;
}

static void read_times(const json_object *alert, time_t now, struct top_alert *ret)
{
	const time_t fired = time_of(alert, "fired"), since = time_of(alert, "since");

	ret->began = fired ? fired : time_of(alert, "breached");
	if (!ret->began)
		ret->began = since;
	if (ret->state == TOP_ALERT_OTHER && ret->began && since)
		text_span((double)(since - ret->began), ret->age);
	else
		verdict_age(alert, "since", now, ret->age);
}

static int read_alert(const json_object *alert, time_t now, bool past, struct top_alert *ret)
{
	const char *cgroup = json_get_text(alert, "cgroup"), *rule = json_get_text(alert, "rule");
	const char *name = json_get_text(alert, "name");

	*ret = (struct top_alert){.state = state_of(alert),
				  .mood = verdict_mood(alert),
				  .rule = strdup(rule),
				  .cgroup = strdup(cgroup),
				  .visible_rule = text_visible(rule),
				  .visible = text_visible(name ? name : cgroup),
				  .path = text_visible(cgroup),
				  .words = verdict_state(alert)};
	read_times(alert, now, ret);
	read_value(alert, past, ret);
	return ret->rule && ret->cgroup && ret->visible_rule && ret->visible && ret->path && ret->words
		       ? 0
		       : -ENOMEM;
}

int top_alerts_read(json_object *reply, time_t now, struct top_alerts *ret)
{
	json_object *list = json_get_array(reply, "alerts");
	size_t n = list ? json_object_array_length(list) : 0;
	struct top_alerts alerts = {.more = json_get(reply, "next") != NULL || n > TOP_ALERTS_MAX};
	const bool past = format_is_past(reply);
	int r = 0;

	n = n < TOP_ALERTS_MAX ? n : TOP_ALERTS_MAX;
	alerts.list = calloc(n + 1, sizeof(*alerts.list));
	if (!alerts.list)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		json_object *alert = json_object_array_get_idx(list, i);

		if (!json_get_text(alert, "cgroup") || !json_get_text(alert, "rule"))
			continue;
		r = read_alert(alert, now, past, &alerts.list[alerts.n++]);
		alerts.firing += strcmp(verdict_state_held(alert), "firing") == 0;
	}
	if (r < 0) {
		top_alerts_done(&alerts);
		return r;
	}
	*ret = alerts;
	return 0;
}

void top_alerts_done(struct top_alerts *alerts)
{
	for (size_t i = 0; i < alerts->n; i++) {
		free(alerts->list[i].rule);
		free(alerts->list[i].cgroup);
		free(alerts->list[i].visible_rule);
		free(alerts->list[i].visible);
		free(alerts->list[i].path);
		free(alerts->list[i].words);
	}
	free(alerts->list);
	*alerts = (struct top_alerts){0};
}

const struct top_alert *top_alerts_last_of(const struct top_alerts *alerts, const char *cgroup,
					   const char *rule)
{
	const struct top_alert *found = NULL;

	for (size_t i = 0; cgroup && i < alerts->n; i++) {
		const struct top_alert *alert = &alerts->list[i];

		if (strcmp(alert->cgroup, cgroup) != 0 || (rule && strcmp(alert->rule, rule) != 0))
			continue;
		if (!found || alert->state < found->state ||
		    (alert->state == TOP_ALERT_OTHER && found->state == TOP_ALERT_OTHER &&
		     alert->began > found->began))
			found = alert;
	}
	return found;
}

const struct top_alert *top_alerts_of(const struct top_alerts *alerts, const char *cgroup)
{
	const struct top_alert *found = top_alerts_last_of(alerts, cgroup, NULL);

	return found && found->state != TOP_ALERT_OTHER ? found : NULL;
}

char top_alert_mark(const struct top_alert *alert)
{
	static const char marks[] = {[TOP_ALERT_FIRING] = '!',
				     [TOP_ALERT_UNKNOWN] = '?',
				     [TOP_ALERT_PENDING] = '~',
				     [TOP_ALERT_OTHER] = ' '};

	if (!alert)
		return ' ';
	return marks[alert->state];
}
