// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of sampling on a machine with a given number of CPUs: descriptors, memory and start time. Pure
 * functions. The caller supplies costs that can only be measured. A cost that was not measured stays unknown.
 */
#ifndef PEBSD_PERF_COST_H
#define PEBSD_PERF_COST_H

#include "origin/pmu/pmu.h"

/* Known facts of a machine, and measurements of a run on it. 0: not known. */
struct perf_cost_facts {
	u32 slots;       /* in the table of cgroups */
	u32 hot_max;     /* maximum number of cgroups with hot tables at a time */
	u64 page_size;   /* bytes */
	u64 event_bytes; /* size of the kernel's structures for one event, at least */
	u64 load_ns;     /* loading the BPF programs and creating their maps */
	u64 event_ns;    /* opening, mapping, attaching and enabling one event on one CPU, with its leader */
};

/* The events that a daemon samples, and the number of CPUs of each. */
struct perf_cost_case {
	u32 cpus;    /* possible CPUs */
	u32 stripes; /* stripes of a slot (kernel/stripes.h) */
	size_t n_events;
	struct perf_cost_event {
		u32 cpus; /* CPUs on which it is open */
		bool has_leader;
		bool has_latency;
		bool has_code_address;
		bool only_counts;
	} events[EVENTS_MAX];
	u64 counters; /* off-core counters, summed over all CPUs */
};

struct perf_cost {
	u64 descriptors;    /* of events, leaders and counters: one each on every CPU */
	u64 ring_bytes;     /* locked memory: a header page and a data page for each event and leader */
	u64 ring_bytes_max; /* the same if throttling had grown every ring to its maximum (perf_mmap.h) */
	u64 map_bytes;      /* size of the BPF maps at the start (kernel_map_bytes()) */
	u64 hot_bytes;      /* additional size of the BPF maps if `hot_max` cgroups have hot tables */
	u64 event_bytes;    /* size of the kernel's structures, at least; 0: not known */
	u64 start_ns;       /* 0: not known */
};

void perf_cost(const struct perf_cost_case *machine, const struct perf_cost_facts *facts,
	       struct perf_cost *ret);

/* Fills in the case for the plan's events with a role in `roles`, on the CPUs that they are planned for. */
void perf_cost_planned(const struct pmu_plan *plan, unsigned roles, u32 possible_cpus, u32 stripes,
		       struct perf_cost_case *ret);

/*
 * Fills in the case for the plan's events with a role in `roles` on a machine of `cpus` CPUs, all online.
 * Each event is open on the same share of the CPUs as on this machine. For a hybrid CPU that is the share of
 * its PMU.
 */
void perf_cost_scaled(const struct pmu_plan *plan, unsigned roles, u32 cpus, struct perf_cost_case *ret);

/* Returns the number of stripes of a slot on a machine with `cpus` CPUs that are all online. */
u32 perf_cost_stripes(u32 cpus);

/* Returns a mask of 1 << enum event_role: the roles for which the plan has events or counters. */
unsigned perf_cost_roles(const struct pmu_plan *plan);

/*
 * Chooses the rows of a table of costs: the first planned role, the first two, and all roles. Writes at most
 * PERF_COST_STEPS different masks of roles to `ret` and returns how many.
 */
#define PERF_COST_STEPS 3
size_t perf_cost_steps(const struct pmu_plan *plan, unsigned ret[PERF_COST_STEPS]);

/*
 * Returns how many descriptors perf_open() reserves. This includes a leader, because the kernel may demand one.
 */
u64 perf_cost_reserved(const struct event_spec *spec);

/* Returns the number of CPUs on which any planned event is opened; 0 if that is not known. */
u32 perf_cost_cpus(const struct pmu_plan *plan);

/*
 * Returns the number of slots for `max = auto`: twice `cgroups`, at least 512 and at most KERNEL_SLOTS_MAX.
 */
u32 perf_cost_slots(size_t cgroups);

/*
 * Returns the maximum number of descriptors that a growing table needs for the blocks of its first `slots`
 * slots. The first block is excluded, because DESCRIPTORS_SPARE includes its descriptors.
 */
u64 perf_cost_block_descriptors(u32 slots);

#endif
