/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The books of the emulated PMU: every sample that its hardware described, by CPU, event, cgroup and task,
 * with the values that the driver and pebsd must derive from it. Tests compare pebsd's counters with them.
 */
#ifndef PMU_BOOKS_H
#define PMU_BOOKS_H

#include <stdio.h>

#include "core.h"
#include "guest_kernel.h"
#include "model/load_source.h"

struct books;

/* Returns NULL if memory runs out. `log` gets a line for each record; NULL: no log. */
struct books *books_open(FILE *log);

/*
 * From now on, samples of this cgroup, and of events that are open for one cgroup, are also counted by
 * instruction and data address. 0: none.
 */
void books_watch(struct books *books, u64 cgroup);

/* The counter of an event overflowed, so a sample is due. */
void books_due(struct books *books, const struct core *core, const struct guest_kernel *kernel,
	       const struct guest_memory *memory, unsigned int counter);

/*
 * Software writes the next period of a counter. `count`: events since the counter's overflow. Each whole
 * period in it is a sample that was expected and has no record.
 */
void books_went_on(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		   const struct guest_memory *memory, unsigned int counter, u64 count);

/* A record was made while the current task was running. */
void books_record(struct books *books, const struct core *core, const struct core_record *record,
		  const struct guest_kernel *kernel, const struct guest_memory *memory);

/*
 * An off-core response counter counted `occurrences` for the cgroup of the current task. Counts during a task
 * switch, after software has read the counter, belong to the cgroup of the next task. `instructions`: executed
 * by the CPU so far.
 */
void books_counted(struct books *books, const struct core *core, unsigned int counter, u64 occurrences,
		   u64 instructions, const struct guest_kernel *kernel, const struct guest_memory *memory);
void books_counter_read(struct books *books, const struct core *core, unsigned int counter, u64 instructions);

/*
 * A counter without PEBS overflowed, so its interrupt brings a sample of the task that is running then. Samples of
 * events without a BPF program are not booked.
 */
void books_sample(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		  const struct guest_memory *memory, unsigned int counter);

/*
 * What the CPU did since the last call belongs to the current task. `done`: what it did since the start. While the PMU
 * is paused, nothing is booked.
 */
void books_spend(struct books *books, const struct core *core, const struct core_occurrences *done,
		 const struct guest_kernel *kernel, const struct guest_memory *memory);

/* The kernel throttled an event on the CPU. */
void books_throttled(struct books *books, unsigned int cpu);

/* The interrupt for the records of a CPU begins. The records belong to the task that is running now. */
void books_interrupt(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		     const struct guest_memory *memory);
/*
 * The interrupt ends. Records that were made during the interrupt, and that the driver has taken, belong to
 * the task that was running when the interrupt began.
 */
void books_interrupt_end(struct books *books, const struct core *core);

/*
 * Interrupts: raised; held back because the local vector table masks them; dropped because their cause was
 * gone when they were unmasked.
 */
enum books_count { BOOKS_SENT, BOOKS_LATCHED, BOOKS_DROPPED, BOOKS_COUNTS };
void books_count(struct books *books, unsigned int cpu, enum books_count count);

void books_reset(struct books *books);

/*
 * Prints JSON, one object per line. books_print() prints by CPU, event, cgroup and task, books_print_totals()
 * by CPU, and books_print_touched() by instruction and address, for the samples that books_watch() chose.
 *
 * For an event, `overflow` is the number of samples that the driver passes on. `cut` is the number of samples that
 * were due but not passed on: the event was stopped before there was a record, a whole period passed without an
 * overflow, or the driver dropped a record of several events. `collisions` counts only the dropped records.
 */
void books_print(const struct books *books, FILE *file);
/*
 * Prints the last 32,768 samples one by one, oldest first: a record, or the interrupt of a counter without PEBS. The
 * counter of IBS is 0. `guarded`: the kernel's guard kept it from the program. If there were more, the first line
 * says how many are forgotten.
 */
void books_print_records(const struct books *books, FILE *file);
void books_print_totals(const struct books *books, const struct core *cores, unsigned int cpus, FILE *file);
void books_print_touched(const struct books *books, FILE *file);
/*
 * Prints by CPU, cgroup and task what the CPU did. `counting` has the part of it while the counters were enabled, which
 * excludes the driver's handling of interrupts.
 */
void books_print_spent(const struct books *books, FILE *file);
/* Prints by cgroup and by the value of the counter's off-core response register. */
void books_print_counted(struct books *books, FILE *file);

#endif
