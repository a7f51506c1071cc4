// SPDX-License-Identifier: GPL-2.0
/*
 * The data of the page at /, as JSON for everybody who can connect to HTTP. It names only cgroups and alerts
 * that /metrics names. A search also finds cgroups that /metrics may name. The format is that of json.h and
 * json_rules.h, without anything that /metrics does not show: ids of cgroups, notes on the machine, patterns and
 * actions of rules. A reply about the past has notes on how events were sampled. An alert that has a pebsd_alert series
 * also has its value, its bounds and its limits, and is explained. For the past the same limits and filters hold. Pure
 * functions. Functions with `ret_text` return 0 or -ENOMEM; the caller frees *ret_text, which has *ret_length bytes and
 * a NUL after them.
 */
#ifndef PEBSD_EXPORT_JSON_PUBLIC_H
#define PEBSD_EXPORT_JSON_PUBLIC_H

#include "cgroup/container_label.h"
#include "export/json/json_history.h"
#include "export/json/json_neighbours.h"
#include "policy/policy.h"
#include "series/series.h"
#include "snapshot/snapshot.h"

/* Seconds that the counters cover, except in a replay, where they cover everything. */
#define JSON_PUBLIC_WINDOW_SECONDS 10

/* Points of the trend over the last hour. */
#define JSON_PUBLIC_TREND_BINS 60

/*
 * Bytes of a table. Of more cgroups the first ones are listed, which are the costliest. The member `unlisted` has the
 * number of exported cgroups with samples that are not listed.
 */
#define JSON_PUBLIC_BYTES_MAX (4UL << 20)

/* Maximum number of cgroups that a search returns. The page draws no more. */
#define JSON_PUBLIC_MATCHES_MAX 100

/* The labels that names of cgroups may be made of: those of /metrics. Zeroed: only the path. */
struct json_public_labels {
	const struct container_lookup *lookup; /* NULL: no container is known */
	unsigned int labels;                   /* as in struct cgroup_label_request */
};

/* The cgroups that /metrics names, and those that it would name. */
struct json_public_names {
	const struct series *const *series;
	size_t n_series;
	size_t top; /* of a range of the past: the costliest cgroups of the range, at most this many */
	bool (*exported)(const char *path, void *userdata);
	void *userdata; /* for `exported` */
	struct json_public_labels labels;
};

/*
 * The table, with the histograms and the trend of each cgroup. It has the cgroups with a series of their own,
 * in the order of the snapshot. `match` not NULL: it has instead the first JSON_PUBLIC_MATCHES_MAX exported cgroups
 * whose name, path or label, as LABEL=VALUE, contains this text in its shown form, in letters of either case.
 * `unlisted` is then the number of the other ones that do. A search takes O(n log n) for n cgroups.
 */
int json_public_top(const struct snapshot *snapshot, const struct json_public_names *names, const char *match,
		    char **ret_text, size_t *ret_length);

/*
 * Returns the path of the cgroup that is shown as `shown` if it may be named, else NULL: one with a series now, or one
 * that a search finds in `past`, which has all cgroups of a range (NULL: none).
 */
const char *json_public_path(const struct json_public_names *names, const struct past *past,
			     const char *shown);

/* The table of a range of the past, with the cgroups that may be named, as json_public_top(). */
int json_public_range(const struct past *past, bool open, const struct json_public_names *names,
		      const char *match, char **ret_text, size_t *ret_length);

/* The reply of GetHistory. `history` is about all cgroups, or about one that may be named. */
int json_public_history(const struct json_history *history, struct json_page *page,
			const struct json_public_labels *labels, char **ret_text, size_t *ret_length);

/*
 * The alerts of a range that had a pebsd_alert series. `alerts` is a JSON array of the history. Of more than
 * PROMETHEUS_ALERTS_MAX the first ones are listed.
 */
int json_public_past_alerts(const char *origin, const json_object *alerts, const struct timespec *since,
			    const struct timespec *until, const struct json_public_labels *labels,
			    char **ret_text, size_t *ret_length);

/*
 * The explanation of a rule on the cgroup that is shown as `shown`. Of its neighbours only cgroups with a series are
 * named. Returns -ENOENT unless the alert has a pebsd_alert series, or had one and is resolved.
 */
int json_public_explain(const char *origin, const struct policy *policy, const char *rule, const char *shown,
			const struct json_public_names *names, struct json_suspects suspects, char **ret_text,
			size_t *ret_length);

/*
 * The same for the past: as json_explain_past(). Alerts that had no pebsd_alert series are left out. `alerts` must not
 * be used otherwise afterwards.
 */
int json_public_explain_past(const char *origin, const char *rule, json_object *alerts, time_t since,
			     time_t until, const struct json_public_names *names,
			     struct json_suspects suspects, char **ret_text, size_t *ret_length);

/* The alerts that have a pebsd_alert series, by rule and cgroup; `unlisted` is the number of further ones. */
int json_public_alerts(const char *origin, const struct alert *alerts, size_t n,
		       const struct json_public_labels *labels, char **ret_text, size_t *ret_length);

#endif
