// SPDX-License-Identifier: GPL-2.0
/*
 * The way in which a counter counts the occurrences of its event: privilege, counter mask, inversion, edge
 * detection (manual 18.2.1.1), and counter width.
 */
#ifndef PEBSD_MODEL_COUNTER_H
#define PEBSD_MODEL_COUNTER_H

#include "machine_event.h"

/* A counter's configuration, computed when a register is written. */
struct counter_program {
	struct machine_event event;
	bool counts;     /* enabled here and in IA32_PERF_GLOBAL_CTRL, available, defined */
	bool pebs;       /* enabled for PEBS, with a precise event */
	bool no_skid;    /* PDIR, PDist or reduced skid */
	bool interrupts; /* on overflow */
	bool os, user;
	bool inverted, edge;
	u8 mask; /* 0: no mask */
};

/* Returns the highest value of a counter of the machine. */
u64 counter_highest(const struct machine *machine);

/* Adds `events`. Returns true if the counter overflowed to zero or past it. */
bool counter_add(const struct machine *machine, u64 *count, u64 events);

/*
 * Returns the number to add to the counter for `occurrences` of its event. All are in the cycle in which an
 * instruction at `ip` retires, `cycles` after the previous instruction. Between the two instructions, the
 * event does not occur. A cycles event differs: it occurs once in each of `occurrences` cycles. The privilege
 * level is derived from the address: the upper half is the kernel's.
 *
 * With a counter mask, a cycle counts if it has at least as many occurrences as the mask says, or fewer if
 * inverted. Edge detection counts how often the condition begins. Inversion without a mask has no effect.
 * `*asserted`, for edge detection: whether the condition held in the previous cycle. Updated.
 */
u64 counter_filter(const struct counter_program *program, u64 ip, u64 occurrences, u64 cycles,
		   bool *asserted);

#endif
