// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/random.h"

#define DRAWS 60000

/* Expects a share within five standard deviations of `part` / `whole`. */
static void expect_share(u64 hits, u64 draws, u64 part, u64 whole)
{
	double share = (double)part / (double)whole;
	double mean = share * (double)draws;
	double apart = (double)hits - mean;

	cr_expect(apart * apart <= 25 * mean * (1 - share), "%lu of %lu, not some %f", hits, draws, mean);
}

Test(model_random, xoshiro_gives_its_published_numbers)
{
	/* The test vector that implementations of this generator share: state 1, 2, 3, 4. */
	static const u64 expected[] = {11520ULL,
				       0ULL,
				       1509978240ULL,
				       1215971899390074240ULL,
				       1216172134540287360ULL,
				       607988272756665600ULL,
				       16172922978634559625ULL,
				       8476171486693032832ULL,
				       10595114339597558777ULL,
				       2904607092377533576ULL};
	struct random random = {{1, 2, 3, 4}};

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		cr_expect_eq(random_next(&random), expected[i], "number %zu", i);
}

Test(model_random, a_seed_gives_the_same_numbers_everywhere)
{
	/* Computed independently of this code, with arbitrary precision. */
	static const struct {
		u64 seed, stream;
		u64 state[4];
	} cases[] = {
		{0,
		 0,
		 {0xe7d0011dc0952934ULL, 0x611ca83de5c8a141ULL, 0xd6a4e8e013594173ULL,
		  0x11fae0a4dcd0f871ULL}},
		{1,
		 0,
		 {0xf155d40060ba0fbfULL, 0x6eb379fe7865b11cULL, 0xada69291e52aa984ULL,
		  0x887cecc70db7d3edULL}},
		{0,
		 1,
		 {0x24b9a799e7dc0fe3ULL, 0x1c1c1031a31cd364ULL, 0xe0a254ab63cdff9bULL,
		  0x1477161de86d37f3ULL}},
		{~0ULL,
		 0x6d656d6f7279,
		 {0x30744ac02c064ce5ULL, 0x47b46b365a71abdcULL, 0x6ba2b9e3d8d1bd20ULL,
		  0x83967f4c2b4f9e9eULL}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct random random;

		random_seed(&random, cases[i].seed, cases[i].stream);
		for (size_t word = 0; word < 4; word++)
			cr_expect_eq(random.state[word], cases[i].state[word], "case %zu, word %zu", i, word);
	}
}

Test(model_random, streams_and_seeds_are_independent)
{
	struct random randoms[16];

	for (u64 i = 0; i < 16; i++)
		random_seed(&randoms[i], i / 4, i % 4);
	/* Half of the bits agree between any two generators. */
	for (size_t one = 0; one < 16; one++) {
		for (size_t other = one + 1; other < 16; other++) {
			struct random a = randoms[one];
			struct random b = randoms[other];
			u64 equal = 0;

			for (unsigned i = 0; i < 1000; i++)
				equal += (u64)__builtin_popcountll(~(random_next(&a) ^ random_next(&b)));
			expect_share(equal, 64000, 1, 2);
		}
	}
}

Test(model_random, random_numbers_are_uniform_and_within_the_bound)
{
	u64 counts[60] = {0};
	u64 thirds[3] = {0};
	struct random random;

	random_seed(&random, 1, 0);
	for (unsigned i = 0; i < DRAWS; i++)
		counts[random_below(&random, ARRAY_SIZE(counts))]++; /* the sanitizer watches the bounds */
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		expect_share(counts[i], DRAWS, 1, ARRAY_SIZE(counts));
	/*
	 * The bound is three quarters of 2^32. A generator that only scales its numbers would give every
	 * third value twice as often.
	 */
	for (unsigned i = 0; i < DRAWS; i++) {
		u32 number = random_below(&random, 3U << 30);

		cr_assert_lt(number, 3U << 30);
		thirds[number % 3]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(thirds); i++)
		expect_share(thirds[i], DRAWS, 1, 3);
	for (unsigned i = 0; i < 100; i++) {
		cr_expect_eq(random_below(&random, 0), 0);
		cr_expect_eq(random_below(&random, 1), 0);
	}
}

Test(model_random, a_chance_has_the_given_probability)
{
	struct random random;
	u64 hits = 0;

	random_seed(&random, 2, 0);
	for (unsigned i = 0; i < DRAWS; i++)
		hits += random_chance(&random, 3, 7);
	expect_share(hits, DRAWS, 3, 7);
	for (unsigned i = 0; i < 1000; i++) {
		cr_expect_not(random_chance(&random, 0, 7));
		cr_expect(random_chance(&random, 7, 7));
		cr_expect_not(random_chance(&random, 1, 0));
	}
}
