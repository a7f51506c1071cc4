// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side as plain memory, instead of daemon/kernel/kernel.c. It has slots, dirty bytes and
 * records as the BPF programs keep them, and samples and cgroups as a test adds them. Each record has a page
 * of its own, so that it can be made inaccessible.
 */
#ifndef PEBSD_TEST_FAKE_KERNEL_H
#define PEBSD_TEST_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/kernel.h"

/* Of `settings->stripes`, only `n` is used. */
struct kernel *fake_kernel_new(const struct kernel_settings *settings);

/*
 * Creates a cgroup and returns its slot: the one that was released last, or the lowest that was never used.
 * Returns 0 if no slot is free.
 */
u32 fake_kernel_born(struct kernel *kernel, u64 id, u64 parent_id, const char *name);
/* Same as fake_kernel_born(), but in the given free slot. */
void fake_kernel_born_in(struct kernel *kernel, u32 slot, u64 id, u64 parent_id, const char *name);
void fake_kernel_died(struct kernel *kernel, u32 slot, u64 now_ns);

/* Counts a sample in a slot on a stripe, and marks the record as dirty. 0 cycles: no latency. */
void fake_kernel_count(struct kernel *kernel, u32 slot, unsigned event, u32 stripe, unsigned source,
		       u32 cycles, u64 period);

/* Returns the record itself, so that a test can change it as the program does in the middle of a sample. */
struct latency_record *fake_kernel_record(struct kernel *kernel, unsigned event, u32 stripe, u32 slot);
void fake_kernel_set_dirty(struct kernel *kernel, unsigned event, u32 stripe, u32 slot);

/* From now on, access to a record kills the process unless the record gets another sample. */
void fake_kernel_guard(struct kernel *kernel);

/* Returns the number of times that a record was looked up. */
u64 fake_kernel_visits(const struct kernel *kernel);

/* Refuses the next `n` steps of reclaiming slots, as a busy bucket does. */
void fake_kernel_refuse(struct kernel *kernel, unsigned n);

#endif
