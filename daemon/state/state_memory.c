// SPDX-License-Identifier: GPL-2.0
/* The memory of a state: its file descriptor, its growth, and free parts of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "state/state_internal.h"

#define MAPPED_BYTES (STATE_HEADER_BYTES + (size_t)STATE_CHUNKS_MAX * STATE_CHUNK_BYTES)

static size_t chunk_at(u32 chunk)
{
	return STATE_HEADER_BYTES + (size_t)chunk * STATE_CHUNK_BYTES;
}

int state_units_add(struct state_units *units, u32 unit)
{
	if (units->n == units->allocated) {
		size_t allocated = units->allocated ? 2 * units->allocated : 64;
		u32 *longer = reallocarray(units->list, allocated, sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		units->list = longer;
		units->allocated = allocated;
	}
	units->list[units->n++] = unit;
	return 0;
}

int state_map(int fd, struct state **ret)
{
	struct state *state = calloc(1, sizeof(*state));
	void *memory;

	if (!state)
		return -ENOMEM;
	/* Reserves address space for the maximum size, so that nothing moves when the memory grows. */
	memory = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED) {
		int r = -errno;

		free(state);
		return r;
	}
	state->fd = fd;
	state->memory = memory;
	*ret = state;
	return 0;
}

int state_new(u32 records, struct state **ret)
{
	_cleanup_close_ int fd = memfd_create("pebsd-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct state *state = NULL;
	int r;

	if (fd < 0)
		return -errno;
	/*
	 * Allocates the pages here and in state_grow(): if a page was missing at its first use, the process
	 * would be killed.
	 */
	if (fallocate(fd, 0, 0, STATE_HEADER_BYTES) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		return -errno;
	r = state_map(fd, &state);
	if (!state)
		return r;
	(void)TAKE_FD(fd);
	*state_header(state) =
		(struct state_header){.magic = STATE_MAGIC, .version = STATE_VERSION, .records = records};
	state->next = 1;
	*ret = state;
	return 0;
}

struct state *state_free(struct state *state)
{
	if (!state)
		return NULL;
	(void)munmap(state->memory, MAPPED_BYTES);
	cleanup_close(&state->fd);
	for (u32 size = 0; size < STATE_SIZES; size++)
		free(state->free[size].list);
	free(state->replaced.list);
	free(state->removals.list);
	free(state->records);
	free(state->taken);
	free(state);
	return NULL;
}

int state_fd(const struct state *state)
{
	return state ? state->fd : -1;
}

size_t state_bytes(const struct state *state)
{
	return state ? chunk_at(state_header(state)->n_chunks) : 0;
}

u32 state_size_of(const struct state *state, u32 unit)
{
	size_t at = (size_t)unit * STATE_UNIT - STATE_HEADER_BYTES;

	return state_header(state)->sizes[at / STATE_CHUNK_BYTES];
}

int state_grow(struct state *state, u32 size)
{
	struct state_header *header = state_header(state);
	u32 bytes = state_block_bytes(size), chunk = header->n_chunks;
	int r;

	if (chunk == STATE_CHUNKS_MAX)
		return -ENOSPC;
	if (fallocate(state->fd, 0, (off_t)chunk_at(chunk), STATE_CHUNK_BYTES) < 0)
		return -errno;
	/* Write the size before the chunk counts. All of its blocks are free, because new memory is zero. */
	header->sizes[chunk] = (u8)size;
	__atomic_store_n(&header->n_chunks, chunk + 1, __ATOMIC_RELEASE);
	/* Add the blocks in reverse, so that the first block is used first. */
	for (u32 block = STATE_CHUNK_BYTES / bytes; block-- > 0;) {
		r = state_units_add(&state->free[size],
				    (u32)((chunk_at(chunk) + (size_t)block * bytes) / STATE_UNIT));
		if (r < 0)
			return r;
	}
	return 0;
}

int state_allocate(struct state *state, size_t length, u32 *ret)
{
	size_t bytes = sizeof(struct state_block) + length;
	u32 size = 0;
	int r;

	while (size < STATE_SIZES && state_block_bytes(size) < bytes)
		size++;
	if (size == STATE_SIZES)
		return -E2BIG;
	if (state->free[size].n == 0) {
		r = state_grow(state, size);
		if (r < 0)
			return r;
	}
	*ret = state->free[size].list[--state->free[size].n];
	return 0;
}

int state_free_block(struct state *state, u32 unit)
{
	__atomic_store_n(&state_at(state, unit)->commit, 0, __ATOMIC_RELEASE);
	return state_units_add(&state->free[state_size_of(state, unit)], unit);
}
