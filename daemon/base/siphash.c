// SPDX-License-Identifier: GPL-2.0
#include "base/siphash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

struct state {
	u64 v[4];
};

static u64 rotate(u64 word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void mix(struct state *s)
{
	s->v[0] += s->v[1];
	s->v[2] += s->v[3];
	s->v[1] = rotate(s->v[1], 13) ^ s->v[0];
	s->v[3] = rotate(s->v[3], 16) ^ s->v[2];
	s->v[0] = rotate(s->v[0], 32);
	s->v[2] += s->v[1];
	s->v[0] += s->v[3];
	s->v[1] = rotate(s->v[1], 17) ^ s->v[2];
	s->v[3] = rotate(s->v[3], 21) ^ s->v[0];
	s->v[2] = rotate(s->v[2], 32);
}

static struct state begin(const struct siphash_key *key)
{
	return (struct state){{key->words[0] ^ 0x736f6d6570736575ULL, key->words[1] ^ 0x646f72616e646f6dULL,
			       key->words[0] ^ 0x6c7967656e657261ULL, key->words[1] ^ 0x7465646279746573ULL}};
}

static inline void take(struct state *s, u64 word)
{
	s->v[3] ^= word;
	mix(s);
	s->v[0] ^= word;
}

static u64 end(struct state *s, u64 last)
{
	take(s, last);
	s->v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		mix(s);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

u64 siphash_words(const struct siphash_key *key, const u64 *words, size_t n)
{
	struct state s = begin(key);

	for (size_t i = 0; i < n; i++)
		take(&s, words[i]);
	return end(&s, (u64)n << 59);
}

u64 siphash_bytes(const struct siphash_key *key, const void *bytes, size_t size)
{
	struct state s = begin(key);
	const u8 *at = bytes;
	size_t left = size;
	u64 last = 0;

	for (; left >= sizeof(u64); left -= sizeof(u64), at += sizeof(u64)) {
		u64 word;

		memcpy(&word, at, sizeof(word));
		take(&s, word);
	}
	memcpy(&last, at, left);
	return end(&s, last | (u64)size << 56);
}

struct siphash_key siphash_key_new(void)
{
	struct siphash_key key;
	struct timespec now;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key))
		return key;
	/* In the first moments after boot, the kernel's random generator is not ready yet. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct siphash_key){{(u64)now.tv_nsec * 0x9e3779b97f4a7c15ULL, (u64)(size_t)&key}};
}
