// SPDX-License-Identifier: GPL-2.0
/* Random numbers that are the same in every run and on every machine. */
#ifndef PEBSD_TESTS_RANDOM_NUMBERS_H
#define PEBSD_TESTS_RANDOM_NUMBERS_H

#include "pebsd/types.h"

/* A state to begin with, from G. Marsaglia, "Xorshift RNGs" (2003). */
#define XORSHIFT_SEED 88172645463325252ULL

/* xorshift64. `state` must not be 0. The next state is also the number. */
static inline u64 xorshift(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* SplitMix64, which takes any state. */
static inline u64 splitmix(u64 *state)
{
	u64 value = *state += 0x9e3779b97f4a7c15ULL;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

#endif
