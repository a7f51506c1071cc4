// SPDX-License-Identifier: GPL-2.0
/*
 * Approximate bounds: they enclose the exact bounds from both sides and take a fraction of the time. A caller
 * for which both sides lead to the same verdict needs no exact bounds. Pure.
 */
#ifndef PEBSD_APPROXIMATION_H
#define PEBSD_APPROXIMATION_H

#include "policy/estimate.h"

/*
 * The exact lower bound lies between outer.low and inner.low, the exact upper one between inner.high and
 * outer.high.
 */
struct approximation {
	struct interval outer;
	struct interval inner;
};

/*
 * Call it only if estimate_known() holds, and not for a mean, whose exact bounds are as fast. `log_chance` is
 * -ln of the chance that one bound may be wrong. That chance is 1 - confidence; for a ratio it is half of
 * that.
 */
struct approximation approximate_bounds(const struct rule *rule, const struct measured *measured,
					double log_chance);

#endif
