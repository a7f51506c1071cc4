// SPDX-License-Identifier: GPL-2.0
/*
 * A hash with a secret key, for tables whose keys others choose (addresses, names). Without the key, nobody
 * can search for values that collide. SipHash with one round per word and three at the end (Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", 2012). Pure functions, except hash_key_new().
 */
#ifndef PEBSD_KEYED_HASH_H
#define PEBSD_KEYED_HASH_H

#include <stddef.h>

#include "pebsd/types.h"

struct hash_key {
	u64 words[2];
};

/* Returns a random key. It is secret if the kernel's random generator is ready. */
struct hash_key hash_key_new(void);

u64 keyed_hash_words(const struct hash_key *key, const u64 *words, size_t n);
u64 keyed_hash_bytes(const struct hash_key *key, const void *bytes, size_t size);

#endif
