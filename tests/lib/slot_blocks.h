// SPDX-License-Identifier: GPL-2.0
/* The blocks of slots (pebsd/records.h) of a BPF object that a test loads itself: one, of all slots. */
#ifndef PEBSD_TEST_SLOT_BLOCKS_H
#define PEBSD_TEST_SLOT_BLOCKS_H

#include <bpf/libbpf.h>

#include "pebsd/types.h"

/* Before the load: makes the map of a block for an outer map ("latency_blocks"). A descriptor, the caller's; -1: the
 * object, of another commit, has no such map. Ends the program on error. */
int slot_block_prepare(struct bpf_object *object, const char *outer, u32 value_bytes, u32 entries);

/* After the load: enters it as the first block. */
void slot_block_enter(struct bpf_object *object, const char *outer, int fd);

#endif
