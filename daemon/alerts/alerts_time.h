// SPDX-License-Identifier: GPL-2.0
/* Computes, for the policy, how an event spent the time between two collections. Pure. */
#ifndef PEBSD_ALERTS_TIME_H
#define PEBSD_ALERTS_TIME_H

#include "window/readings.h"
#include "window/sliding.h"

/*
 * `now` and `before` are readings of an event on `n_cpus` CPUs (0: not known), `elapsed_ns` apart. If the
 * origin does not count time (a replay), everything except the elapsed time is 0, which means "not known".
 */
struct sliding_time alerts_time(const struct reading *now, const struct reading *before, u64 elapsed_ns,
				u64 n_cpus);

#endif
