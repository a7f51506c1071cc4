// SPDX-License-Identifier: GPL-2.0
/* Summarizes the rounds of a measurement, and decides whether two sets of rounds differ. Pure functions. */
#ifndef PEBSD_BENCH_SPREAD_H
#define PEBSD_BENCH_SPREAD_H

#include <stddef.h>

enum bench_better { BENCH_LOWER, BENCH_HIGHER, BENCH_NEITHER };

/*
 * From this number of rounds on, the worst round is left out of the spread. With fewer rounds, or with
 * BENCH_NEITHER, all are included.
 */
#define BENCH_ROUNDS 5

/*
 * The median of the rounds, and their range without the worst one: a disturbance can only make a round worse. A
 * round without a value is NAN, and is not counted in `n`. n == 0: nothing was measured, and the other members
 * are NAN.
 */
struct bench_spread {
	size_t n;
	double median;
	double low;
	double high;
};

struct bench_spread bench_spread_of(const double *values, size_t n, enum bench_better better);

enum bench_change {
	BENCH_SAME,
	BENCH_WORSE,
	BENCH_IMPROVED, /* they differ, and B is better */
	BENCH_UNKNOWN,  /* one has fewer than BENCH_ROUNDS rounds, or neither direction is better */
};

/* A difference of medians of up to this share never counts, even if the spreads are smaller. */
#define BENCH_LEAST_CHANGE 0.03

/*
 * Returns whether B differs from A: the spreads must not overlap. With seven rounds each, two equal sets
 * differ by chance about once in 430 times in each direction.
 */
enum bench_change bench_change_of(const struct bench_spread *a, const struct bench_spread *b,
				  enum bench_better better);

#endif
