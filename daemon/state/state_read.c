// SPDX-License-Identifier: GPL-2.0
/* Takes over the records that another process left, and checks all of them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "state/state_internal.h"

/* A block with a record, for sorting. */
struct found {
	u64 key;
	u64 commit;
	u32 unit;
	u16 kind;
	u16 flags;
};

struct founds {
	struct found *list;
	size_t n;
};

static int wrong(const char *what, const char **ret_wrong)
{
	*ret_wrong = what;
	return -EBADMSG;
}

static int check_header(const struct state *state, u32 records, const char **ret_wrong)
{
	const struct state_header *header = state_header(state);
	struct stat file;

	if (header->magic != STATE_MAGIC)
		return wrong("the saved state was not written by pebsd", ret_wrong);
	if (header->version != STATE_VERSION || header->records != records)
		return wrong("another version of pebsd saved the state", ret_wrong);
	if (header->lost)
		return wrong("the saved state is incomplete: memory ran out when it was saved", ret_wrong);
	if (header->n_chunks > STATE_CHUNKS_MAX || fstat(state->fd, &file) < 0 ||
	    (u64)file.st_size < STATE_HEADER_BYTES + (u64)header->n_chunks * STATE_CHUNK_BYTES)
		return wrong("the saved state is truncated or damaged", ret_wrong);
	for (u32 chunk = 0; chunk < header->n_chunks; chunk++)
		if (header->sizes[chunk] >= STATE_SIZES)
			return wrong("a chunk of the saved state has blocks of an unknown size", ret_wrong);
	return header->committed == 0 ? -ENODATA : 0;
}

/* Accepts only memory that cannot be shrunk while it is read, and that is writable. */
static int check_descriptor(int fd, const char **ret_wrong)
{
	struct stat file;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return wrong("the descriptor of the saved state is not memory with the expected seals",
			     ret_wrong);
	if (fstat(fd, &file) < 0)
		return -errno;
	return file.st_size < (off_t)STATE_HEADER_BYTES ? wrong("the saved state is truncated", ret_wrong)
							: 0;
}

static size_t count_blocks(const struct state *state)
{
	const struct state_header *header = state_header(state);
	size_t n = 0;

	for (u32 chunk = 0; chunk < header->n_chunks; chunk++)
		n += STATE_CHUNK_BYTES / state_block_bytes(header->sizes[chunk]);
	return n;
}

/* Lists a block of a completed commit. Puts every other block on the free list. */
static int list_block(struct state *state, u32 unit, struct founds *founds, const char **ret_wrong)
{
	const struct state_block *block = state_at(state, unit);

	if (block->commit == 0 || block->commit > state_header(state)->committed)
		return state_free_block(state, unit);
	if (block->length + sizeof(*block) > state_block_bytes(state_size_of(state, unit)))
		return wrong("a record of the saved state is longer than its block", ret_wrong);
	founds->list[founds->n++] = (struct found){.key = block->key,
						   .commit = block->commit,
						   .unit = unit,
						   .kind = block->kind,
						   .flags = block->flags};
	return 0;
}

static int list_blocks(struct state *state, struct founds *founds, const char **ret_wrong)
{
	const struct state_header *header = state_header(state);
	int r = 0;

	/* Begin at the last chunk, because allocation takes blocks from the end of the free list. */
	for (u32 chunk = header->n_chunks; chunk-- > 0 && r == 0;) {
		u32 bytes = state_block_bytes(header->sizes[chunk]);
		size_t at = STATE_HEADER_BYTES + (size_t)chunk * STATE_CHUNK_BYTES;

		for (u32 block = STATE_CHUNK_BYTES / bytes; block-- > 0 && r == 0;)
			r = list_block(state, (u32)((at + (size_t)block * bytes) / STATE_UNIT), founds,
				       ret_wrong);
	}
	return r;
}

/* Sorts the latest version of a record first, and before a removal of the same key in the same commit. */
static int compare(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	if (left->commit != right->commit)
		return left->commit > right->commit ? -1 : 1;
	return (left->flags & STATE_REMOVED) - (right->flags & STATE_REMOVED);
}

static bool same_record(const struct found *a, const struct found *b)
{
	return a->kind == b->kind && a->key == b->key;
}

/*
 * Lists the records that exist, and the replaced and removed ones to be freed. The blocks that mark removals
 * are freed last, as in state_commit().
 */
