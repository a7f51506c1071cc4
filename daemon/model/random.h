// SPDX-License-Identifier: GPL-2.0
/* Pseudo-random numbers. The same seed gives the same numbers on every machine. */
#ifndef PEBSD_MODEL_RANDOM_H
#define PEBSD_MODEL_RANDOM_H

#include "freestanding.h"

struct random {
	u64 state[4];
};

/* Different `stream` numbers give independent streams of one seed. */
void random_seed(struct random *random, u64 seed, u64 stream);

u64 random_next(struct random *random);

/* Returns 0 to bound - 1, uniformly distributed, or 0 if bound is 0. */
u32 random_below(struct random *random, u32 bound);

/* Returns true in `part` of `whole` cases. */
bool random_chance(struct random *random, u32 part, u32 whole);

#endif
