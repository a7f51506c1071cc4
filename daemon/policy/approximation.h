// SPDX-License-Identifier: GPL-2.0
/* Bounds at a glance: sure to lie on either side of the exact ones, in a fraction of their time. Pure. */
#ifndef PEBSD_APPROXIMATION_H
#define PEBSD_APPROXIMATION_H

#include "policy/estimate.h"

/* `low` of the exact bounds is not below outer.low and not above inner.low, `high` not below inner.high and
 * not above outer.high. */
struct approximation {
	struct interval outer;
	struct interval inner;
};

/*
 * Of what is known, and no mean: its exact bounds are as fast. `log_chance` is -ln of the chance that one
 * bound may be wrong: (1 - confidence), of a ratio half of it.
 */
struct approximation approximate_bounds(const struct rule *rule, const struct measured *measured,
					double log_chance);

#endif
