// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_alerts.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/prometheus/alerts_shown.h"
#include "export/prometheus/label.h"

static int write_alert(struct exposition *out, const struct alert *alert,
		       const struct cgroup_label_request *request)
{
	static const struct family family = {
		"pebsd_alert", FAMILY_GAUGE,
		"Alerts of rules that are not dry runs: 1 while firing, 0 while pending. If it is unknown whether the rule holds, the value stays as it was."};
	_cleanup_free_ char *rule = NULL;
	_cleanup_free_ char *cgroup = NULL;
	_cleanup_free_ char *severity = NULL;
	_cleanup_free_ char *labels = NULL;

	if (label_escape(alert->rule->name, &rule) < 0 || cgroup_label(request, alert->cgroup, &cgroup) < 0 ||
	    label_escape(alert->rule->severity, &severity) < 0)
		return -ENOMEM;
	if (asprintf(&labels, "rule=\"%s\",%s,severity=\"%s\"", rule, cgroup, severity) < 0) {
		labels = NULL;
		return -ENOMEM;
	}
	exposition_u64(out, &family, "", labels, NULL, alert->decision.state == ALERT_FIRING);
	return 0;
}

static int write_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
			const struct cgroup_label_request *request)
{
	static const struct family unlisted = {
		"pebsd_alerts_unlisted", FAMILY_GAUGE,
		"Alerts that have no series because pebsd_alert has its maximum number of series."};
	_cleanup_(alerts_shown_done) struct alerts_shown shown = {0};
	int r = alerts_shown(alerts->list, alerts->n, PROMETHEUS_ALERTS_MAX, &shown);

	for (size_t i = 0; r == 0 && i < shown.n; i++)
		r = write_alert(out, shown.list[i], request);
	if (r == 0)
		exposition_u64(out, &unlisted, "", NULL, NULL, shown.unlisted);
	return r;
}

static void write_actions(struct exposition *out, const struct prometheus_alerts *alerts)
{
	static const struct family family = {
		"pebsd_alert_actions", FAMILY_COUNTER,
		"Actions on alerts by result. limited: skipped because there were too many."};
	char labels[64];

	for (enum act_kind kind = 0; kind < ACT_KINDS; kind++)
		for (enum act_result result = 0; result < ACT_RESULTS; result++) {
			(void)snprintf(labels, sizeof(labels), "action=\"%s\",result=\"%s\"",
				       act_kind_name(kind), act_result_name(result));
			exposition_u64(out, &family, "_total", labels, NULL, alerts->actions[kind][result]);
		}
}

int prometheus_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
		      const struct cgroup_label_request *request)
{
	static const struct family rules = {"pebsd_rules", FAMILY_GAUGE,
					    "Rules in force, including dry runs."};

	exposition_u64(out, &rules, "", NULL, NULL, alerts->n_rules);
	write_actions(out, alerts);
	return write_alerts(out, alerts, request);
}
