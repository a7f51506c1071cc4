// SPDX-License-Identifier: GPL-2.0
/*
 * Limits how many samples are added to the kernel side's records between two collections, so that no sum
 * overflows. A replay delivers samples far faster than a machine produces them, and those of a hostile
 * recording are the worst that sample.h allows. Pure functions.
 */
#ifndef PEBSD_REPLAY_SUM_H
#define PEBSD_REPLAY_SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/records.h"

/* All zero after a collection. */
struct replay_sum {
	u64 weighted_latency; /* of all samples; no single record has a larger sum */
	u64 samples;
};

/* Counters have 32 bits and are read modulo 2^32, so between two collections they must grow by less than that. */
#define REPLAY_SUM_SAMPLES_MAX (1ULL << 31)

/*
 * Returns true if `n` further samples (1 to INJECT_MAX) fit before the next collection, and then adds them to
 * the sum.
 */
bool replay_sum_add(struct replay_sum *sum, const struct sample *samples, size_t n);

#endif
