// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates how many independent samples the samples of a window are worth. Samples of real services come in
 * bursts: neighbouring samples are alike, so a bound that treats them as independent is too narrow. The parts
 * of the window show this, because their sums vary more than those of independent samples would. Pure.
 */
#ifndef PEBSD_BURSTS_H
#define PEBSD_BURSTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A window must have at least this many collections. With fewer, the effective number of its parts would
 * rarely reach the three that bursts_effect() needs.
 */
#define BURSTS_COLLECTIONS_MIN 4

/*
 * Maximum number of parts of a window, each of which is a pane. With panes of the planned length there are
 * SLIDING_PANES and one more. A pane may be an eighth shorter, so there can be up to 36.
 */
#define BURSTS_PARTS_MAX 40

/*
 * A part of the window. `whole` is its part of the denominator: samples, or seconds of a rate. `counted` is
 * its part of the numerator: samples of a source, latencies above a bucket's edge, cycles, or weights.
 */
struct burst_part {
	double whole;
	double counted;
};

struct burst_series {
	size_t n;
	struct burst_part parts[BURSTS_PARTS_MAX]; /* in the order of time */
	double variance; /* of the sum of `counted`, given that of `whole`, if samples were independent */
	bool of_samples; /* `whole` counts samples: the service was idle in a part that has none */
	/*
	 * `counted` comes from other samples than `whole`, so both vary by chance. Then busy parts have so much
	 * noise that they hide what the other parts show.
	 */
	bool of_two_events;
};

/*
 * Returns the design effect, at least 1: n samples are worth n / effect independent ones. Returns INFINITY if
 * the window holds too few bursts:
 *   - bursts are longer than about a tenth of the window, or
 *   - of two events: neighbouring parts, each divided by its standard deviation by chance, are alike, or
 *   - fewer than five bursts, with idle time between or beside them, contain all samples, or
 *   - the effective number of parts is below 3.
 * `confidence` is that of the bounds. The effect is itself an estimate, and a rough one if there are few
 * parts. It is therefore enlarged by the factor by which Student's t exceeds the normal quantile, squared. Of
 * two events, if bursts show in the effect, Student's t is that of half of the chance to be wrong.
 */
double bursts_effect(const struct burst_series *series, double confidence);

#endif
