/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The books of the emulated PMU: every sample that its hardware described, by CPU, event, cgroup and task,
 * with what the driver and pebsd have to make of it. Tests hold pebsd's figures against them.
 */
#ifndef PMU_BOOKS_H
#define PMU_BOOKS_H

#include <stdio.h>

#include "core.h"
#include "guest_kernel.h"
#include "model/load_source.h"

struct books;

/* NULL: no memory. `log`: a line for each record goes there too; NULL: none. */
struct books *books_open(FILE *log);

/* The samples of this cgroup, and of events that are open for one cgroup, are counted by instruction and data
 * address as well. 0: none. */
void books_watch(struct books *books, u64 cgroup);

/* An event's counter overflowed: a sample is due. */
void books_due(struct books *books, const struct core *core, const struct guest_kernel *kernel,
	       const struct guest_memory *memory, unsigned int counter);

/* `count`: events since the counter's overflow, when software writes its next period. Each whole period in it is
 * a sample that was expected and has no record. */
void books_went_on(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		   const struct guest_memory *memory, unsigned int counter, u64 count);

/* A record was made, with the task that runs. */
void books_record(struct books *books, const struct core *core, const struct core_record *record,
		  const struct guest_kernel *kernel, const struct guest_memory *memory);

/*
 * An off-core response counter counted: for the cgroup of the task that runs. What it counts in a task switch,
 * after software has read it, is for the cgroup of the task that comes next. `instructions`: executed by the
 * CPU so far.
 */
void books_counted(struct books *books, const struct core *core, unsigned int counter, u64 occurrences,
		   u64 instructions, const struct guest_kernel *kernel, const struct guest_memory *memory);
void books_counter_read(struct books *books, const struct core *core, unsigned int counter, u64 instructions);

/* The kernel throttles an event on the CPU. */
void books_throttled(struct books *books, unsigned int cpu);

/* The interrupt for the records of a CPU begins: they are those of the task that runs now. */
void books_interrupt(struct books *books, const struct core *core, const struct guest_kernel *kernel,
		     const struct guest_memory *memory);
/* It ends: records that came after it had begun, and that the driver took, are of the same task. */
void books_interrupt_end(struct books *books, const struct core *core);

/* An interrupt was raised; it was held back, as the local vector table has it masked; its cause had gone by
 * then. */
enum books_count { BOOKS_SENT, BOOKS_LATCHED, BOOKS_DROPPED, BOOKS_COUNTS };
void books_count(struct books *books, unsigned int cpu, enum books_count count);

void books_reset(struct books *books);

/*
 * JSON, an object a line: by CPU, event, cgroup and task; by CPU; by instruction and address of the watched
 * cgroup. Of an event `overflow` is what the driver hands on, and `cut` what was due and did not come to
 * that: the event was stopped before there was a record, or (`collisions`) the record is of several events
 * and the driver drops it.
 */
void books_print(const struct books *books, FILE *file);
void books_print_totals(const struct books *books, const struct core *cores, unsigned int cpus, FILE *file);
void books_print_touched(const struct books *books, FILE *file);
/* By cgroup and the value in the counter's off-core response register. */
void books_print_counted(struct books *books, FILE *file);

#endif
