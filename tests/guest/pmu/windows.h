/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the PMU sees loads and stores. A callback for each of them makes the guest several times slower, so
 * they have callbacks only in windows: time is cut into slots of about a millisecond, and one slot in N is
 * a window, on all CPUs at once. What one CPU writes in a window the others find there.
 *
 * How a CPU changes over: QEMU finds the translation of a block by its address and by the CPU's translation
 * flags. One bit of the cluster's number in these flags, which nothing else looks at in a machine without
 * clusters, tells apart two sets of translations: with callbacks and without.
 */
#ifndef PMU_WINDOWS_H
#define PMU_WINDOWS_H

#include <stdbool.h>

#include "pebsd/types.h"
#include "qemu.h"

#define WINDOWS_DEFAULT 24

/* Whether the slot of this clock is a window. `one_in`: of so many slots one is; 1: always. `shift`: a slot
 * has 1 << shift ticks of the clock. */
bool window_is_open(u64 clock, unsigned int shift, unsigned int one_in);

/* Where a CPU has its translation flags, found by what QEMU says of them. To be called before the CPU runs, which
 * then runs translations without callbacks; and callbacks are told which CPU runs, although one thread runs all.
 * NULL: they are not found in this QEMU. */
u32 *window_flags_of(struct qemu_cpu *cpu);

/* The CPU runs translations with callbacks, or those without, from the next block that it looks up on. */
void window_switch(u32 *flags, bool watched);

/* For a callback at translation: whether the CPU that runs is in a window. */
bool window_is_translated(void);

#endif
