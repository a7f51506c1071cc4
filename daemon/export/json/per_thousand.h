// SPDX-License-Identifier: GPL-2.0
/*
 * Sampled accesses per thousand instructions: how often an event of loads or stores was sampled against the
 * instructions that the same PMU ran. Pure.
 */
#ifndef PEBSD_PER_THOUSAND_H
#define PEBSD_PER_THOUSAND_H

#include "snapshot/snapshot.h"

/*
 * The weighted samples of the event `index` over those of the instructions of its PMU, in thousandths;
 * `figures` are a cgroup's, or the totals. It is no rate of all accesses: the hardware tags some loads at
 * random, and `ldlat` leaves out the fast ones. False where either was not sampled, has no period, or ran for
 * another share of the time.
 */
bool per_thousand_instructions(const struct snapshot *snapshot, const struct figures *const *figures,
			       size_t index, double *ret);

#endif
