// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_recording_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define BLOCK_BYTES 65536

/* Takes `bytes` from the budget. Returns false if the budget has less left. */
static bool budget_take(struct store_budget *budget, u64 bytes)
{
	if (bytes > budget->most - budget->bytes)
		return false;
	budget->bytes += bytes;
	return true;
}

static int add_block(struct byte_store *store, size_t size)
{
	const size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
	struct store_block *blocks;
	u8 *block;

	if (!budget_take(store->budget, bytes + sizeof(*blocks)))
		return 0;
	blocks = reallocarray(store->blocks, store->n + 1, sizeof(*blocks));
	if (blocks)
		store->blocks = blocks;
	block = blocks ? malloc(bytes) : NULL;
	if (!block) {
		store->budget->bytes -= bytes + sizeof(*blocks);
		return -ENOMEM;
	}
	store->blocks[store->n++] = (struct store_block){.bytes = block, .size = bytes};
	return 1;
}

int byte_store_take(struct byte_store *store, size_t size, u8 **ret)
{
	struct store_block *last = store->n > 0 ? &store->blocks[store->n - 1] : NULL;

	if (!last || size > last->size - last->used) {
		int r = add_block(store, size);

		if (r <= 0)
			return r;
		last = &store->blocks[store->n - 1];
	}
	*ret = last->bytes + last->used;
	last->used += size;
	return 1;
}

void byte_store_give_back(struct byte_store *store, size_t size)
{
	store->blocks[store->n - 1].used -= size;
}

void byte_store_done(struct byte_store *store)
{
	for (size_t i = 0; i < store->n; i++)
		free(store->blocks[i].bytes);
	free(store->blocks);
	*store = (struct byte_store){.budget = store->budget};
}

static size_t find_place(const struct stack_store *store, const u64 *addresses, size_t n)
{
	size_t at = keyed_hash_words(&store->key, addresses, n) & (store->table_size - 1);

	for (; store->table[at]; at = (at + 1) & (store->table_size - 1)) {
		const u64 *stack = store->stacks[store->table[at] - 1];

		if (stack[0] == n && memcmp(stack + 1, addresses, n * sizeof(*addresses)) == 0)
			break;
	}
	return at;
}

/* Doubles the table, which holds at most half as many stacks. Returns the same as byte_store_take(). */
static int grow_table(struct stack_store *store)
{
	const size_t size = store->table_size ? store->table_size * 2 : 1024;
	const u64 bytes = size * sizeof(*store->table) + size / 2 * sizeof(*store->stacks);
	const u64 before =
		store->table_size * sizeof(*store->table) + store->table_size / 2 * sizeof(*store->stacks);
	_cleanup_free_ u32 *table = NULL;
	const u64 **stacks;

	if (!budget_take(store->addresses.budget, bytes - before))
		return 0;
	table = calloc(size, sizeof(*table));
	stacks = table ? reallocarray(store->stacks, size / 2, sizeof(*stacks)) : NULL;
	if (!stacks) {
		store->addresses.budget->bytes -= bytes - before;
		return -ENOMEM;
	}
	store->stacks = stacks;
	free(store->table);
	store->table = TAKE_PTR(table);
	store->table_size = size;
	for (size_t i = 0; i < store->n; i++)
		store->table[find_place(store, store->stacks[i] + 1, store->stacks[i][0])] = (u32)i + 1;
	return 1;
}

int stack_store_put(struct stack_store *store, const u64 *addresses, size_t n, u32 *ret)
{
	u8 *bytes;
	u64 *stack;
	size_t at;
	int r;

	*ret = 0;
	if (n == 0)
		return 1;
	if (store->n == store->table_size / 2) {
		r = grow_table(store);
		if (r <= 0)
			return r;
	}
	at = find_place(store, addresses, n);
	if (!store->table[at]) {
		r = byte_store_take(&store->addresses, (n + 1) * sizeof(u64), &bytes);
		if (r <= 0)
			return r;
		stack = (u64 *)(void *)bytes;
		stack[0] = n;
		memcpy(stack + 1, addresses, n * sizeof(*addresses));
		store->stacks[store->n++] = stack;
		store->table[at] = (u32)store->n;
	}
	*ret = store->table[at];
	return 1;
}

const u64 *stack_store_get(const struct stack_store *store, u32 number, size_t *ret_n)
{
	*ret_n = number ? store->stacks[number - 1][0] : 0;
	return number ? store->stacks[number - 1] + 1 : NULL;
}

void stack_store_done(struct stack_store *store)
{
	byte_store_done(&store->addresses);
	free(store->stacks);
	free(store->table);
	*store = (struct stack_store){.addresses.budget = store->addresses.budget};
}
