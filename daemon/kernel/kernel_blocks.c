// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel_blocks.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"

static const struct {
	const char *label;
	u32 bytes;
} kinds[BLOCK_KINDS] = {
	[BLOCK_LATENCY] = {"latency_block", sizeof(struct latency_record)},
	[BLOCK_PLAIN] = {"plain_block", sizeof(struct plain_record)},
	[BLOCK_OWNERS] = {"owners_block", sizeof(struct slot_owner)},
	[BLOCK_OFFCORE] = {"offcore_block", sizeof(struct offcore_record)},
};

const char *kernel_block_label(enum slot_block_kind kind)
{
	return kinds[kind].label;
}

static u32 log2_up(u32 number)
{
	u32 log2 = 0;

	while ((1U << log2) < number)
		log2++;
	return log2;
}

int kernel_blocks_plan(const struct kernel_blocks_case *wanted, struct kernel_blocks *ret)
{
	const u32 slots = wanted->grows ? SLOT_BLOCK : wanted->slots_max;

	*ret = (struct kernel_blocks){
		.slots = slots,
		.log2 = log2_up(slots),
		.max = wanted->slots_max / slots,
		.in_process = wanted->in_process,
		.entries =
			{
				[BLOCK_LATENCY] = (u64)slots * wanted->stripes * wanted->with_latency,
				[BLOCK_PLAIN] = (u64)slots * wanted->stripes * wanted->without,
				[BLOCK_OWNERS] = slots,
				[BLOCK_OFFCORE] = (u64)slots * wanted->offcore_cpus,
			},
	};
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		if (ret->entries[kind] > UINT_MAX)
			return -E2BIG;
	ret->list = calloc(ret->max, sizeof(*ret->list));
	return ret->list ? 0 : -ENOMEM;
}

void kernel_blocks_done(struct kernel_blocks *blocks)
{
	for (u32 i = 0; i < blocks->n; i++)
		kernel_block_done(&blocks->list[i]);
	free(blocks->list);
	*blocks = (struct kernel_blocks){0};
}

static int make_map(enum slot_block_kind kind, u32 entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, kinds[kind].label, sizeof(u32), kinds[kind].bytes,
				entries, &options);

	return fd < 0 ? -errno : fd;
}

int kernel_block_example(enum slot_block_kind kind)
{
	return make_map(kind, 1);
}

static bool is_the_map(const struct kernel_blocks *blocks, enum slot_block_kind kind, int fd)
{
	struct bpf_map_info info = {0};
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && info.type == BPF_MAP_TYPE_ARRAY &&
	       info.key_size == sizeof(u32) && info.value_size == kinds[kind].bytes &&
	       info.max_entries == blocks->entries[kind] && info.map_flags == BPF_F_MMAPABLE;
}

static int map_pages(int fd, size_t bytes, int protection, int flags, struct mapping *ret)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, bytes, protection, MAP_SHARED | flags, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret = (struct mapping){.memory = memory, .bytes = bytes};
	return 0;
}

int kernel_map_memory(int map_fd, size_t bytes, int protection, struct mapping *ret)
{
	return map_pages(map_fd, bytes, protection, 0, ret);
}

int kernel_in_process_memory(size_t bytes, struct mapping *ret)
{
	return map_pages(-1, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE, ret);
}

void kernel_unmap(struct mapping *mapping)
{
	if (mapping->memory)
		(void)munmap(mapping->memory, mapping->bytes);
	*mapping = (struct mapping){0};
}

static int map_block(const struct kernel_blocks *blocks, enum slot_block_kind kind, int fd,
		     struct mapping *ret)
{
	/*
	 * Only the programs write owners, and off-core records are never cleared. Reading is enough for both.
	 */
	const bool writes = kind == BLOCK_LATENCY || kind == BLOCK_PLAIN;

	return kernel_map_memory(fd, (size_t)kinds[kind].bytes * blocks->entries[kind],
				 writes ? PROT_READ | PROT_WRITE : PROT_READ, ret);
}

static void unmap_block(struct kernel_block *block)
{
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		kernel_unmap(&block->maps[kind]);
}

void kernel_block_done(struct kernel_block *block)
{
	unmap_block(block);
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		cleanup_close(&block->fds[kind]);
}

int kernel_block_take(const struct kernel_blocks *blocks, const int fds[BLOCK_KINDS],
		      struct kernel_block *ret)
{
	struct kernel_block block = {0};
	int r = 0;

	for (unsigned kind = 0; kind < BLOCK_KINDS && r == 0; kind++) {
		block.fds[kind] = fds[kind];
		if (!blocks->entries[kind])
			continue;
		r = is_the_map(blocks, kind, fds[kind])
			    ? map_block(blocks, kind, fds[kind], &block.maps[kind])
			    : -ESTALE;
	}
	if (r < 0) {
		unmap_block(&block);
		return r;
	}
	*ret = block;
	return 0;
}

static int make_in_process(const struct kernel_blocks *blocks, struct kernel_block *ret)
{
	struct kernel_block block = {0};
	int r = 0;

	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
		block.fds[kind] = -1;
		if (r == 0 && blocks->entries[kind])
			r = kernel_in_process_memory((size_t)kinds[kind].bytes * blocks->entries[kind],
						     &block.maps[kind]);
	}
	if (r < 0)
		unmap_block(&block);
	else
		*ret = block;
	return r;
}

int kernel_block_make(const struct kernel_blocks *blocks, struct kernel_block *ret)
{
	int fds[BLOCK_KINDS];
	int r = 0;

	if (blocks->in_process)
		return make_in_process(blocks, ret);
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
		fds[kind] = -1;
		if (r < 0 || !blocks->entries[kind])
			continue;
		fds[kind] = make_map(kind, (u32)blocks->entries[kind]);
		if (fds[kind] < 0)
			r = fds[kind];
	}
	if (r == 0)
		r = kernel_block_take(blocks, fds, ret);
	for (unsigned kind = 0; kind < BLOCK_KINDS && r < 0; kind++)
		if (fds[kind] >= 0)
			cleanup_close(&fds[kind]);
	return r;
}

/*
 * Enters all maps of a kind with one system call, which waits for running programs once
 * (maybe_wait_bpf_programs(), kernel/bpf/syscall.c, Linux 6.12) instead of once for each map. Programs cannot
 * run on this CPU while an entry is written (kernel.h).
 */
static int enter(const struct kernel_blocks *blocks, enum slot_block_kind kind, int outer, u32 first, u32 end)
{
	_cleanup_free_ u32 *keys = calloc(end - first, sizeof(*keys));
	_cleanup_free_ int *values = calloc(end - first, sizeof(*values));
	u32 count = end - first;

	if (!keys || !values)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		keys[i] = first + i;
		values[i] = blocks->list[first + i].fds[kind];
	}
	return bpf_map_update_batch(outer, keys, values, &count, NULL) < 0 ? -errno : 0;
}

int kernel_blocks_enter(const struct kernel_blocks *blocks, const int outer[BLOCK_KINDS], u32 first, u32 end)
{
	int r = 0;

	for (unsigned kind = 0; kind < BLOCK_KINDS && r == 0 && first < end; kind++)
		if (blocks->entries[kind])
			r = enter(blocks, kind, outer[kind], first, end);
	return r;
}
