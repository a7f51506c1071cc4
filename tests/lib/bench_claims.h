// SPDX-License-Identifier: GPL-2.0
/*
 * What the figures are to show: ratios within one run, each made of the values of one round, and limits. A
 * ratio becomes a result of its own, in the group "ratio".
 */
#ifndef PEBSD_BENCH_CLAIMS_H
#define PEBSD_BENCH_CLAIMS_H

#include <stdbool.h>

#include "bench_results.h"

struct bench_claim {
	const char *name;     /* of a ratio; NULL: a limit on over[0] */
	const char *told;     /* what people read; NULL: the name */
	const char *over[2];  /* results, "group/name", added up; the second may be NULL */
	const char *under[2]; /* the same; all of one unit */
	double at_most;       /* 0: no such limit */
	double at_least;
};

/* The project's, and how many. */
extern const struct bench_claim bench_claims[];
extern const size_t n_bench_claims;

/* Adds the ratios that can be made of what was measured. 0 or -ENOMEM. */
int bench_claims_add(const struct bench_claim *claims, size_t n, struct bench_results *results);

/* The result a claim is about; NULL where it was not measured. */
const struct bench_result *bench_claim_result(const struct bench_claim *claim,
					      const struct bench_results *results);

/* What it is about, in words. */
const char *bench_claim_told(const struct bench_claim *claim);

bool bench_claim_holds(const struct bench_claim *claim, double median);

#endif
