// SPDX-License-Identifier: GPL-2.0
/*
 * The data of the page at /, as JSON for everybody who can connect to HTTP. It names only cgroups and alerts
 * that /metrics names. The format is that of json.h and json_rules.h, without anything that /metrics does not
 * show: ids of cgroups, notes on the machine, limits of rules and the values judged by them. Pure functions.
 * Both functions return 0 or -ENOMEM; the caller frees *ret_text, which has *ret_length bytes and a NUL after
 * them.
 */
#ifndef PEBSD_EXPORT_JSON_PUBLIC_H
#define PEBSD_EXPORT_JSON_PUBLIC_H

#include "cgroup/container_label.h"
#include "collect/series.h"
#include "policy/alert.h"
#include "snapshot/snapshot.h"

/* Seconds that the counters cover, except in a replay, where they cover everything. */
#define JSON_PUBLIC_WINDOW_SECONDS 10

/* Points of the trend over the last hour. */
#define JSON_PUBLIC_TREND_BINS 60

/* The labels that names of cgroups may be made of: those of /metrics. Zeroed: only the path. */
struct json_public_labels {
	const struct container_lookup *lookup; /* NULL: no container is known */
	unsigned int labels;                   /* as in struct cgroup_label_wish */
};

/*
 * The table, with the histograms and the trend of each cgroup. It has the cgroups with a series of their own,
 * in the order of the snapshot.
 */
int json_public_top(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		    const struct json_public_labels *labels, char **ret_text, size_t *ret_length);

/* The alerts that have a pebsd_alert series, by rule and cgroup; `unlisted` is the number of further ones. */
int json_public_alerts(const char *origin, const struct alert *alerts, size_t n,
		       const struct json_public_labels *labels, char **ret_text, size_t *ret_length);

#endif
