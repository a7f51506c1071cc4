// SPDX-License-Identifier: GPL-2.0
/* Finds names for the addresses of a profile, and derives from them which stacks end early. */
#include <errno.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "profile/profile_stacks.h"

/*
 * There can be as many data addresses as samples, but most lie in a few mappings without variable names,
 * where one answer covers the whole mapping. Therefore the first resolve requests few addresses, and later
 * ones more.
 */
#define ASKS_FIRST 256
#define ASKS_TIMES 4
#define ASKS_MAX   (1U << 24)

/*
 * A user stack may contain arbitrary numbers, and user code may try to read any address. Kernel addresses from
 * user stacks and user code are not looked up: their names would tell the user's process where things are in
 * the kernel.
 */
static void enter_node(const struct profile *profile, u32 i)
{
	struct node *node = node_of(profile, i);
	u64 address = node->exact ? node->address : node->address - 1;

	if (node->root || node->address == 0 || SYMBOL_IS_KERNEL(address) != node->kernel)
		return;
	if (name_table_place(profile->table, node->kernel ? 0 : node->pid, address, SYMBOL_CODE,
			     &node->place) < 0)
		node->place = NONE;
}

static void enter_access(const struct profile *profile, size_t i)
{
	struct access *access = access_of(profile, i);
	struct name_table *table = profile->table;
	bool code_of_kernel = SYMBOL_IS_KERNEL(access->code);

	if (access->has_code && name_table_place(table, code_of_kernel ? 0 : access->pid, access->code,
						 SYMBOL_CODE, &access->code_place) < 0)
		access->code_place = NONE;
	/* A kernel address that code of a process tried to access; accesses by the kernel have pid 0. */
	if (SYMBOL_IS_KERNEL(access->address) && access->pid != 0)
		return;
	if (name_table_place(table, access->pid, access->address, SYMBOL_DATA, &access->data_place) < 0)
		access->data_place = NONE;
}

/*
 * Returns whether the place has an answer. Sets `ret_asked` if the name was requested and is not known yet.
 */
static bool resolve_place(struct name_table *table, u32 i, const struct profile_names *names, bool may_ask,
			  bool *ret_asked)
{
	const struct place *place = place_of(table, i);
	struct symbol_query query = {
		.address = place->address, .pid = pid_number(place->pid), .kind = place->kind};
	const struct symbol *symbol;

	*ret_asked = false;
	if (place->kind == SYMBOL_DATA && name_table_answer_by_range(table, i))
		return true;
	if (!may_ask)
		return false;
	symbol = names->find(names->userdata, &query);
	*ret_asked = !symbol;
	if (symbol)
		(void)name_table_answer(table, i, symbol); /* without memory for it, the place has no name */
	return symbol;
}

static void resolve_places(struct name_table *table, const struct profile_names *names)
{
	u32 *open = table->open.list;
	size_t kept = 0, asks = 0;

	if (table->asks == 0)
		table->asks = ASKS_FIRST;
	for (size_t i = 0; i < table->open.n; i++) {
		bool is_data = place_of(table, open[i])->kind == SYMBOL_DATA;
		bool asked;

		if (!resolve_place(table, open[i], names, !is_data || asks < table->asks, &asked))
			open[kept++] = open[i];
		asks += is_data && asked;
	}
	table->open.n = kept;
	if (asks == table->asks && table->asks < ASKS_MAX)
		table->asks *= ASKS_TIMES;
}

static bool is_full(const struct profile *profile, u32 i)
{
	size_t depth = 0;

	for (; !node_of(profile, i)->root; i = node_of(profile, i)->caller)
		depth++;
	return depth >= PROFILE_STACK_FULL;
}

static bool is_start(const struct profile *profile, const struct node *node)
{
	return node->place != NONE && place_of(profile->table, node->place)->start;
}

/*
 * Returns whether no user frame from the outermost one to this one is a start. All of these frames are checked,
 * because the caller of main() may have no name.
 */
static bool is_early(const struct profile *profile, const struct node *node)
{
	const struct node *caller = node_of(profile, node->caller);

	if (node->kernel)
		return !caller->root && caller->early;
	return (caller->root || caller->early) && !is_start(profile, node);
}

/*
 * Callers have lower numbers than their callees, so one pass suffices. Nodes added after the last resolve are
 * not counted until the next one.
 */
u64 count_early(const struct profile *profile)
{
	struct name_table *table = profile->table;
	u64 early = 0;

	if (table->early_counted)
		return table->early;
	for (u32 i = 0; i < table->nodes_seen; i++) {
		struct node *node = node_of(profile, i);

		node->early = !node->root && is_early(profile, node);
	}
	for (size_t i = 0; i < profile->cells.n; i++) {
		const struct cell *cell = cell_of(profile, i);

		if (cell->node < table->nodes_seen && node_of(profile, cell->node)->early &&
		    !is_full(profile, cell->node))
			early += cell->samples;
	}
	table->early = early;
	table->early_counted = true;
	return early;
}

size_t profile_resolve_const(const struct profile *profile, const struct profile_names *names)
{
	struct name_table *table = profile->table;

	for (; table->nodes_seen < profile->nodes.n; table->nodes_seen++)
		enter_node(profile, (u32)table->nodes_seen);
	for (; table->accesses_seen < profile->accesses.n; table->accesses_seen++)
		enter_access(profile, table->accesses_seen);
	if (names && names->find)
		resolve_places(table, names);
	table->early_counted = false;
	return table->open.n;
}

size_t profile_resolve(struct profile *profile, const struct profile_names *names)
{
	return profile_resolve_const(profile, names);
}
