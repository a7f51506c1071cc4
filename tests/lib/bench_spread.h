// SPDX-License-Identifier: GPL-2.0
/* What the rounds of one measurement come to, and when two sets of rounds differ. Pure. */
#ifndef PEBSD_BENCH_SPREAD_H
#define PEBSD_BENCH_SPREAD_H

#include <stddef.h>

enum bench_better { BENCH_LOWER, BENCH_HIGHER, BENCH_NEITHER };

/* Rounds of which the worst is left out of the spread. With fewer, all of them are in it. */
#define BENCH_ROUNDS 5

/*
 * The median, and from where to where the rounds lie, but for the worst: what disturbs a round can only make
 * it worse. A round without a value is NAN. n == 0: nothing was measured, and the rest is NAN.
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
	BENCH_IMPROVED, /* and better */
	BENCH_UNKNOWN, /* fewer than BENCH_ROUNDS rounds in one of them, or neither value is the better one */
};

/* A difference of medians below this share is none, whatever the spread. */
#define BENCH_LEAST_CHANGE 0.03

/*
 * Whether B differs from A: only when the spreads do not overlap, so beyond both of them. By chance alone
 * this happens to equal ones of seven rounds some once in 400 times, in either direction.
 */
enum bench_change bench_change_of(const struct bench_spread *a, const struct bench_spread *b,
				  enum bench_better better);

#endif
