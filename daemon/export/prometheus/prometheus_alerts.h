// SPDX-License-Identifier: GPL-2.0
/* Alerts and actions as metrics: a part of prometheus_render(). Pure. */
#ifndef PEBSD_PROMETHEUS_ALERTS_H
#define PEBSD_PROMETHEUS_ALERTS_H

#include "act/act.h"
#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/exposition.h"
#include "policy/alert.h"

/*
 * Maximum number of pebsd_alert series in one scrape. The number of alerts is bounded only by rules times
 * cgroups, which can be millions. If there are more than this, firing alerts are preferred to pending ones, and
 * earlier alerts to later ones, so that the series of a firing alert stays as long as the alert. Another metric
 * counts the alerts without a series.
 */
#define PROMETHEUS_ALERTS_MAX 1000

struct prometheus_alerts {
	const struct alert *list; /* from policy_alerts(), in any order */
	size_t n;
	u64 n_rules;
	u64 actions[ACT_KINDS][ACT_RESULTS]; /* since the start */
};

/*
 * Leaves out dry runs, and merges the alerts of one rule on one cgroup as alerts_shown() does. Returns 0 or
 * -ENOMEM.
 */
int prometheus_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
		      const struct cgroup_label_request *request);

#endif
