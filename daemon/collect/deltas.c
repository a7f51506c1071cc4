// SPDX-License-Identifier: GPL-2.0
#include "collect/deltas.h"

#include <errno.h>

/* Pairs are stored in blocks. Blocks do not move when more are added. */
#define BLOCK_BYTES ((size_t)64 << 10)
#define LIST_MIN    64

_Static_assert(PACKED_MAX <= BLOCK_BYTES / 8, "at most an eighth of a block stays empty at its end");

struct block {
	struct block *next;
	u8 packed[BLOCK_BYTES - sizeof(struct block *)];
};

struct deltas {
	struct block *blocks;
	struct block *block; /* the block that is being filled; NULL: none yet */
	size_t used;         /* bytes used in `block` */
	size_t n_blocks;
	size_t n_filled; /* including `block` */
	struct delta *list;
	size_t n;
	size_t allocated;
};

int deltas_new(struct deltas **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void free_blocks(struct block *block)
{
	for (struct block *next; block; block = next) {
		next = block->next;
		free(block);
	}
}

struct deltas *deltas_free(struct deltas *deltas)
{
	if (!deltas)
		return NULL;
	free_blocks(deltas->blocks);
	free(deltas->list);
	free(deltas);
	return NULL;
}

/* Frees memory far beyond what the ending collection used: more than twice its blocks or four times its list. */
static void shrink(struct deltas *deltas)
{
	size_t blocks = 2 * deltas->n_filled + 1, list = 4 * deltas->n + LIST_MIN;
	struct block **end = &deltas->blocks;
	struct delta *shorter;

	if (deltas->n_blocks > blocks) {
		for (size_t i = 0; i < blocks; i++)
			end = &(*end)->next;
		free_blocks(*end);
		*end = NULL;
		deltas->n_blocks = blocks;
	}
	if (deltas->allocated <= list)
		return;
	shorter = reallocarray(deltas->list, list / 2, sizeof(*shorter));
	if (!shorter)
		return; /* keep the longer one */
	deltas->list = shorter;
	deltas->allocated = list / 2;
}

void deltas_begin(struct deltas *deltas)
{
	shrink(deltas);
	deltas->block = NULL;
	deltas->used = deltas->n_filled = deltas->n = 0;
}

static int need_block(struct deltas *deltas)
{
	struct block **next = deltas->block ? &deltas->block->next : &deltas->blocks;

	if (deltas->block && deltas->used + PACKED_MAX <= sizeof(deltas->block->packed))
		return 0;
	if (!*next) {
		*next = malloc(sizeof(**next));
		if (!*next)
			return -ENOMEM;
		(*next)->next = NULL;
		deltas->n_blocks++;
	}
	deltas->block = *next;
	deltas->used = 0;
	deltas->n_filled++;
	return 0;
}

static int need_list(struct deltas *deltas)
{
	size_t allocated = deltas->allocated ? 2 * deltas->allocated : LIST_MIN;
	struct delta *list;

	if (deltas->n < deltas->allocated)
		return 0;
	list = reallocarray(deltas->list, allocated, sizeof(*list));
	if (!list)
		return -ENOMEM;
	deltas->list = list;
	deltas->allocated = allocated;
	return 0;
}

u8 *deltas_room(struct deltas *deltas)
{
	if (need_list(deltas) < 0 || need_block(deltas) < 0)
		return NULL;
	return deltas->block->packed + deltas->used;
}

void deltas_put(struct deltas *deltas, struct totals_entry *entry, u32 event, size_t size)
{
	deltas->list[deltas->n++] = (struct delta){
		.entry = entry,
		.event = event,
		.size = (u32)size,
		.packed = deltas->block->packed + deltas->used,
	};
	deltas->used += size;
}

const struct delta *deltas_list(const struct deltas *deltas, size_t *ret_n)
{
	*ret_n = deltas->n;
	return deltas->list;
}

size_t deltas_bytes(const struct deltas *deltas)
{
	return sizeof(*deltas) + deltas->n_blocks * sizeof(struct block) +
	       deltas->allocated * sizeof(*deltas->list);
}
