// SPDX-License-Identifier: GPL-2.0
/*
 * One CPU's IBS, as the module plays it: the model's unit, and what the driver keeps of it (struct
 * cpu_perf_ibs in arch/x86/events/amd/ibs.c). A part of struct core, and touched under its rules.
 */
#ifndef PEBS_MACHINE_IBS_CORE_H
#define PEBS_MACHINE_IBS_CORE_H

#include "model/ibs.h"

struct core;
struct perf_event;
struct pt_regs;

struct ibs_core {
	const struct ibs_machine *machine; /* NULL: the CPU is one with PEBS */
	struct ibs_unit unit;
	struct random pace;       /* how much of a period is executed */
	struct perf_event *event; /* the one that the unit is taken by */
	bool started;
	u64 discarded; /* samples that the driver itself dropped */
};

/* The registers, of what the driver knows to be there: a refusal is a bug, and told once. */
void ibs_core_write(struct ibs_core *ibs, u32 msr, u64 value);
u64 ibs_core_read(const struct ibs_core *ibs, u32 msr);

/* So many operations (or cycles) go by, of what the running task does. True: the interrupt is wanted. */
bool ibs_core_live(struct core *core, u64 count);

/* perf_ibs_handle_irq(). */
void ibs_core_handle(struct core *core, const struct pt_regs *interrupted);

#endif
