// SPDX-License-Identifier: GPL-2.0
/*
 * Computes how strongly one series follows another, after the effect of other series is taken out of both,
 * and how strong that would be by chance. Pure.
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

/* Prepared series of `n` values: the question is how `latency` follows `traffic`. */
struct pairing {
	size_t n;
	const double *latency;
	const double *own; /* taken out, at the bins of `latency`; NULL: none */
	const double *traffic;
	const double *rest; /* taken out, at the bins of `traffic`; NULL: none */
};

/*
 * Returns the correlation of the latency at each bin with the traffic `lag` bins earlier, -1 to 1.
 *
 * `own` and `rest` are taken out if they rise with the latency. If they fall when the latency rises, they are
 * its consequence, for example the traffic of a program that waits. To take them out would take out the
 * cause, too.
 *
 * The series of the latency (with `own`) is rotated by `turn` bins against that of the traffic. Any rotation
 * but 0 breaks a relation between the two, and keeps the properties of each series.
 *
 * Returns 0 if nothing varies any more in one of the two. `*ret_n` (may be NULL) is the number of bins in
 * which all series are known.
 */
double pairing_strength(const struct pairing *pairing, size_t lag, size_t turn, size_t *ret_n);

/*
 * Returns the strength that unrelated series reach with probability `chance`, if the best of `tries` pairs is
 * taken. It uses Fisher's transformation. The number of independent bins among `n` follows from the
 * autocorrelations of the series (Bartlett's formula). Returns 1 if it is too small, as in a single long
 * episode.
 */
double pairing_chance(const struct pairing *pairing, size_t n, double chance, size_t tries);

#endif
