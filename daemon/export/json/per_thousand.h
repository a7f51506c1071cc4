// SPDX-License-Identifier: GPL-2.0
/*
 * Sampled accesses per thousand instructions: the samples of loads or stores relative to the instructions
 * that the same PMU ran. Pure.
 */
#ifndef PEBSD_PER_THOUSAND_H
#define PEBSD_PER_THOUSAND_H

#include "snapshot/snapshot.h"

/*
 * Computes the weighted samples of event `index`, per thousand weighted samples of the instructions of its
 * PMU. `counters` are those of a cgroup, or the sums of all. The result is not a rate of all accesses: the hardware
 * tags some loads at random, and `ldlat` leaves out the fast ones. Returns false if either event was not
 * sampled, has no period, or ran for a different share of the time.
 */
bool per_thousand_instructions(const struct snapshot *snapshot, const struct counters *const *counters,
			       size_t index, double *ret);

#endif
