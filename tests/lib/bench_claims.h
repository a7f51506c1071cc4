// SPDX-License-Identifier: GPL-2.0
/*
 * Claims about the measurements: limits, and ratios within one run. Each value of a ratio is computed from
 * values of the same round. A ratio becomes a result of its own, in the group "ratio".
 */
#ifndef PEBSD_BENCH_CLAIMS_H
#define PEBSD_BENCH_CLAIMS_H

#include <stdbool.h>

#include "bench_results.h"

struct bench_claim {
	const char *name;     /* name of a ratio; NULL: a limit on over[0] */
	const char *told;     /* description for people; NULL: the name */
	const char *over[2];  /* results, "group/name", that are added up; the second may be NULL */
	const char *under[2]; /* the divisor, added up in the same way; all results have one unit */
	double at_most;       /* 0: no such limit */
	double at_least;
};

/* The claims of the project, and their number. */
extern const struct bench_claim bench_claims[];
extern const size_t n_bench_claims;

/*
 * Adds a result for each ratio. In a round in which a part of the ratio was not measured, the value is NAN.
 * Returns 0 or -ENOMEM.
 */
int bench_claims_add(const struct bench_claim *claims, size_t n, struct bench_results *results);

/* Returns the result that a claim is about, or NULL if there is none. */
const struct bench_result *bench_claim_result(const struct bench_claim *claim,
					      const struct bench_results *results);

/* Returns the description of the claim. */
const char *bench_claim_told(const struct bench_claim *claim);

bool bench_claim_holds(const struct bench_claim *claim, double median);

#endif
