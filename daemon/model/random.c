// SPDX-License-Identifier: GPL-2.0
#include "random.h"

/*
 * xoshiro256** seeded by SplitMix64, both by Blackman and Vigna ("Scrambled linear pseudorandom number
 * generators", ACM TOMS 47, 2021). They recommend SplitMix64 for seeding xoshiro256**.
 */
#define SPLITMIX_STEP 0x9e3779b97f4a7c15ULL

static u64 splitmix(u64 *state)
{
	u64 value = *state += SPLITMIX_STEP;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

static u64 rotate_left(u64 value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

void random_seed(struct random *random, u64 seed, u64 stream)
{
	/* Mix seed and stream separately first, so that neighbouring seeds or streams are unrelated. */
	u64 state = splitmix(&seed);

	state ^= rotate_left(splitmix(&stream), 32);
	for (unsigned i = 0; i < 4; i++)
		random->state[i] = splitmix(&state);
}

u64 random_next(struct random *random)
{
	u64 *s = random->state;
	u64 result = rotate_left(s[1] * 5, 7) * 9;
	u64 shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

u32 random_below(struct random *random, u32 bound)
{
	u64 product;

	if (!bound)
		return 0;
	/*
	 * The upper half of the product is uniformly distributed if products whose lower half is below 2^32
	 * mod bound are discarded (Lemire, "Fast random integer generation in an interval", 2019).
	 */
	do
		product = (random_next(random) >> 32) * bound;
	while ((u32)product < bound && (u32)product < (0 - bound) % bound);
	return (u32)(product >> 32);
}

bool random_chance(struct random *random, u32 part, u32 whole)
{
	return random_below(random, whole) < part && whole;
}