static int list_records(struct state *state, const struct founds *founds, const char **ret_wrong)
{
	int r = 0;

	for (size_t i = 0, next; i < founds->n && r == 0; i = next) {
		const struct found *first = &founds->list[i];

		for (next = i + 1; next < founds->n && same_record(first, &founds->list[next]) && r == 0;
		     next++) {
			const struct found *other = &founds->list[next];

			if (other->commit == first->commit && !(other->flags & STATE_REMOVED))
				return wrong("the saved state has a record twice", ret_wrong);
			r = state_units_add(other->flags & STATE_REMOVED ? &state->removals
									 : &state->replaced,
					    other->unit);
		}
		if (r < 0)
			return r;
		if (first->flags & STATE_REMOVED) {
			r = state_units_add(&state->removals, first->unit);
			continue;
		}
		state->records[state->n_records++] = (struct state_record){
			.key = first->key,
			.kind = first->kind,
			.ref = {first->unit},
			.bytes = state_at(state, first->unit)->bytes,
			.length = state_at(state, first->unit)->length,
		};
	}
	return r;
}

/* Lists the saved records, and frees the blocks of replaced and removed ones. A kill in between does no harm. */
static int take_over(struct state *state, u32 records, const char **ret_wrong)
{
	_cleanup_free_ struct found *list = NULL;
	struct founds founds = {0};
	size_t n;
	int r = check_header(state, records, ret_wrong);

	if (r < 0)
		return r;
	n = count_blocks(state);
	founds.list = list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	r = list_blocks(state, &founds, ret_wrong);
	if (r < 0)
		return r;
	if (founds.n > 0)
		qsort(list, founds.n, sizeof(*list), compare);
	state->records = calloc(founds.n + 1, sizeof(*state->records));
	state->taken = calloc(founds.n + 1, sizeof(*state->taken));
	if (!state->records || !state->taken)
		return -ENOMEM;
	r = list_records(state, &founds, ret_wrong);
	if (r == 0)
		r = state_free_all(state, &state->replaced);
	if (r == 0)
		r = state_free_all(state, &state->removals);
	return r;
}

int state_inherit(int fd, u32 records, struct state **ret, const char **ret_wrong)
{
	_cleanup_(state_freep) struct state *state = NULL;
	_cleanup_close_ int own = -1;
	int r;

	*ret_wrong = NULL;
	r = check_descriptor(fd, ret_wrong);
	if (r < 0)
		return r;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return -errno;
	r = state_map(own, &state);
	if (r < 0)
		return r;
	(void)TAKE_FD(own);
	r = take_over(state, records, ret_wrong);
	if (r < 0)
		return r;
	state->next = state_header(state)->committed + 1;
	*ret = TAKE_PTR(state);
	return 0;
}

/* Index of the first record that is not before kind and key. */
static size_t index_of(const struct state *state, u32 kind, u64 key)
{
	size_t first = 0, n = state->n_records;

	while (first < n) {
		size_t middle = first + (n - first) / 2;
		const struct state_record *record = &state->records[middle];

		if (record->kind < kind || (record->kind == kind && record->key < key))
			first = middle + 1;
		else
			n = middle;
	}
	return first;
}

const struct state_record *state_records(const struct state *state, u32 kind, size_t *ret_n)
{
	size_t first, end;

	*ret_n = 0;
	if (!state || state->n_records == 0)
		return NULL;
	first = index_of(state, kind, 0);
	for (end = first; end < state->n_records && state->records[end].kind == kind;)
		end++;
	*ret_n = end - first;
	return &state->records[first];
}

const struct state_record *state_find(const struct state *state, u32 kind, u64 key)
{
	size_t index = state && state->n_records ? index_of(state, kind, key) : 0;
	const struct state_record *record = state && index < state->n_records ? &state->records[index] : NULL;

	return record && record->kind == kind && record->key == key ? record : NULL;
}

void state_drop(struct state *state, u32 kind)
{
	size_t first, n;

	if (!state_records(state, kind, &n))
		return;
	first = index_of(state, kind, 0);
	for (size_t i = first; i < first + n; i++)
		state_remove(state, &state->records[i].ref);
	memmove(&state->records[first], &state->records[first + n],
		(state->n_records - first - n) * sizeof(*state->records));
	memmove(&state->taken[first], &state->taken[first + n],
		(state->n_records - first - n) * sizeof(*state->taken));
	state->n_records -= n;
}

void state_take(struct state *state, const struct state_record *record, struct state_ref *ret)
{
	state->taken[record - state->records] = true;
	*ret = record->ref;
}
