// SPDX-License-Identifier: GPL-2.0
/* The blocks of slots (pebsd/records.h) of a BPF object that a test loads by itself: one block with all slots. */
#ifndef PEBSD_TEST_SLOT_BLOCKS_H
#define PEBSD_TEST_SLOT_BLOCKS_H

#include <bpf/libbpf.h>

#include "pebsd/types.h"

/*
 * Call it before the load: creates the map of a block for an outer map ("latency_blocks"). Returns a
 * descriptor that the caller owns. Returns -1 if the object, built from another commit, has no such map. Ends
 * the program on error.
 */
int slot_block_prepare(struct bpf_object *object, const char *outer, u32 value_bytes, u32 entries);

/* Call it after the load: enters the map as the first block. */
void slot_block_enter(struct bpf_object *object, const char *outer, int fd);

#endif
