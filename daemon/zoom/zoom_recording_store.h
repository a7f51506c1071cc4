// SPDX-License-Identifier: GPL-2.0
/* Two stores that share one budget: bytes in blocks, and stacks, each distinct one once. Pure. */
#ifndef PEBSD_ZOOM_RECORDING_STORE_H
#define PEBSD_ZOOM_RECORDING_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/keyed_hash.h"
#include "pebsd/types.h"

/* The owner of the stores provides the storage. */
struct store_budget {
	u64 bytes; /* in use */
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

/*
 * Allocates `size` contiguous bytes, aligned to 8 if all sizes are multiples of 8. Returns 1 and the address,
 * which does not change. Returns 0 if the budget is exhausted, or -ENOMEM.
 */
int byte_store_take(struct byte_store *store, size_t size, u8 **ret);

/* Gives back the last `size` bytes of the most recent allocation. */
void byte_store_give_back(struct byte_store *store, size_t size);

void byte_store_done(struct byte_store *store);

/* Numbers stacks from 1. Number 0 is the empty stack. */
struct stack_store {
	struct hash_key key;         /* keyed: a process chooses its addresses, but not their buckets */
	struct byte_store addresses; /* for each stack: the number of addresses, then the addresses */
	size_t n;
	const u64 **stacks; /* by number minus 1 */
	u32 *table;         /* open addressing: stack numbers, 0: free */
	size_t table_size;  /* a power of two; 0: not allocated yet */
};

/*
 * Sets `ret` to the number of the stack, and stores the stack if it is new. Returns the same as
 * byte_store_take().
 */
int stack_store_put(struct stack_store *store, const u64 *addresses, size_t n, u32 *ret);

const u64 *stack_store_get(const struct stack_store *store, u32 number, size_t *ret_n);

void stack_store_done(struct stack_store *store);

#endif
