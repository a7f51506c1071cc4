// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel side as plain memory, in the place of daemon/kernel/kernel.c: slots, marks and records as the
 * programs keep them, samples and cgroups as a test says. Each record has a page of its own, so that one can
 * be made untouchable.
 */
#ifndef PEBSD_TEST_FAKE_KERNEL_H
#define PEBSD_TEST_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/kernel.h"

/* `settings->stripes` counts by its `n` alone. */
struct kernel *fake_kernel_new(const struct kernel_settings *settings);

/* Returns the slot, the last that was given back or the lowest that was never used; 0: none is free. */
u32 fake_kernel_born(struct kernel *kernel, u64 id, u64 parent_id, const char *name);
/* The same in this slot, which is free. */
void fake_kernel_born_in(struct kernel *kernel, u32 slot, u64 id, u64 parent_id, const char *name);
void fake_kernel_died(struct kernel *kernel, u32 slot, u64 now_ns);

/* A sample of a slot on a stripe: 0 cycles for no latency. It is marked. */
void fake_kernel_count(struct kernel *kernel, u32 slot, unsigned event, u32 stripe, unsigned source,
		       u32 cycles, u64 period);

/* The record itself, to write to as the program in the midst of a sample. */
struct latency_record *fake_kernel_record(struct kernel *kernel, unsigned event, u32 stripe, u32 slot);
void fake_kernel_mark(struct kernel *kernel, unsigned event, u32 stripe, u32 slot);

/* From now on whoever touches a record that gets no further sample is killed. */
void fake_kernel_guard(struct kernel *kernel);

/* How often a record was asked for. */
u64 fake_kernel_visits(const struct kernel *kernel);

/* So many of the next steps of a slot's way back are refused, as of a busy bucket. */
void fake_kernel_refuse(struct kernel *kernel, unsigned n);

#endif
