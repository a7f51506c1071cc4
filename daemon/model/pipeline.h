// SPDX-License-Identifier: GPL-2.0
/*
 * The time that instructions take in an out-of-order core. One instruction enters in each cycle, as long as at most
 * PIPELINE_WINDOW have not retired. A load starts when it has entered and its address is known. Instructions retire
 * in order, at most one in each cycle, and a load only when it has its data.
 *
 * So loads within the window overlap, unless one needs the data of another. A stalled cycle is a cycle in which no
 * instruction retires, because the oldest one is a load without its data.
 */
#ifndef PEBSD_MODEL_PIPELINE_H
#define PEBSD_MODEL_PIPELINE_H

#include "freestanding.h"

/*
 * The reorder buffer of Skylake (Intel's optimization manual, table "Key Features of the Skylake Microarchitecture").
 */
#define PIPELINE_WINDOW 224
/* A power of two above PIPELINE_WINDOW. */
#define PIPELINE_MARKS 256

/* An instruction and its time of retirement. Those after it retired one by one, up to the next mark. */
struct pipeline_mark {
	u64 instruction, retired;
};

/* All times are core clock cycles. Instructions are numbered from 0 on, which stands for pipeline_open(). */
struct pipeline {
	u64 instruction; /* number of the last instruction */
	u64 entered;     /* time at which it entered */
	u64 retired;     /* time at which it retired */
	u32 first, count;
	struct pipeline_mark marks[PIPELINE_MARKS];
};

/* An empty pipeline at the time `now`. */
void pipeline_open(struct pipeline *pipeline, u64 now);

/* Executes instructions that wait for nothing. */
void pipeline_pass(struct pipeline *pipeline, u64 instructions);

/* The next instruction enters. Returns the time at which its access starts, if its address is known at `known`. */
u64 pipeline_enter(struct pipeline *pipeline, u64 known);

/* The instruction that entered last retires, once it is done. Returns the stalled cycles before that. */
u64 pipeline_retire(struct pipeline *pipeline, u64 done);

#endif
