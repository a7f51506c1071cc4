// SPDX-License-Identifier: GPL-2.0
/*
 * What the page at / shows, as JSON for everybody who can connect to HTTP: of the cgroups and alerts that
 * /metrics names, and no others. The shape is that of json.h and json_rules.h; what those have beyond
 * /metrics (ids of cgroups, notes on the machine, limits of rules and values judged by them) is left out.
 * Pure. Both return 0 or -ENOMEM; the caller frees *ret_text, which is NUL-terminated behind its *ret_length
 * bytes.
 */
#ifndef PEBSD_EXPORT_JSON_PUBLIC_H
#define PEBSD_EXPORT_JSON_PUBLIC_H

#include "collect/series.h"
#include "policy/alert.h"
#include "snapshot/snapshot.h"

/* What the figures cover, but of a replay: of one all. */
#define JSON_PUBLIC_WINDOW_SECONDS 10

/* Points of the last hour's trend. */
#define JSON_PUBLIC_TREND_BINS 60

/* The table with each cgroup's histograms and trend: of those that have a series of their own, ordered as
 * the snapshot is. */
int json_public_top(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		    char **ret_text, size_t *ret_length);

/* Alerts that pebsd_alert is there for, by rule and cgroup; `unlisted`: how many there are beyond those. */
int json_public_alerts(const char *origin, const struct alert *alerts, size_t n, char **ret_text,
		       size_t *ret_length);

#endif
