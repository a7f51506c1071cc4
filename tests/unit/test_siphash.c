// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"

/* The key of the paper's test values, 00 01 02 ... 0f. */
static const struct siphash_key key = {{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}};

/*
 * The bytes 00 01 02 ... These values of SipHash-1-3 come from an implementation in Python that gives the paper's value
 * with its rounds (two and four), and with these rounds the hash() of CPython 3.11.
 */
static const struct {
	size_t size;
	u64 hash;
} values[] = {
	{0, 0xabac0158050fc4dcULL},  {1, 0xc9f49bf37d57ca93ULL},  {7, 0xd3927d989bb11140ULL},
	{8, 0x369095118d299a8eULL},  {9, 0x25a48eb36c063de4ULL},  {15, 0xd320d86d2a519956ULL},
	{16, 0xcc4fdd1a7d908b66ULL}, {31, 0x2370dd1f8c21d1bcULL}, {63, 0x9d199062b7bbb3a8ULL},
};

Test(siphash, hashes_are_those_of_siphash_1_3)
{
	u8 bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)i;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		cr_expect_eq(siphash_bytes(&key, bytes, values[i].size), values[i].hash, "%zu bytes",
			     values[i].size);
}

Test(siphash, words_hash_like_their_bytes)
{
	u64 words[7];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = i * 0x9e3779b97f4a7c15ULL;
	for (size_t n = 0; n <= ARRAY_SIZE(words); n++)
		cr_expect_eq(siphash_words(&key, words, n), siphash_bytes(&key, words, n * sizeof(u64)),
			     "%zu words", n);
}

Test(siphash, keys_differ)
{
	struct siphash_key first = siphash_key_new(), second = siphash_key_new();

	cr_expect_neq(memcmp(&first, &second, sizeof(first)), 0);
	cr_expect_neq(siphash_bytes(&first, "/a", 2), siphash_bytes(&second, "/a", 2));
}
