// SPDX-License-Identifier: GPL-2.0
#include "profile/profile_walk.h"

#include <errno.h>

#include "profile/report_internal.h"

struct walk walk_begin(const struct profile *profile, u32 node, bool kernel_names)
{
	return (struct walk){.profile = profile, .kernel_names = kernel_names, .at = node};
}

static const u32 unknown = FRAME_UNKNOWN, all_of_kernel = FRAME_KERNEL;

bool walk_next(struct walk *walk, const struct node **ret_node, const u32 **ret_frames, size_t *ret_n)
{
	const struct node *node;

	while (walk->at != NONE) {
		node = node_of(walk->profile, walk->at);
		walk->at = node->caller;
		if (node->root)
			break;
		*ret_node = node;
		*ret_n = 1;
		*ret_frames = &all_of_kernel;
		if (!node->kernel || walk->kernel_names)
			*ret_n = node_frames(walk->profile, node, ret_frames);
		else if (walk->returned_any)
			continue;
		walk->returned_any = true;
		return true;
	}
	if (walk->returned_any)
		return false;
	walk->returned_any = true;
	*ret_node = NULL;
	*ret_frames = &unknown;
	*ret_n = 1;
	return true;
}

/* Compares stacks frame by frame from the root. A caller sorts before its callees. */
static int compare_nodes(const struct profile *profile, u32 a, u32 b, size_t depth_a, size_t depth_b)
{
	int deeper = compare_numbers(depth_a, depth_b);
	const struct node *one, *other;

	for (; depth_a > depth_b; depth_a--)
		a = node_of(profile, a)->caller;
	for (; depth_b > depth_a; depth_b--)
		b = node_of(profile, b)->caller;
	if (a == b)
		return deeper;
	while (node_of(profile, a)->caller != node_of(profile, b)->caller) {
		a = node_of(profile, a)->caller;
		b = node_of(profile, b)->caller;
	}
	one = node_of(profile, a);
	other = node_of(profile, b);
	if (one->kernel != other->kernel)
		return compare_numbers(one->kernel, other->kernel);
	if (one->address != other->address)
		return compare_numbers(one->address, other->address);
	return compare_numbers(one->exact, other->exact);
}

static size_t depth_of(const struct profile *profile, u32 i)
{
	size_t depth = 0;

	for (; !node_of(profile, i)->root; i = node_of(profile, i)->caller)
		depth++;
	return depth;
}

struct item {
	struct cell cell;
	size_t depth;
};

static int by_stack(const void *a, const void *b, void *userdata)
{
	const struct item *one = a, *other = b;
	const struct profile *profile = *(const struct profile **)userdata;
	int c = compare_nodes(profile, one->cell.node, other->cell.node, one->depth, other->depth);

	if (c == 0)
		c = compare_texts(string_of(profile->table, one->cell.thread),
				  string_of(profile->table, other->cell.thread));
	return c ? c : compare_numbers(one->cell.source, other->cell.source);
}

/*
 * Merges adjacent cells that are equal now. Some threads had no name at first and later got one that another
 * thread had from the start.
 */
static size_t merge(const struct profile *profile, const struct item *items, size_t n, struct cell *ret)
{
	size_t n_cells = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && by_stack(&items[i - 1], &items[i], &profile) == 0) {
			ret[n_cells - 1].samples += items[i].cell.samples;
			ret[n_cells - 1].latency += items[i].cell.latency;
		} else {
			ret[n_cells++] = items[i].cell;
		}
	}
	return n_cells;
}

int walk_cells(const struct profile *profile, struct cell **ret, size_t *ret_n)
{
	size_t n = profile->cells.n, n_items = 0;
	_cleanup_free_ struct item *items = calloc(n ? n : 1, sizeof(*items));
	struct cell *cells;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct cell *cell = cell_of(profile, i);

		if (!cell->samples)
			continue;
		items[n_items] = (struct item){*cell, depth_of(profile, cell->node)};
		items[n_items++].cell.thread = cell_thread_string(profile, cell);
	}
	qsort_r(items, n_items, sizeof(*items), by_stack, &profile);
	cells = calloc(n ? n : 1, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	*ret_n = merge(profile, items, n_items, cells);
	*ret = cells;
	return 0;
}
