// SPDX-License-Identifier: GPL-2.0
/*
 * Limits how many samples are added to the kernel side's records between two collections, so that no sum
 * overflows. A replay delivers samples far faster than a machine produces them, and those of a hostile
 * recording are the worst that sample.h allows. Pure functions.
 */
#ifndef PEBSD_REPLAY_LIMIT_H
#define PEBSD_REPLAY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/records.h"

/* What was added since the last collection. All zero after one. */
struct replay_limit {
	u64 weighted_latency; /* of all samples; no single record has a larger sum */
	u64 samples;
};

/* Counters have 32 bits and are read modulo 2^32, so between two collections they must grow by less than that. */
#define REPLAY_LIMIT_SAMPLES_MAX (1ULL << 31)

/* Returns true if `n` further samples (1 to INJECT_MAX) fit before the next collection, and then counts them. */
bool replay_limit_take(struct replay_limit *limit, const struct sample *samples, size_t n);

#endif
