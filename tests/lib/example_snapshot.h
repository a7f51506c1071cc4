// SPDX-License-Identifier: GPL-2.0
/* A small snapshot that exporters are tested with. */
#ifndef PEBSD_EXAMPLE_SNAPSHOT_H
#define PEBSD_EXAMPLE_SNAPSHOT_H

#include "snapshot/snapshot.h"

/* Counts `n` samples with all their fields, as the kernel side would; `period` 0: has no weight. */
void example_add(struct figures *figures, u64 n, enum source source, u32 latency, u64 period,
		 enum snoop snoop, enum tlb tlb);

/*
 * A replay of 14 loads of 1,725 cycles without periods: comm:kstaled has 13 of them, the other is
 * comm:evil\e[2J's. Lives as long as the process; the caller may change it and is alone in that.
 */
struct snapshot *example_replay(void);

/*
 * The same on a live machine: two core PMUs, weights, losses, and the cgroups /system.slice/db.service
 * (10 loads of 400 cycles from remote memory, half of them HITM, and 1 on cpu_atom) and / (90 loads of 20
 * cycles from the first level).
 */
struct snapshot *example_perf(void);

/*
 * A live machine with several events: loads on two core PMUs (0 and 1), and on cpu_core stores without
 * latency (2), which take turns with the loads, and instructions by code address (3), without latency and
 * source. Of its cgroups /system.slice/db.service has samples of all events, /machine.slice/vm.scope, a
 * virtual machine, of loads and instructions, and /batch of stores and instructions alone.
 */
struct snapshot *example_several(void);

/* Samples of an event that a snapshot's cgroup has; 0: none. */
u64 example_samples(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, unsigned event);

#endif
