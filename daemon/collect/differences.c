// SPDX-License-Identifier: GPL-2.0
#include "collect/differences.h"

#include <errno.h>

/* Pairs are stored in blocks. Blocks do not move when more are added. */
#define BLOCK_BYTES ((size_t)64 << 10)
#define LIST_MIN    64

_Static_assert(PACKED_MAX <= BLOCK_BYTES / 8, "at most an eighth of a block stays empty at its end");

struct block {
	struct block *next;
	u8 packed[BLOCK_BYTES - sizeof(struct block *)];
};

struct differences {
	struct block *blocks;
	struct block *block; /* the block that is being filled; NULL: none yet */
	size_t used;         /* bytes used in `block` */
	size_t n_blocks;
	size_t n_filled; /* including `block` */
	struct difference *list;
	size_t n;
	size_t allocated;
};

int differences_new(struct differences **ret)
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

struct differences *differences_free(struct differences *differences)
{
	if (!differences)
		return NULL;
	free_blocks(differences->blocks);
	free(differences->list);
	free(differences);
	return NULL;
}

/* Frees memory far beyond what the ending collection used: more than twice its blocks or four times its list. */
static void shrink(struct differences *differences)
{
	size_t blocks = 2 * differences->n_filled + 1, list = 4 * differences->n + LIST_MIN;
	struct block **end = &differences->blocks;
	struct difference *shorter;

	if (differences->n_blocks > blocks) {
		for (size_t i = 0; i < blocks; i++)
			end = &(*end)->next;
		free_blocks(*end);
		*end = NULL;
		differences->n_blocks = blocks;
	}
	if (differences->allocated <= list)
		return;
	shorter = reallocarray(differences->list, list / 2, sizeof(*shorter));
	if (!shorter)
		return; /* keep the longer one */
	differences->list = shorter;
	differences->allocated = list / 2;
}

void differences_begin(struct differences *differences)
{
	shrink(differences);
	differences->block = NULL;
	differences->used = differences->n_filled = differences->n = 0;
}

static int need_block(struct differences *differences)
{
	struct block **next = differences->block ? &differences->block->next : &differences->blocks;

	if (differences->block && differences->used + PACKED_MAX <= sizeof(differences->block->packed))
		return 0;
	if (!*next) {
		*next = malloc(sizeof(**next));
		if (!*next)
			return -ENOMEM;
		(*next)->next = NULL;
		differences->n_blocks++;
	}
	differences->block = *next;
	differences->used = 0;
	differences->n_filled++;
	return 0;
}

static int need_list(struct differences *differences)
{
	size_t allocated = differences->allocated ? 2 * differences->allocated : LIST_MIN;
	struct difference *list;

	if (differences->n < differences->allocated)
		return 0;
	list = reallocarray(differences->list, allocated, sizeof(*list));
	if (!list)
		return -ENOMEM;
	differences->list = list;
	differences->allocated = allocated;
	return 0;
}

u8 *differences_room(struct differences *differences)
{
	if (need_list(differences) < 0 || need_block(differences) < 0)
		return NULL;
	return differences->block->packed + differences->used;
}

void differences_put(struct differences *differences, struct ledger_entry *entry, u32 event, size_t size)
{
	differences->list[differences->n++] = (struct difference){
		.entry = entry,
		.event = event,
		.size = (u32)size,
		.packed = differences->block->packed + differences->used,
	};
	differences->used += size;
}

const struct difference *differences_list(const struct differences *differences, size_t *ret_n)
{
	*ret_n = differences->n;
	return differences->list;
}

size_t differences_bytes(const struct differences *differences)
{
	return sizeof(*differences) + differences->n_blocks * sizeof(struct block) +
	       differences->allocated * sizeof(*differences->list);
}
