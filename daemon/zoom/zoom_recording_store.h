// SPDX-License-Identifier: GPL-2.0
/* Bytes one after another in blocks, within a budget that several stores share; and stacks, each once. Pure.
 */
#ifndef PEBSD_ZOOM_RECORDING_STORE_H
#define PEBSD_ZOOM_RECORDING_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/keyed_hash.h"
#include "pebsd/types.h"

/* In the storage of whoever has it. */
struct store_budget {
	u64 bytes; /* taken */
	u64 most;
};

struct store_block {
	u8 *bytes;
	size_t used, size;
};

struct byte_store {
	struct store_budget *budget;
	size_t n;
	struct store_block *blocks;
};

/* Room for `size` bytes in one piece, aligned to 8 where each size is a multiple of 8. Returns 1 and where,
 * which stays there; 0 where the budget has none; -ENOMEM. */
int byte_store_take(struct byte_store *store, size_t size, u8 **ret);

/* Gives back the last `size` bytes of the piece taken last. */
void byte_store_give_back(struct byte_store *store, size_t size);

void byte_store_done(struct byte_store *store);

/* Stacks by their number, from 1 on; 0 is the empty one. */
struct stack_store {
	struct hash_key key;         /* the process chooses its addresses, and not where they go */
	struct byte_store addresses; /* each: how many, then they */
	size_t n;
	const u64 **stacks; /* by number less 1 */
	u32 *table;         /* open addressing: numbers, 0: free */
	size_t table_size;  /* a power of two; 0: none yet */
};

/* The number of a stack, which is kept if it is new. As byte_store_take(). */
int stack_store_put(struct stack_store *store, const u64 *addresses, size_t n, u32 *ret);

const u64 *stack_store_get(const struct stack_store *store, u32 number, size_t *ret_n);

void stack_store_done(struct stack_store *store);

#endif
