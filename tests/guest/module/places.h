// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that said what their code does: a thread writes to pebs_machine/places, a line a write, that from
 * START to END (of a function, say) it executes the instruction at IP, before NEXT, which accesses ADDRESS:
 *
 *   START END IP NEXT ADDRESS SPAN SOURCE LOW HIGH
 *
 * addresses in hexadecimal, the rest decimal. With SPAN bytes from ADDRESS on, one of these bytes' cache
 * lines at a time; 0: ADDRESS itself. SOURCE: l1, l2, l3, dram, remote-dram, hitm, remote-hitm. LOW and HIGH:
 * core clock cycles, evenly between the two. Both loads and stores do this.
 *
 * Samples of such a thread are of where it really was when the counter came to its end: of a range that it
 * told of, that one's instruction and data; elsewhere (other code, the kernel) the interrupted instruction
 * itself, with an access to its stack out of the first level cache. All else goes on as with other tasks.
 */
#ifndef PEBS_MACHINE_PLACES_H
#define PEBS_MACHINE_PLACES_H

#include "model/random.h"
#include "model/retired.h"

#include <linux/types.h>

#define PLACES_TASKS 64
#define PLACES_MAX   16 /* of a task */

struct dentry;
struct pt_regs;

struct places_range {
	u64 start, end;
	u64 ip, next_ip;
	u64 address, span;
	u32 low, high; /* latency */
	u8 place;      /* enum place */
	u8 asked;      /* enum asked */
};

struct places_task;

/* The current task's; NULL: it told nothing. In any context. */
const struct places_task *places_of_current(void);

/* Makes of an instruction of the model's what the task did where it was interrupted. */
void places_play(const struct places_task *task, const struct pt_regs *interrupted, struct random *random,
		 struct retired *retired);

void places_file_open(struct dentry *directory);

#endif
