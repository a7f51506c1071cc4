// SPDX-License-Identifier: GPL-2.0
/* What became of an event's time between two collections, as policy wants to know it. Pure. */
#ifndef PEBSD_ALERTS_TIME_H
#define PEBSD_ALERTS_TIME_H

#include "window/readings.h"
#include "window/sliding.h"

/*
 * `now` and `before`: readings `elapsed_ns` apart of an event on `n_cpus` CPUs (0: not known). Where the
 * origin counts nothing (a replay) all but the elapsed time is 0, which is: not known.
 */
struct sliding_time alerts_time(const struct reading *now, const struct reading *before, u64 elapsed_ns,
				u64 n_cpus);

#endif
