// SPDX-License-Identifier: GPL-2.0
/*
 * How much the sums of the kernel side's records may hold since the last collection. A replay hands over
 * samples far faster than any machine makes them, and a hostile recording's are the worst that sample.h lets
 * through. Pure.
 */
#ifndef PEBSD_REPLAY_SUM_H
#define PEBSD_REPLAY_SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/records.h"

/* All zero after a collection. */
struct replay_sum {
	u64 weighted_latency; /* of all samples together, so that none of the records' sums is more */
	u64 samples;
};

/* The counters of 32 bits are read modulo 2^32. */
#define REPLAY_SUM_SAMPLES_MAX (1ULL << 31)

/* Whether 1 to INJECT_MAX further samples fit before a collection; if so, they are added. */
bool replay_sum_add(struct replay_sum *sum, const struct sample *samples, size_t n);

#endif
