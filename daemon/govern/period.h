// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses periods that are primes, times the step if the PMU has one, so that no loop of a program stays in
 * step with them. Pure function.
 */
#ifndef PEBSD_GOVERN_PERIOD_H
#define PEBSD_GOVERN_PERIOD_H

#include "pebsd/types.h"

/*
 * Returns the first prime, times the step, that is at least `wanted`, between `least` and `greatest`. If
 * there is none up to `greatest`, returns the first multiple of the step that is at least `wanted`, within
 * the bounds. `wanted` may be any number, and NaN stands for `least`. `step` 0 counts as 1.
 */
u64 govern_period(double wanted, u64 least, u64 greatest, u64 step);

#endif
