// SPDX-License-Identifier: GPL-2.0
/*
 * One CPU's core, as the module plays it: the model's PEBS unit, the memory that its DS area lies in, what
 * the driver keeps of it (struct cpu_hw_events in arch/x86/events/perf_event.h), and the world around.
 *
 * All of it is touched by its own CPU alone: by perf core's calls and the world's timer with interrupts off,
 * and by the handler of the non-maskable interrupt, which core_enter() keeps away from a unit that is being
 * worked on.
 *
 * To be included first: the model's names of registers are an enum, and the kernel's the same names as
 * macros.
 */
#ifndef PEBS_MACHINE_CORE_H
#define PEBS_MACHINE_CORE_H

#include "model/pebs.h"
#include "model/workload.h"

/* General-purpose counter 0 by either of its numbers; asm/msr-index.h calls the other one MSR_IA32_PMC0. */
enum { COUNTER_31_BITS = MSR_IA32_PMC0, COUNTER_FULL_WIDTH = MSR_IA32_A_PMC0 };

#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "books.h"
#include "counted.h"
#include "ibs_core.h"
#include "touched.h"

/* Counter numbers as in the status registers: general-purpose ones from 0, fixed ones from 32. */
#define COUNTERS_END   36
#define EVENTS_AT_ONCE (PEBS_GENERAL + PEBS_FIXED)

/* PEBS_BUFFER_SIZE in arch/x86/events/intel/ds.c: 64 KiB. */
#define BUFFER_BYTES (64 << 10)

struct core {
	int cpu;
	const struct machine *machine; /* NULL: the CPU is one with IBS, and what is of PEBS stands unused */
	struct pebs_unit unit;
	void *memory;    /* what the unit can reach: the DS save area, then, a page on, the PEBS buffer */
	u64 area;        /* linear address of it to the unit */
	bool full_width; /* counters take 48 bits (MSR_IA32_A_PMC0), not 31 */

	/* The driver's. */
	bool enabled;
	u64 disabled_at; /* when perf core last began to disable it, as it does before it ends a throttling */
	u64 pebs_enabled;
	u64 data_cfg, data_cfg_written;
	u32 record_bytes;
	unsigned int n_pebs, n_large;
	struct perf_event *events[COUNTERS_END]; /* running, by counter */
	u64 active;
	struct perf_event *list[EVENTS_AT_ONCE]; /* added */
	unsigned int n_events;

	struct ibs_core ibs;

	/* The world's. */
	struct hrtimer timer;
	bool ticking, offline;
	bool waiting;          /* paused, or the CPU idles */
	bool starving;         /* the last overflow did not come about */
	int turn;              /* the counter that was last brought to its end */
	unsigned int meetings; /* that several were near their ends, and one came to it */
	u64 passed_at_ns;      /* up to which time has been passed on to the counters */
	u64 sampled_at_ns;
	u64 tick_ns;   /* that the timer's interrupts took, the handler in them included */
	u64 remainder; /* of an event, in nanoseconds times events a second */
	struct workload workloads[WORKLOAD_COUNT];
	void *memories[WORKLOAD_COUNT];

	/* The interrupt's. */
	unsigned int busy;
	bool signalled; /* sent, not answered */
	bool deferred;  /* came while busy */
	bool interrupted_known;
	struct pt_regs interrupted; /* the registers of what the timer interrupted */
	u64 handler_ns;             /* that all of them took */

	struct core_books books;
	struct core_touched touched;
	struct counted counted;
};

DECLARE_PER_CPU(struct core *, cores);

/* This CPU's; interrupts are off. */
static inline struct core *this_core(void)
{
	return __this_cpu_read(cores);
}

/* Allocates every possible CPU's, each of the machine that its PMU is of (pmu.h). -ENOMEM. */
int cores_open(void);
void cores_close(void);

/* While in, the interrupt's handler does not touch the unit but comes back at the outermost leave. */
void core_enter(struct core *core);
void core_leave(struct core *core);

/* Sends this CPU the interrupt, if none is on its way. */
void core_signal(struct core *core);

/* WRMSR and RDMSR of what the driver knows to be there: a refusal is a bug, and told once. */
void core_write(struct core *core, u32 msr, u64 value);
u64 core_read(struct core *core, u32 msr);

static inline bool counter_is_fixed(int counter)
{
	return counter >= PEBS_FIXED_0;
}

#endif
