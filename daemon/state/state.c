// SPDX-License-Identifier: GPL-2.0
#include "state/state.h"

#include <errno.h>
#include <string.h>

#include "state/state_internal.h"

bool state_saves(const struct state *state)
{
	return state && !state_header(state)->lost;
}

void state_lose(struct state *state, int error)
{
	__atomic_store_n(&state_header(state)->lost, 1, __ATOMIC_RELEASE);
	state->failure = error;
}

static void write_block(struct state *state, u32 unit, const struct state_block *head, const void *bytes)
{
	struct state_block *block = state_at(state, unit);

	if (head->length > 0)
		memcpy(block->bytes, bytes, head->length);
	block->key = head->key;
	block->kind = head->kind;
	block->flags = head->flags;
	block->length = head->length;
	__atomic_store_n(&block->commit, state->next, __ATOMIC_RELEASE);
}

/*
 * Frees the old version of a record. If this commit wrote that version, it is free at once; otherwise it is
 * needed until the commit is done.
 */
static int replace(struct state *state, struct state_ref *ref)
{
	u32 unit = ref->unit;

	ref->unit = 0;
	if (unit == 0)
		return 0;
	if (state_at(state, unit)->commit == state->next)
		return state_free_block(state, unit);
	return state_units_add(&state->replaced, unit);
}

void state_put(struct state *state, struct state_ref *ref, u32 kind, u64 key, const void *bytes,
	       size_t length)
{
	u32 unit;
	int r;

	if (!state_saves(state))
		return;
	r = length > STATE_RECORD_MAX ? -E2BIG : state_allocate(state, length, &unit);
	if (r == 0) {
		write_block(state, unit,
			    &(struct state_block){.key = key, .kind = (u16)kind, .length = (u32)length},
			    bytes);
		r = replace(state, ref);
		ref->unit = unit;
	}
	if (r < 0)
		state_lose(state, r);
}

void state_remove(struct state *state, struct state_ref *ref)
{
	struct state_block head = {.flags = STATE_REMOVED};
	u32 unit;
	int r;

	if (!state_saves(state) || ref->unit == 0)
		return;
	head.key = state_at(state, ref->unit)->key;
	head.kind = state_at(state, ref->unit)->kind;
	r = state_allocate(state, 0, &unit);
	if (r == 0) {
		write_block(state, unit, &head, NULL);
		r = state_units_add(&state->removals, unit);
	}
	if (r == 0)
		r = replace(state, ref);
	if (r < 0)
		state_lose(state, r);
}

int state_free_all(struct state *state, struct state_units *units)
{
	int r = 0;

	for (size_t i = 0; i < units->n && r == 0; i++)
		r = state_free_block(state, units->list[i]);
	units->n = 0;
	return r;
}

int state_commit(struct state *state)
{
	int r = 0;

	if (!state)
		return 0;
	if (state_saves(state)) {
		__atomic_store_n(&state_header(state)->committed, state->next++, __ATOMIC_RELEASE);
		/*
		 * Free the records before the blocks that mark their removal, or a kill in between would
		 * bring them back.
		 */
		r = state_free_all(state, &state->replaced);
		if (r == 0)
			r = state_free_all(state, &state->removals);
		if (r < 0)
			state_lose(state, r);
	}
	r = state->failure;
	state->failure = 0;
	return r;
}

void state_clear(struct state *state)
{
	struct state_header *header;

	if (!state)
		return;
	header = state_header(state);
	/* Reset `committed` first: after a kill during the rest, no block counts. */
	__atomic_store_n(&header->committed, 0, __ATOMIC_SEQ_CST);
	state->replaced.n = state->removals.n = 0;
	for (u32 size = 0; size < STATE_SIZES; size++)
		state->free[size].n = 0;
	for (u32 chunk = 0; chunk < header->n_chunks; chunk++)
		memset(state->memory + STATE_HEADER_BYTES + (size_t)chunk * STATE_CHUNK_BYTES, 0,
		       STATE_CHUNK_BYTES);
	__atomic_store_n(&header->n_chunks, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&header->lost, 0, __ATOMIC_SEQ_CST);
	state->next = 1;
	state->failure = 0;
	state->n_records = 0;
	state_settle(state);
}

void state_settle(struct state *state)
{
	if (!state)
		return;
	for (size_t i = 0; i < state->n_records; i++)
		if (!state->taken[i])
			state_remove(state, &state->records[i].ref);
	free(TAKE_PTR(state->records));
	free(TAKE_PTR(state->taken));
	state->n_records = 0;
}
