// SPDX-License-Identifier: GPL-2.0
/* Results for people: on a terminal, in the README, and two runs side by side. */
#ifndef PEBSD_BENCH_TEXT_H
#define PEBSD_BENCH_TEXT_H

#include "bench_claims.h"

/* All of it, with what was to be shown and what was left out. */
void bench_text_table(FILE *out, const struct bench_results *results);

/* The README's tables. */
void bench_text_markdown(FILE *out, const struct bench_results *results);

/*
 * What changed from `a` to `b`, beyond the spread of both. Where the machine itself was slower in one of them
 * (group "machine", "integer loop") times are held against that. Returns how many results are worse.
 */
size_t bench_text_compare(FILE *out, const struct bench_results *a, const struct bench_results *b);

#endif
