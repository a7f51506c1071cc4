// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether the samples of a window prove that a rule's limits are passed. The verdict is the one that the
 * bounds of estimate.h give, but it is found by counting. That is fast enough for every cgroup at every
 * collection. Pure.
 *
 * A quantile is past a bucket's edge if enough latencies are. How many of n are enough follows from a
 * binomial tail. The results for each n are cached and decide most counts without a new computation.
 */
#ifndef PEBSD_EVIDENCE_H
#define PEBSD_EVIDENCE_H

#include "base/cleanup.h"
#include "estimate/estimate.h"

enum verdict {
	VERDICT_BETWEEN, /* nothing is proven */
	VERDICT_BREACH,  /* both bounds are past the threshold */
	VERDICT_CLEAR,   /* both bounds are on the good side of `clear` */
};

struct evidence; /* a cache of critical counts, of fixed size */

int evidence_new(struct evidence **ret); /* 0 or -ENOMEM */
struct evidence *evidence_free(struct evidence *evidence);
DEFINE_CLEANUP(struct evidence *, evidence_free)

/*
 * Returns VERDICT_BETWEEN if there is no value. Otherwise the verdict agrees with the bounds of
 * estimate_of(). For a rule with `above`, `low` at or above the threshold is a breach, and `high` at or below
 * `clear` is clear. For a rule with `below`, `high` at or below the threshold is a breach, and `low` at or
 * above `clear` is clear. A latency counts as above the lower edge of its bucket.
 */
enum verdict evidence_judge(struct evidence *evidence, const struct rule *rule, const struct limits *limits,
			    const struct measured *measured);

/*
 * For a quantile or a share that is not a ratio: how many of `n` samples must be past a limit for each
 * verdict. `effect` samples are worth one independent sample; 0 stands for 1. A breach is proven if at least
 * `*ret_breach` samples are past the threshold, clear if at most `*ret_clear` are past `clear`. A latency
 * past a limit is above it; a sample past the limit of a share is one that the share counts. For a rule with
 * `below`, a latency past a limit is not above it, and a sample past a limit is one that the share does not
 * count. `*ret_breach` is n + 1, and `*ret_clear` is -1, if no count proves that verdict.
 */
void evidence_counts(struct evidence *evidence, const struct rule *rule, const struct limits *limits, u64 n,
		     double effect, s64 *ret_breach, s64 *ret_clear);

#endif
