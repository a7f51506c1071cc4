// SPDX-License-Identifier: GPL-2.0
/* Pseudo-random numbers, the same from the same seed on every machine. */
#ifndef PEBSD_MODEL_RANDOM_H
#define PEBSD_MODEL_RANDOM_H

#include "freestanding.h"

struct random {
	u64 state[4];
};

/* Streams of different `stream` numbers from one seed are independent of each other. */
void random_seed(struct random *random, u64 seed, u64 stream);

u64 random_next(struct random *random);

/* 0 to bound - 1, evenly; 0 for a bound of 0. */
u32 random_below(struct random *random, u32 bound);

/* True in `part` of `whole` cases. */
bool random_chance(struct random *random, u32 part, u32 whole);

#endif
