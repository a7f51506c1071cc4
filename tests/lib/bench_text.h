// SPDX-License-Identifier: GPL-2.0
/* Results as text for people: on a terminal, for tests/bench/README.md, and as a comparison of two runs. */
#ifndef PEBSD_BENCH_TEXT_H
#define PEBSD_BENCH_TEXT_H

#include "bench_claims.h"

#define BENCH_FIGURE 32 /* bytes */

/*
 * Prints about three digits, which is as precise as the spread allows, with a thousands separator for large
 * numbers. Returns `text`.
 */
const char *bench_figure(double value, char text[BENCH_FIGURE]);

/* Prints all results with the reasons of those that were left out, and the claims. */
void bench_text_table(FILE *out, const struct bench_results *results);

/* Prints the tables of tests/bench/README.md. */
void bench_text_markdown(FILE *out, const struct bench_results *results);

/*
 * Prints the changes from `a` to `b` beyond the spread of both. If the machine itself was slower in one of
 * them (group "machine", "integer loop"), times of `b` are corrected by that. Returns the number of results
 * that are worse.
 */
size_t bench_text_compare(FILE *out, const struct bench_results *a, const struct bench_results *b);

#endif
