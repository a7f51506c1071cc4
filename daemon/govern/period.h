// SPDX-License-Identifier: GPL-2.0
/*
 * Which periods are taken: primes, times the step where a PMU has one, so that no loop of a program keeps
 * step with them. Pure.
 */
#ifndef PEBSD_GOVERN_PERIOD_H
#define PEBSD_GOVERN_PERIOD_H

#include "pebsd/types.h"

/*
 * The first such period that is not below `wanted`, within `least` and `greatest`; where there is none, the
 * multiple of the step that is nearest to the bound. `wanted` may be any number or none (NaN: `least`);
 * `step` 0 is 1.
 */
u64 govern_period(double wanted, u64 least, u64 greatest, u64 step);

#endif
