// SPDX-License-Identifier: GPL-2.0
/*
 * What sampling takes of a machine with so many CPUs: descriptors, memory, time to start. Pure; what can only
 * be measured is given, and what was not stays unknown.
 */
#ifndef PEBSD_PERF_COST_H
#define PEBSD_PERF_COST_H

#include "origin/pmu/pmu.h"

/* What one machine, or one run on it, tells. 0: not known. */
struct perf_cost_facts {
	u32 slots;       /* of the table of cgroups */
	u32 hot_max;     /* cgroups that may have hot tables at a time */
	u64 page_size;   /* bytes */
	u64 event_bytes; /* of the kernel's own structures for one event, at least */
	u64 load_ns;     /* loading the BPF programs and making their maps */
	u64 event_ns;    /* opening, mapping, attaching and enabling one event on one CPU, its leader too */
};

/* A daemon that samples: which events, on how many CPUs each. */
struct perf_cost_case {
	u32 cpus;    /* possible ones */
	u32 stripes; /* of a slot (kernel/stripes.h) */
	size_t n_events;
	struct perf_cost_event {
		u32 cpus; /* that it is open on */
		bool has_leader;
		bool has_latency;
		bool has_code_address;
	} events[EVENTS_MAX];
	u64 counters; /* off-core counters, on all CPUs together */
};

struct perf_cost {
	u64 descriptors;    /* of events, their leaders and counters: no other needs one a CPU */
	u64 ring_bytes;     /* locked: a header and a data page for each */
	u64 ring_bytes_max; /* where each was throttled so long that its ring grew to the full (perf_map.h) */
	u64 map_bytes;      /* of the BPF maps at the start (kernel_map_bytes()) */
	u64 hot_bytes;      /* more of them where as many cgroups as may have hot tables */
	u64 event_bytes;    /* of the kernel's structures, at least; 0: not known */
	u64 start_ns;       /* 0: not known */
};

void perf_cost(const struct perf_cost_case *machine, const struct perf_cost_facts *facts,
	       struct perf_cost *ret);

/* The case of the plan's events with a role in `roles`, on the CPUs that they are planned for. */
void perf_cost_planned(const struct pmu_plan *plan, unsigned roles, u32 possible_cpus, u32 stripes,
		       struct perf_cost_case *ret);

/*
 * The case of the plan's events with a role in `roles` on a machine of `cpus` CPUs, each on such a share of
 * them as it has here: of a hybrid CPU's, those of its PMU. All of them are taken to be online.
 */
void perf_cost_scaled(const struct pmu_plan *plan, unsigned roles, u32 cpus, struct perf_cost_case *ret);

/* Stripes of a slot on a machine of so many CPUs that are all online. */
u32 perf_cost_stripes(u32 cpus);

/* What the plan has events or counters for: 1 << enum event_role. */
unsigned perf_cost_roles(const struct pmu_plan *plan);

/*
 * What a table of costs is made for: the first planned role, the first two, all of them. Writes up to that
 * many masks, none twice, to `ret`; returns how many.
 */
#define PERF_COST_STEPS 3
size_t perf_cost_steps(const struct pmu_plan *plan, unsigned ret[PERF_COST_STEPS]);

/* Descriptors that perf_open() asks room for: a leader's too, which the kernel may demand. */
u64 perf_cost_reserved(const struct pmu_opening *opening);

/* CPUs that any planned event is opened on; 0 where that is not known. */
u32 perf_cost_cpus(const struct pmu_plan *plan);

/* `max = auto`: slots for so many cgroups, twice as many, from 512 to KERNEL_SLOTS_MAX. */
u32 perf_cost_slots(size_t cgroups);

/* The most descriptors that a growing table takes for the blocks of its first `slots`. DESCRIPTORS_SPARE has
 * those of the first block. */
u64 perf_cost_block_descriptors(u32 slots);

#endif
