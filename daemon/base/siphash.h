// SPDX-License-Identifier: GPL-2.0
/*
 * A hash with a secret key, for tables whose keys others choose (addresses, names). Without the key, nobody
 * can search for values that collide. SipHash with one round per word and three at the end (Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", 2012). Pure functions, except siphash_key_new().
 */
#ifndef PEBSD_SIPHASH_H
#define PEBSD_SIPHASH_H

#include <stddef.h>

#include "pebsd/types.h"

struct siphash_key {
	u64 words[2];
};

/* Returns a random key. It is secret if the kernel's random generator is ready. */
struct siphash_key siphash_key_new(void);

u64 siphash_words(const struct siphash_key *key, const u64 *words, size_t n);
u64 siphash_bytes(const struct siphash_key *key, const void *bytes, size_t size);

#endif
