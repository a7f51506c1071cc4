// SPDX-License-Identifier: GPL-2.0
/* A workload of the hardware model with a memory system of its own, and the true values of its loads. */
#ifndef PEBSD_WORKLOAD_FIXTURE_H
#define PEBSD_WORKLOAD_FIXTURE_H

#include "model/load_source.h"
#include "model/workload.h"

struct workload_fixture {
	const struct machine *machine;
	struct memory *memory;
	struct workload workload;
};

/* Returns 0 or -ENOMEM. Close it in both cases. */
int workload_fixture_open(const struct machine *machine, enum workload_kind kind, u64 seed,
			  struct workload_fixture *ret);
void workload_fixture_close(const struct workload_fixture *fixture);

/* Counts all loads, and describes those above a threshold in pebsd's terms. */
struct truth {
	u64 loads;
	u64 above;
	u64 latency; /* sum over the loads above the threshold, in core clock cycles */
	u64 latency_squares;
	u64 latency_max;
	u64 sources[SOURCE_COUNT];
	u64 snoops[SNOOP_COUNT];
	u64 tlbs[TLB_COUNT];
	u64 walks; /* page walks, even if the machine's data source does not report them */
	u64 locked;
};

/*
 * Returns the value that the threshold register is compared with: the latency of the load, or of the whole
 * instruction.
 */
u32 truth_threshold_latency(const struct machine *machine, const struct retired *load);

/* Runs the workload for `loads` loads and adds them to `truth`. */
void truth_add(struct workload_fixture *fixture, u32 threshold, u64 loads, struct truth *truth);

#endif
