/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides when the PMU sees loads and stores. A callback for each of them makes the guest several times slower, so
 * they have callbacks only in windows. Time is divided into slots of about a millisecond, and one slot in N is a
 * window, on all CPUs at once. So a CPU finds the lines that another CPU wrote in the same window.
 *
 * QEMU finds the translation of a block by its address and by the CPU's translation flags. One bit of these
 * flags belongs to the cluster's number, and nothing else uses it in a machine without clusters. This bit
 * distinguishes two sets of translations: with callbacks and without.
 */
#ifndef PMU_WINDOWS_H
#define PMU_WINDOWS_H

#include <stdbool.h>

#include "pebsd/types.h"
#include "qemu.h"

#define WINDOWS_DEFAULT 24

/*
 * Returns whether the slot at this clock is a window. One slot in `one_in` is; 1: every slot. A slot has 1 <<
 * shift ticks of the clock.
 */
bool window_is_open(u64 clock, unsigned int shift, unsigned int one_in);

/*
 * Returns the place of the translation flags in a CPU's data. To find it, compares each word of the data with
 * the flags that QEMU reports. Returns NULL if this QEMU stores the flags elsewhere.
 *
 * Call it before the CPU runs. The CPU then runs translations without callbacks. The function also sets
 * CF_PARALLEL, so that callbacks get the number of the running CPU although one thread runs all CPUs.
 */
u32 *window_flags_of(struct qemu_cpu *cpu);

/* Lets the CPU run translations with callbacks (`watched`) or without, from the next block that it looks up. */
void window_switch(u32 *flags, bool watched);

/* For a callback at translation: returns whether the running CPU is in a window. */
bool window_is_translated(void);

#endif
