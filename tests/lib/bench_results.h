// SPDX-License-Identifier: GPL-2.0
/*
 * Results of a benchmark run: read from the lines that the measurements print, written as JSON, and read
 * back.
 *
 * A line is one JSON object:
 *   {"round": 3}                                             the following lines belong to this round
 *   {"fact": "kernel", "value": "6.18.44"}                   a property of the run
 *   {"group": "body", "name": "pebsd", "unit": "ns", "value": 31.5}
 *       with "better": "higher" or "neither" unless lower is better
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
	char *unit;     /* NULL if it was left out */
	char *left_out; /* the reason, or NULL */
	enum bench_better better;
	double *values; /* one per round; NAN: no value in that round */
};

struct bench_fact {
	char *name;
	char *value;
};

struct bench_results {
	size_t n_rounds;
	struct bench_fact *facts;
	size_t n_facts;
	struct bench_result *results; /* in the order of the lines */
	size_t n_results;
};

#define BENCH_ROUNDS_MAX 1000

/*
 * Reads all lines of `file`. Returns 0, -EBADMSG if line `*ret_line` is malformed, -ENOMEM or -EIO. The
 * caller frees `ret` in every case.
 */
int bench_results_read_lines(FILE *file, struct bench_results *ret, size_t *ret_line);

/*
 * Reads the JSON that bench_results_json() wrote. Returns 0, -EBADMSG or -ENOMEM. The caller frees `ret` in
 * every case.
 */
int bench_results_parse(const char *text, size_t length, struct bench_results *ret);

/* Returns the results with medians and spreads, for other programs. Returns NULL if memory runs out. */
json_object *bench_results_json(const struct bench_results *results);

/* Finds a result by "group/name", or returns NULL. */
const struct bench_result *bench_results_find(const struct bench_results *results, const char *key);

/* Finds a result or adds one without values. Returns NULL if memory runs out. */
struct bench_result *bench_results_make(struct bench_results *results, const char *group, const char *name);

/* Returns the value of a fact, or NULL. */
const char *bench_results_fact(const struct bench_results *results, const char *name);

struct bench_spread bench_result_spread(const struct bench_results *results,
					const struct bench_result *result);

void bench_results_done(struct bench_results *results);

#endif
