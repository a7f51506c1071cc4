// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus_alerts.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/label.h"

static bool fires(const struct alert *alert)
{
	return alert->decision.state == ALERT_FIRING;
}

static bool is_shown(const struct alert *alert)
{
	return !alert->rule->dry_run && (fires(alert) || alert->decision.state == ALERT_PENDING);
}

static int compare_series(const struct alert *a, const struct alert *b)
{
	int order = strcmp(a->rule->name, b->rule->name);

	return order ? order : strcmp(a->cgroup, b->cgroup);
}

/* By series, and of one series the firing one first. */
static int by_series(const void *first, const void *second)
{
	const struct alert *a = *(const struct alert *const *)first;
	const struct alert *b = *(const struct alert *const *)second;
	int order = compare_series(a, b);

	return order ? order : (int)fires(b) - (int)fires(a);
}

/* In the order in which they get a series of their own. */
static int by_urgency(const void *first, const void *second)
{
	const struct alert *a = *(const struct alert *const *)first;
	const struct alert *b = *(const struct alert *const *)second;

	if (fires(a) != fires(b))
		return fires(a) ? -1 : 1;
	if (a->since.tv_sec != b->since.tv_sec)
		return a->since.tv_sec < b->since.tv_sec ? -1 : 1;
	if (a->since.tv_nsec != b->since.tv_nsec)
		return a->since.tv_nsec < b->since.tv_nsec ? -1 : 1;
	return compare_series(a, b);
}

/* One alert for each series. Returns how many. */
static size_t merge(const struct alert **sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || compare_series(sorted[kept - 1], sorted[i]) != 0)
			sorted[kept++] = sorted[i];
	return kept;
}

static int write_alert(struct exposition *out, const struct alert *alert,
		       const struct cgroup_label_wish *wish)
{
	static const struct family family = {
		"pebsd_alert", FAMILY_GAUGE,
		"Alerts of rules: 1 while one fires, 0 while its breach has not been proven for long enough; "
		"what is not known at the moment stays as it was."};
	_cleanup_free_ char *rule = NULL;
	_cleanup_free_ char *cgroup = NULL;
	_cleanup_free_ char *severity = NULL;
	_cleanup_free_ char *labels = NULL;

	if (label_escape(alert->rule->name, &rule) < 0 || cgroup_label(wish, alert->cgroup, &cgroup) < 0 ||
	    label_escape(alert->rule->severity, &severity) < 0)
		return -ENOMEM;
	if (asprintf(&labels, "rule=\"%s\",%s,severity=\"%s\"", rule, cgroup, severity) < 0) {
		labels = NULL;
		return -ENOMEM;
	}
	exposition_u64(out, &family, "", labels, NULL, fires(alert));
	return 0;
}

static int write_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
			const struct cgroup_label_wish *wish)
{
	static const struct family unlisted = {
		"pebsd_alerts_unlisted", FAMILY_GAUGE,
		"Alerts beyond those that pebsd_alert has a series for at most."};
	_cleanup_free_ const struct alert **shown = calloc(alerts->n + 1, sizeof(*shown));
	size_t n = 0, listed;
	int r;

	if (!shown)
		return -ENOMEM;
	for (size_t i = 0; i < alerts->n; i++)
		if (is_shown(&alerts->list[i]))
			shown[n++] = &alerts->list[i];
	qsort(shown, n, sizeof(const struct alert *), by_series);
	n = merge(shown, n);
	listed = n;
	if (n > PROMETHEUS_ALERTS_MAX) {
		listed = PROMETHEUS_ALERTS_MAX;
		qsort(shown, n, sizeof(const struct alert *), by_urgency);
		qsort(shown, listed, sizeof(const struct alert *), by_series);
	}
	for (size_t i = 0; i < listed; i++) {
		r = write_alert(out, shown[i], wish);
		if (r < 0)
			return r;
	}
	exposition_u64(out, &unlisted, "", NULL, NULL, n - listed);
	return 0;
}

static void write_actions(struct exposition *out, const struct prometheus_alerts *alerts)
{
	static const struct family family = {
		"pebsd_alert_actions", FAMILY_COUNTER,
		"Actions on alerts by what became of them; limited: not taken, as they were too many."};
	char labels[64];

	for (enum act_kind kind = 0; kind < ACT_KINDS; kind++)
		for (enum act_result result = 0; result < ACT_RESULTS; result++) {
			(void)snprintf(labels, sizeof(labels), "action=\"%s\",result=\"%s\"",
				       act_kind_name(kind), act_result_name(result));
			exposition_u64(out, &family, "_total", labels, NULL, alerts->actions[kind][result]);
		}
}

int prometheus_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
		      const struct cgroup_label_wish *wish)
{
	static const struct family rules = {"pebsd_rules", FAMILY_GAUGE, "Rules in force, dry runs too."};

	exposition_u64(out, &rules, "", NULL, NULL, alerts->n_rules);
	write_actions(out, alerts);
	return write_alerts(out, alerts, wish);
}
