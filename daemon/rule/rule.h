// SPDX-License-Identifier: GPL-2.0
/* A rule as it was configured, and functions that need nothing but the rule. Pure. */
#ifndef PEBSD_RULE_H
#define PEBSD_RULE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event.h"
#include "rule/metric.h"

#define RULE_NAME_MAX     64 /* with its NUL; letters, digits, - _ . */
#define RULE_SEVERITY_MAX 32

enum rule_action {
	RULE_LOG = 1 << 0,
	RULE_UNIT = 1 << 1,
	RULE_ZOOM = 1 << 2, /* record whole samples of the cgroup for `zoom_ns` (zooms.h) */
	RULE_HOT = 1 << 3,  /* keep hot tables of code and data for `hot_ns` (engine_hot_choose()) */
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
	double clear;     /* the limit for clearing; not past the threshold */
	/* The machine's nominal frequency, at which times become cycles, in Hz; 0: not known. */
	double nominal_hz;
	bool nanoseconds; /* a limit is configured as a time, and was converted */
	u64 window_ns;
	u64 for_ns;
	u64 baseline_ns;   /* of a ratio: half-life of the baseline */
	u64 min_samples;   /* in the window; for a ratio in the baseline, too (see estimate_counted()) */
	double confidence; /* of each bound, 0.5 to 0.9999 (window/bounds.h) */
	char severity[RULE_SEVERITY_MAX];
	bool subtree; /* judge a cgroup together with all cgroups below it */
	bool dry_run;
	bool trust_owner; /* follow preferences also on directories that root does not own */
	unsigned actions; /* enum rule_action */
	u64 zoom_ns;      /* with RULE_ZOOM, else 0 */
	u64 hot_ns;       /* with RULE_HOT, else 0 */
};

/*
 * The limits by which a rule decides. Those of a quantile that is not a ratio are moved to the nearest upper edge
 * of a fine bucket.
 */
struct limits {
	double threshold;
	double clear;
	u32 threshold_bucket; /* the threshold is its upper edge; for a quantile that is not a ratio */
	u32 clear_bucket;
};

/* Computes the limits for a threshold, which a preference may set. `clear` then stays in proportion to it. */
struct limits rule_limits(const struct rule *rule, double threshold);

/* Returns whether `path` is one of the rule's cgroups (see cgroup_patterns_match()). */
bool rule_matches(const struct rule *rule, const char *path);

/* Returns whether both rules have the same patterns in the same order. */
bool rule_same_patterns(const struct rule *a, const struct rule *b);

/*
 * The most cycles that one latency counts as in the upper bound of a mean: the upper bucket edge nearest to
 * 8 times the larger limit. For a ratio this cap is a constant, and applies to both bounds.
 */
u32 rule_mean_cap(const struct rule *rule, const struct limits *limits);

/*
 * The least number of samples in a window with which the rule can both fire and clear. With fewer, one of the
 * bounds does not exist, or cannot pass its limit whatever the samples are. 0: any number will do (a rate).
 * UINT64_MAX: no number will do. For a quotient it counts the samples of the second event.
 */
u64 rule_needs_samples(const struct rule *rule);

/*
 * Returns whether a reload may carry the states of one rule over to the other: all settings that affect the
 * decision are the same. Severity, actions and dry-run do not affect it.
 */
bool rule_same_decision(const struct rule *a, const struct rule *b);

/*
 * A hash of the settings that rule_same_decision() compares. Two rules that decide differently almost never
 * have the same hash. The hash must not change between versions, because it is saved in files.
 */
u64 rule_fingerprint(const struct rule *rule);

/* Makes a deep copy. Returns 0 or -ENOMEM. The caller frees `*ret` with rules_free(). */
int rules_copy(const struct rule *rules, size_t n, struct rule **ret);
struct rule *rules_free(struct rule *rules, size_t n);

#endif
