// SPDX-License-Identifier: GPL-2.0
/*
 * Computes the correlation of one series with another, after the effect of other series is taken out of both,
 * and the correlation that chance would yield. Pure.
 */
#ifndef PEBSD_PAIRING_H
#define PEBSD_PAIRING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Prepares a series for the functions below. `values` are `n` bins of equal length; NAN: not known.
 *   - The lowest and the highest twentieth of the values are set to the nearest remaining value (winsorized),
 *     because one extreme bin is not evidence.
 *   - A straight line over time is subtracted, because any two series with a trend agree.
 *   - The result is scaled to mean 0 and variance 1.
 *
 * Returns 1, -ENOMEM, or 0 if nothing is left that varies; then do not use `ret`.
 */
int pairing_prepare(const double *values, size_t n, double *ret);

/* Prepared series of `n` values each: a latency, the traffic that may explain it, and two controls. */
struct pairing {
	size_t n;
	const double *latency;
	const double
		*own; /* control series, indexed like `latency`: removed if it rises with it; NULL: none */
	const double *traffic;
	const double *rest; /* the same, indexed like `traffic`; NULL: none */
};

/*
 * Returns the correlation of the latency at each bin with the traffic `lag` bins earlier, -1 to 1.
 *
 * `own` and `rest` are each taken out if they rise with the latency. A control series that falls when the
 * latency rises is a consequence of the latency, for example the traffic of a program that waits. Taking it
 * out would take out the cause, too.
 *
 * The series of the latency (with `own`) is rotated by `rotation` bins against that of the traffic. Any rotation
 * but 0 breaks a relation between the two, and keeps the properties of each series.
 *
 * Returns 0 if fewer than two bins are known, or if the latency or the traffic is constant after `own` and
 * `rest` are taken out. `*ret_n` (may be NULL) is the number of bins in which all series are known.
 */
double pairing_strength(const struct pairing *pairing, size_t lag, size_t rotation, size_t *ret_n);

/*
 * The same for many series of traffic and all rotations of one latency, several times as fast. pairing_rotated() takes
 * the `latency` and `own` of a pairing. Returns 0 or -ENOMEM. Free with pairing_rotated_done().
 */
struct pairing_rotated {
	size_t n;
	/* 2 * n values each: each series twice in a row. Bins that are not known are 0 in all three. */
	double *latency;
	const double *own;
	const double *known; /* 1: known */
};

int pairing_rotated(const struct pairing *pairing, struct pairing_rotated *ret);
void pairing_rotated_done(const struct pairing_rotated *rotated);

/* One lag and rotation, and the sums that do not depend on the traffic. */
struct pairing_shift {
	const struct pairing_rotated *of;
	size_t n;     /* pairs of bins */
	size_t first; /* the bin that belongs to the first one of the traffic */
	size_t known; /* pairs of which the latency and `own` are known */
	/* Sums over these pairs. Two names: the sum of products. */
	double latency, latency_latency, own, own_own, own_latency;
};

void pairing_shift(const struct pairing_rotated *rotated, size_t lag, size_t rotation,
		   struct pairing_shift *ret);

/* The sums that do not depend on the rotation, over the first `n` bins: all but the last `lag`. Names as above. */
struct pairing_sums {
	double traffic, rest, traffic_traffic, rest_traffic, rest_rest;
};

struct pairing_sums pairing_sums(const double *traffic, const double *rest, size_t n);

/*
 * Returns what pairing_strength() returns, except for rounding, for this latency, lag and rotation. All values of
 * `traffic` and `rest` (NULL: none) must be known, and `sums` are those of this lag.
 */
double pairing_shift_strength(const struct pairing_shift *shift, const double *traffic, const double *rest,
			      const struct pairing_sums *sums);

/*
 * Returns the strength that unrelated series reach with probability `chance`, if the best of `tries` pairs is
 * taken. It uses Fisher's transformation. The number of independent bins among `n` follows from the
 * autocorrelations of the series (Bartlett's formula). Returns 1 if that number is too small, as in a single
 * long episode.
 */
double pairing_chance(const struct pairing *pairing, size_t n, double chance, size_t tries);

#endif
