// SPDX-License-Identifier: GPL-2.0
/*
 * What a counter makes of its event's occurrences: privilege, counter mask, inversion, edge detection (manual
 * 18.2.1.1), and its width.
 */
#ifndef PEBSD_MODEL_COUNTER_H
#define PEBSD_MODEL_COUNTER_H

#include "event.h"

/* A counter as programmed, worked out when a register is written. */
struct counter_program {
	struct event event;
	bool counts;     /* enabled here and in IA32_PERF_GLOBAL_CTRL, available, defined */
	bool pebs;       /* enabled for PEBS, and the event is precise */
	bool no_skid;    /* PDIR or reduced skid */
	bool interrupts; /* on overflow */
	bool os, user;
	bool inverted, edge;
	u8 mask; /* 0: none */
};

/* Highest value of a counter of the machine. */
u64 counter_highest(const struct machine *machine);

/* Adds; true: it went from its highest value to zero or past it. */
bool counter_add(const struct machine *machine, u64 *count, u64 events);

/*
 * What is added to the counter for `occurrences` in the cycle in which an instruction at `ip` retires,
 * `cycles` after the last one; in the cycles between the two nothing occurs. The privilege level is read from
 * the address: the upper half is the kernel's. A counter mask turns occurrences into cycles (at least so many
 * in one; with inversion fewer); edge detection counts the condition's beginnings. Inversion without a mask
 * does nothing. `asserted` is the counter's own.
 */
u64 counter_filter(const struct counter_program *program, u64 ip, u64 occurrences, u64 cycles,
		   bool *asserted);

#endif
