// SPDX-License-Identifier: GPL-2.0
#include "profile/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "profile/profile_walk.h"
#include "profile/report_internal.h"

/* Maximum memory of the tree before it is pruned. */
#define TREE_BYTES_MAX (64U << 20)

/* A node and the cost of the cell that named its line. */
struct growth {
	const struct profile *profile;
	struct budget budget;
	struct growing nodes; /* struct flame_node */
	struct growing keys;  /* struct key, by number of the node */
	struct hash_index index;
	u32 *frames; /* of one stack, innermost first */
	size_t room;
};

struct key {
	u32 parent, name, module;
	u64 cost;
};

struct wanted {
	const struct growth *growth;
	struct key key;
};

static bool same_key(const void *userdata, u32 place)
{
	const struct wanted *wanted = userdata;
	const struct key *key = &((const struct key *)wanted->growth->keys.list)[place];

	return key->parent == wanted->key.parent && key->name == wanted->key.name &&
	       key->module == wanted->key.module;
}

static int add_node(struct growth *growth, u32 parent, const struct frame *frame, u32 *ret)
{
	const struct name_table *table = growth->profile->table;
	struct wanted wanted = {.growth = growth, .key = {.parent = parent}};
	u64 hash;
	int r;

	if (frame) {
		wanted.key.name = frame->name;
		wanted.key.module = frame->module;
	}
	hash = siphash_words(&growth->profile->key,
			     (u64[]){(u64)parent << 32 | wanted.key.name, wanted.key.module}, 2);
	*ret = hash_index_find(&growth->index, hash, same_key, &wanted);
	if (*ret != HASH_INDEX_NONE)
		return 0;
	if ((r = hash_index_reserve(&growth->index, &growth->budget)) < 0 ||
	    (r = growing_reserve(&growth->nodes, sizeof(struct flame_node), 1, &growth->budget)) < 0 ||
	    (r = growing_reserve(&growth->keys, sizeof(struct key), 1, &growth->budget)) < 0)
		return r == -ENOSPC ? -E2BIG : r;
	*ret = (u32)growth->nodes.n;
	((struct flame_node *)growth->nodes.list)[growth->nodes.n++] =
		(struct flame_node){.parent = parent, .name = frame ? string_of(table, frame->name) : NULL};
	((struct key *)growth->keys.list)[growth->keys.n++] = wanted.key;
	hash_index_add(&growth->index, hash, *ret);
	return 0;
}

static void count_cell(struct growth *growth, u32 i, const struct frame *frame, const struct cell *cell)
{
	const struct name_table *table = growth->profile->table;
	struct flame_node *node = &((struct flame_node *)growth->nodes.list)[i];
	struct key *key = &((struct key *)growth->keys.list)[i];
	u64 cost = growth->profile->has_latency ? cell->latency : cell->samples;

	node->samples += cell->samples;
	node->latency += cell->latency;
	node->sources[cell->source] += cell->samples;
	node->source_latencies[cell->source] += cell->latency;
	if (frame && cost > key->cost) {
		key->cost = cost;
		node->file = string_of(table, frame->file);
		node->line = frame->line;
	}
}

