// SPDX-License-Identifier: GPL-2.0
/*
 * Which blocks of slots are stored for the next process. The test plays the service manager; empty memory stands in for
 * the maps.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/kernel_inherit.h"
#include "notify_socket.h"

#define BLOCKS 3

static struct store *store;
static struct handover *handover;
static struct kernel_block blocks[BLOCKS];
static struct kernel_saved saved_data;
static struct kernel kernel;

static void setup(void)
{
	manager_start();
	cr_assert_eq(store_open(&store), 0);
	cr_assert_eq(handover_open(store, &handover), 0);
	cr_assert_eq(handover_begin(handover), 0);
	for (size_t i = 0; i < BLOCKS; i++)
		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
			blocks[i].fds[kind] = memfd_create("block", MFD_CLOEXEC);
	kernel = (struct kernel){
		.handover = handover, .saved = &saved_data, .blocks = {.n = 1, .list = blocks}};
	kernel.blocks.entries[BLOCK_PLAIN] = kernel.blocks.entries[BLOCK_OWNERS] = 1;
	cr_assert_eq(kernel_save_blocks(&kernel, 0), 0);
	cr_assert_eq(handover_commit(handover), 0);
}

static void teardown(void)
{
	handover_free(handover);
	store_free(store);
	notify_socket_stop(&manager);
}

TestSuite(kernel_inherit, .init = setup, .fini = teardown);

/* Expects that the manager and the saved data have the first `n` blocks and no other. */
static void expect_stored(u32 n)
{
	void *part;
	const struct kernel_saved_copies *saved;
	size_t maps = 0;

	cr_assert_eq(handover_part(handover, HANDOVER_KERNEL, sizeof(*saved), &part), 0);
	saved = part;
	cr_expect_eq(saved->copies[saved->current].n_blocks, n);
	(void)notify_socket_count(&manager, "");
	for (size_t i = 0; i < manager.n; i++)
		maps += strncmp(manager.stored[i].name, "map-", strlen("map-")) == 0;
	cr_expect_eq(maps, (size_t)2 * n, "%zu maps", maps);
	for (u32 i = 0; i < n; i++) {
		char name[STORED_NAME_MAX];

		handover_name(STORED_MAP, kernel_block_label(BLOCK_PLAIN), 1,
			      &saved->copies[saved->current].blocks[i][BLOCK_PLAIN], name);
		cr_expect_eq(notify_socket_count(&manager, name), 1, "%s", name);
	}
}

Test(kernel_inherit, blocks_that_cannot_be_stored_leave_nothing_in_the_store)
{
	const int fd = blocks[2].fds[BLOCK_OWNERS];

	expect_stored(1);
	kernel.blocks.n = BLOCKS;
	blocks[2].fds[BLOCK_OWNERS] = -1;
	for (unsigned i = 0; i < 3; i++) {
		cr_expect_eq(kernel_save_blocks(&kernel, 1), -EBADF);
		expect_stored(1);
	}
	blocks[2].fds[BLOCK_OWNERS] = fd;
	cr_expect_eq(kernel_save_blocks(&kernel, 1), 0);
	expect_stored(BLOCKS);
}

Test(kernel_inherit, blocks_that_are_not_used_after_all_are_removed)
{
	kernel.blocks.n = BLOCKS;
	cr_assert_eq(kernel_save_blocks(&kernel, 1), 0);
	expect_stored(BLOCKS);
	kernel_save_fewer_blocks(&kernel, 1);
	kernel.blocks.n = 1;
	expect_stored(1);
}
