// SPDX-License-Identifier: GPL-2.0
/* A workload of the hardware model with a memory system of its own, and the truth about its loads. */
#ifndef PEBSD_WORLD_H
#define PEBSD_WORLD_H

#include "model/load_source.h"
#include "model/workload.h"

struct world {
	const struct machine *machine;
	struct memory *memory;
	struct workload workload;
};

/* 0 or -ENOMEM; to be closed in both cases. */
int world_open(const struct machine *machine, enum workload_kind kind, u64 seed, struct world *ret);
void world_close(const struct world *world);

/* All of its loads, and those above a threshold in pebsd's words. */
struct truth {
	u64 loads;
	u64 above;
	u64 latency; /* sums, core clock cycles, of those above */
	u64 latency_squares;
	u64 latency_max;
	u64 sources[SOURCE_COUNT];
	u64 snoops[SNOOP_COUNT];
	u64 tlbs[TLB_COUNT];
	u64 walks; /* page walks, in whatever words the machine tells them, or in none */
	u64 locked;
};

/* What the threshold register is held against: the latency, or the whole instruction's. */
u32 truth_threshold_latency(const struct machine *machine, const struct retired *load);

/* Runs the world for so many loads and adds them up. */
void truth_add(struct world *world, u32 threshold, u64 loads, struct truth *truth);

#endif
