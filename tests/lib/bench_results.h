// SPDX-License-Identifier: GPL-2.0
/*
 * Results of a run of the benchmarks: from the lines that the single measurements print, to JSON and back.
 *
 * A line is one JSON object:
 *   {"round": 3}                                             the lines that follow are of this round
 *   {"fact": "kernel", "value": "6.18.44"}                   what else is to be known of the run
 *   {"group": "body", "name": "pebsd", "unit": "ns", "value": 31.5}
 *       with "better": "higher" or "neither" where the lower value is not the better one
 *   {"group": "body", "name": "bpftrace", "left_out": "it is not installed"}
 */
#ifndef PEBSD_BENCH_RESULTS_H
#define PEBSD_BENCH_RESULTS_H

#include <json-c/json.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "bench_spread.h"

struct bench_result {
	char *group;
	char *name;
	char *unit;     /* NULL where it was left out */
	char *left_out; /* the reason, or NULL */
	enum bench_better better;
	double *values; /* of each round; NAN where there is none */
};

struct bench_fact {
	char *name;
	char *value;
};

struct bench_results {
	size_t n_rounds;
	struct bench_fact *facts;
	size_t n_facts;
	struct bench_result *results; /* in the order in which they came */
	size_t n_results;
};

#define BENCH_ROUNDS_MAX 1000

/* Reads lines to their end. 0; -EBADMSG: `*ret_line` is not such a line; -ENOMEM, -EIO. Freed by the caller,
 * in any case. */
int bench_results_read_lines(FILE *file, struct bench_results *ret, size_t *ret_line);

/* The same as bench_results_json() wrote it. 0, -EBADMSG, -ENOMEM. Freed by the caller, in any case. */
int bench_results_parse(const char *text, size_t length, struct bench_results *ret);

/* With medians and spreads, for who reads it elsewhere. NULL without memory. */
json_object *bench_results_json(const struct bench_results *results);

/* A result by "group/name", or NULL. */
const struct bench_result *bench_results_find(const struct bench_results *results, const char *key);

/* Finds or makes one, without values. NULL without memory. */
struct bench_result *bench_results_make(struct bench_results *results, const char *group, const char *name);

/* The value of a fact, or NULL. */
const char *bench_results_fact(const struct bench_results *results, const char *name);

struct bench_spread bench_result_spread(const struct bench_results *results,
					const struct bench_result *result);

void bench_results_done(struct bench_results *results);

#endif
