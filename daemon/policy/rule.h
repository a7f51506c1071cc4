// SPDX-License-Identifier: GPL-2.0
/* A rule as it was configured, and what follows from that alone. Pure. */
#ifndef PEBSD_RULE_H
#define PEBSD_RULE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "policy/metric.h"

#define RULE_NAME_MAX     64 /* with its NUL; letters, digits, - _ . */
#define RULE_SEVERITY_MAX 32

enum rule_action {
	RULE_LOG = 1 << 0,
	RULE_UNIT = 1 << 1,
	RULE_ZOOM = 1 << 2, /* look at the cgroup closely for `zoom_ns` (zooms.h) */
	RULE_HOT = 1 << 3,  /* table its hot code and data for `hot_ns` (engine_hot_choose()) */
};

#define RULE_ZOOM_NS_MIN (1 * NSEC_PER_SEC)
#define RULE_ZOOM_NS_MAX (3600 * NSEC_PER_SEC)
#define RULE_HOT_NS_MAX  (7ULL * 86400 * NSEC_PER_SEC)

struct rule {
	char name[RULE_NAME_MAX];
	char **patterns; /* cgroups, as globs (base/glob.h) */
	size_t n_patterns;
	enum event_role event;
	struct metric metric;
	bool below;       /* fires below the threshold, and `clear` is above it */
	double threshold; /* in the metric's unit */
	double clear;     /* not past the threshold */
	u64 window_ns;
	u64 for_ns;
	u64 baseline_ns;   /* half-life, of a ratio */
	u64 min_samples;   /* in the window; of a ratio in the baseline, too */
	double confidence; /* 0.5 to 0.9999: of each bound (window/interval.h) */
	char severity[RULE_SEVERITY_MAX];
	bool subtree; /* a cgroup with all below it */
	bool dry_run;
	bool trust_owner; /* heed preferences on directories that are not root's */
	unsigned actions; /* enum rule_action */
	u64 zoom_ns;      /* with RULE_ZOOM, else 0 */
	u64 hot_ns;       /* with RULE_HOT, else 0 */
};

/* Where a rule decides: thresholds of a quantile lie on upper edges of fine buckets, the nearest ones. */
struct limits {
	double threshold;
	double clear;
	u32 threshold_bucket; /* whose upper edge it is; of a quantile that is no ratio */
	u32 clear_bucket;
};

/* `clear` moves with the threshold where a preference gives another one: both stay in proportion. */
struct limits rule_limits(const struct rule *rule, double threshold);

/* Whether `path` is one of the rule's cgroups (config_exports() says how it is matched). */
bool rule_matches(const struct rule *rule, const char *path);

/* The same patterns, in the same order. */
bool rule_same_patterns(const struct rule *a, const struct rule *b);

/* Up to which upper bucket edge a latency counts in a mean: the nearest one to 8 times the larger limit. */
u32 rule_mean_cap(const struct rule *rule, const struct limits *limits);

/*
 * The least samples in a window with which the rule can both fire and clear: below that one of the bounds
 * does not exist, or can't be past its limit whatever comes. 0: any number (a rate).
 */
u64 rule_needs_samples(const struct rule *rule);

/* Whether a state may be carried from one to the other: all that decides is the same (not severity, actions,
 * dry-run). */
bool rule_same_decision(const struct rule *a, const struct rule *b);

/* A number for the same: of two rules that decide differently almost never equal. Never changes with the
 * version: it stands in files. */
u64 rule_fingerprint(const struct rule *rule);

/* Deep. 0 or -ENOMEM; rules_free() frees what it made. */
int rules_copy(const struct rule *rules, size_t n, struct rule **ret);
struct rule *rules_free(struct rule *rules, size_t n);

#endif
