// SPDX-License-Identifier: GPL-2.0
/* What policy says, as metrics: a part of prometheus_render(). Pure. */
#ifndef PEBSD_PROMETHEUS_ALERTS_H
#define PEBSD_PROMETHEUS_ALERTS_H

#include "act/act.h"
#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/exposition.h"
#include "policy/alert.h"

/*
 * Series of pebsd_alert in one scrape. Alerts are bounded by rules times cgroups, which may be half a
 * million: of more than this many the firing ones go before the pending ones, and the earlier before the
 * later, so that a series that is there stays as long as its alert. How many have none is a metric of its
 * own.
 */
#define PROMETHEUS_ALERTS_MAX 1000

struct prometheus_alerts {
	const struct alert *list; /* policy_alerts(), in any order */
	size_t n;
	u64 n_rules;
	u64 actions[ACT_KINDS][ACT_RESULTS]; /* since the start */
};

/* Dry runs are left out. Of one rule's alerts on a cgroup's several events the firing one counts. 0 or
 * -ENOMEM. */
int prometheus_alerts(struct exposition *out, const struct prometheus_alerts *alerts,
		      const struct cgroup_label_wish *wish);

#endif
