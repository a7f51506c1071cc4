// SPDX-License-Identifier: GPL-2.0
/*
 * What the samples of a window prove about a rule's limits: the same as the bounds of estimate.h say, but by
 * counts, fast enough to be asked for every cgroup at every collection. Pure.
 *
 * A quantile is past a bucket edge where enough latencies are: how many of n, is a binomial tail, computed
 * once for an n and remembered.
 */
#ifndef PEBSD_EVIDENCE_H
#define PEBSD_EVIDENCE_H

#include "base/cleanup.h"
#include "policy/estimate.h"

enum verdict {
	VERDICT_BETWEEN, /* nothing is proven */
	VERDICT_BREACH,  /* the near bound is past the threshold */
	VERDICT_CLEAR,   /* the far bound is on the good side of `clear` */
};

struct evidence; /* remembers critical counts; bounded */

int evidence_new(struct evidence **ret); /* 0 or -ENOMEM */
struct evidence *evidence_free(struct evidence *evidence);
DEFINE_CLEANUP(struct evidence *, evidence_free)

/* VERDICT_BETWEEN where there is no value. A verdict equals what estimate_of() gives: `low` at or above the
 * threshold (`above`; a latency is above the lower edge of its bucket), `high` at or below `clear`; turned
 * round for `below`. */
enum verdict evidence_judge(struct evidence *evidence, const struct rule *rule, const struct limits *limits,
			    const struct measured *measured);

/*
 * Of a quantile or share: with how many of `n` on the far side of the limit the verdict is met. `effect` of the
 * `n` are worth one independent one; 0: taken for 1. For a rule `above`: a breach from `*ret_breach` latencies
 * above the threshold on, clear up to `*ret_clear` above `clear`. n + 1 and -1 where no count does.
 */
void evidence_counts(struct evidence *evidence, const struct rule *rule, const struct limits *limits, u64 n,
		     double effect, s64 *ret_breach, s64 *ret_clear);

#endif
