// SPDX-License-Identifier: GPL-2.0
/*
 * The bounds of what waiting for memory costs (window/waits.h) in the window that a reader requests. They allow for
 * samples that come in bursts. Pure.
 *
 * Each figure gets the design effect that a rule on it has (estimate_effect()). That of a ratio is the effect on its
 * own residuals: a service that runs in bursts has more of both counts at the same time, and their ratio may be as sure
 * as without bursts.
 */
#ifndef PEBSD_WINDOW_WAITS_H
#define PEBSD_WINDOW_WAITS_H

#include "estimate/window_samples.h"
#include "window/waits.h"

/*
 * Computes all figures from the samples. `parts` says for each of `n` PMUs which counts are known, for how many
 * seconds they ran, the largest weights, and the frequency. The other members are taken from `samples`.
 */
void window_waits_of(const struct window_samples *samples, const struct wait_events *events,
		     const struct wait_part *parts, size_t n, double confidence,
		     struct wait_value ret[WAIT_FIGURES]);

#endif