/* Collects the frames of a stack, innermost first. */
static int collect_frames(struct growth *growth, u32 node, size_t *ret_n)
{
	struct walk walk = walk_begin(growth->profile, node, true);
	const struct node *ignored;
	const u32 *frames;
	size_t n;

	*ret_n = 0;
	while (walk_next(&walk, &ignored, &frames, &n)) {
		if (*ret_n + n > growth->room) {
			size_t room = 2 * (*ret_n + n);
			u32 *grown = reallocarray(growth->frames, room, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			growth->frames = grown;
			growth->room = room;
		}
		memcpy(growth->frames + *ret_n, frames, n * sizeof(*frames));
		*ret_n += n;
	}
	return 0;
}

static int add_cell(struct growth *growth, const struct cell *cell)
{
	const struct name_table *table = growth->profile->table;
	u32 at = 0;
	size_t n;
	int r = collect_frames(growth, cell->node, &n);

	if (r < 0)
		return r;
	count_cell(growth, 0, NULL, cell);
	while (n > 0) {
		const struct frame *frame = frame_of(table, growth->frames[--n]);

		r = add_node(growth, at, frame, &at);
		if (r < 0)
			return r;
		count_cell(growth, at, frame, cell);
	}
	return 0;
}

static int grow(struct growth *growth)
{
	_cleanup_free_ struct cell *cells = NULL;
	size_t n = 0;
	u32 root;
	int r = add_node(growth, FLAME_NONE, NULL, &root);

	if (r == 0)
		r = walk_cells(growth->profile, &cells, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_cell(growth, &cells[i]);
	return r;
}

struct ranked {
	u64 cost;
	u32 node;
};

static int by_cost(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;
	int c = compare_numbers(other->cost, one->cost);

	return c ? c : compare_numbers(one->node, other->node);
}

static void add_to(struct flame_node *sum, const struct flame_node *node)
{
	sum->samples += node->samples;
	sum->latency += node->latency;
	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		sum->sources[i] += node->sources[i];
		sum->source_latencies[i] += node->source_latencies[i];
	}
}

/*
 * Copies the nodes in their order. A child costs at most as much as its parent, and has a larger number, so the first
 * nodes have all their parents. `places`: where a node went, FLAME_NONE: left out.
 */
static size_t copy_nodes(const struct flame *flame, const struct ranked *order, size_t kept, u32 *places,
			 u32 *others, struct flame_node *to)
{
	size_t n = kept;

	for (size_t i = 0; i < flame->n; i++)
		places[i] = FLAME_NONE;
	for (size_t i = 0; i < kept; i++) {
		const struct flame_node *node = &flame->nodes[order[i].node];

		places[order[i].node] = (u32)i;
		others[i] = FLAME_NONE;
		to[i] = *node;
		to[i].parent = node->parent == FLAME_NONE ? FLAME_NONE : places[node->parent];
	}
	for (size_t i = kept; i < flame->n; i++) {
		const struct flame_node *node = &flame->nodes[order[i].node];
		u32 parent = places[node->parent];

		/* The node lies below one that is left out. */
		if (parent == FLAME_NONE)
			continue;
		if (others[parent] == FLAME_NONE) {
			others[parent] = (u32)n;
			to[n++] = (struct flame_node){.parent = parent};
		}
		add_to(&to[others[parent]], node);
	}
	return n;
}

int flame_prune(struct flame *flame, bool by_latency, size_t max)
{
	size_t kept = flame->n > max ? max / 2 : flame->n;
	_cleanup_free_ struct ranked *order = calloc(flame->n + 1, sizeof(*order));
	_cleanup_free_ u32 *places = calloc(flame->n + 1, sizeof(*places));
	_cleanup_free_ u32 *others = calloc(kept + 1, sizeof(*others));
	struct flame_node *nodes = calloc(MIN(2 * kept, flame->n) + 1, sizeof(*nodes));

	if (!order || !places || !others || !nodes) {
		free(nodes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < flame->n; i++)
		order[i] = (struct ranked){by_latency ? flame->nodes[i].latency : flame->nodes[i].samples,
					   (u32)i};
	qsort(order, flame->n, sizeof(*order), by_cost);
	flame->n = copy_nodes(flame, order, kept, places, others, nodes);
	free(flame->nodes);
	flame->nodes = nodes;
	return 0;
}

int flame_make(const struct profile *profile, const struct profile_names *names, size_t max,
	       struct flame *ret)
{
	struct growth growth = {.profile = profile, .budget = {.max = TREE_BYTES_MAX}};
	int r;

	(void)profile_resolve_const(profile, names);
	r = grow(&growth);
	*ret = (struct flame){.nodes = growth.nodes.list, .n = growth.nodes.n};
	if (r == 0)
		r = flame_prune(ret, profile->has_latency, max);
	if (r < 0)
		flame_done(ret);
	free(growth.keys.list);
	free(growth.index.slots);
	free(growth.frames);
	return r;
}

void flame_done(struct flame *flame)
{
	free(flame->nodes);
	*flame = (struct flame){0};
}
