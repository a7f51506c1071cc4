// SPDX-License-Identifier: GPL-2.0
/*
 * How many independent samples the samples of a window are worth. Samples of real services come in bursts: what
 * one says its neighbours say too, and a bound that takes them for independent is too narrow. The window's own
 * parts show it: the sums over parts vary more than those of independent samples would. Pure.
 */
#ifndef PEBSD_BURSTS_H
#define PEBSD_BURSTS_H

#include <stdbool.h>
#include <stddef.h>

/* Collections that a window must have: of fewer, parts can hardly say as much as the three that are needed. */
#define BURSTS_COLLECTIONS_MIN 4

/* Parts of a window, at most: a pane more than a window has of them, where panes are an eighth shorter. */
#define BURSTS_PARTS_MAX 40

/* A part of the window: how much it has of what the figure is a share of (samples; of a rate seconds), and of
 * what is counted in it (samples of a source, latencies above an edge, cycles, weights). */
struct burst_part {
	double whole;
	double counted;
};

struct burst_series {
	size_t n;
	struct burst_part parts[BURSTS_PARTS_MAX]; /* in the order of time */
	double variance; /* of the sum of `counted` about its share of `whole`, were the samples independent */
	bool of_samples; /* `whole` counts samples: parts without one say that the service was idle */
};

/*
 * The design effect: n samples are worth n / effect independent ones. At least 1. INFINITY: not known, as the
 * window holds too few bursts to tell: they are longer than a tenth of the window or so, or fewer than five
 * of them have all samples, or the window has fewer than 3 parts' worth of samples. `confidence` is that of the bounds: the
 * effect is an estimate, and with few parts a rough one, for which they are widened as Student's t is.
 */
double bursts_effect(const struct burst_series *series, double confidence);

#endif
