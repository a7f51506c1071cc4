// SPDX-License-Identifier: GPL-2.0
/*
 * How far one series follows another, with what both have in common with further series taken out, and what
 * chance would make of it. Pure.
 */
#ifndef PEBSD_PAIRING_H
#define PEBSD_PAIRING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `n` values of equal bins of time, NAN where one is not known, as the functions below want them: the
 * twentieth part at either end is drawn to the next value (one wild bin is no evidence), a straight line over
 * the time is taken out (what grows or falls all the while agrees with all that does), the mean is 0 and the
 * variance 1. Returns 1, 0 where nothing is left that varies (`ret` is then not to be used), or -ENOMEM.
 */
int pairing_prepare(const double *values, size_t n, double *ret);

/* All prepared; of `n` values. */
struct pairing {
	size_t n;
	const double *latency;
	const double *own;     /* moves with `latency`; NULL: none */
	const double *traffic; /* whose relation to `latency` is asked for */
	const double *rest;    /* moves with `traffic`; NULL: none */
};

/*
 * The correlation of the latency at each bin with the traffic `lag` bins earlier, -1 to 1, `own` and `rest`
 * taken out where they rise with the latency: what falls when the latency rises is its consequence, as the
 * traffic of a program that waits, and would take the cause out with it. The latency's series is turned by
 * `turn` bins against the traffic's, its end following its start: by any but 0 a relation is broken, and all
 * that each series is by itself is kept. 0 where nothing of either is left. `*ret_n` (may be NULL): bins in
 * which all are known.
 */
double pairing_strength(const struct pairing *pairing, size_t lag, size_t turn, size_t *ret_n);

/*
 * The strength that two series that have nothing to do with each other reach in `chance` of all cases, where
 * the best of `tries` such pairs is looked for: Fisher's transformation, with as many independent bins as the
 * series' autocorrelations leave of `n` (Bartlett's formula). 1 where that is too few to say, as of one
 * long episode.
 */
double pairing_chance(const struct pairing *pairing, size_t n, double chance, size_t tries);

#endif
