// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of a core that its sysfs folder does not contain. They are looked up by names from that folder:
 * caps/pmu_name and, on a hybrid CPU, the name of the PMU. A core with an unknown name is assumed to be later
 * than all cores in the table. The heads of pmu_quirks.c and pmu_offcore_values.c name the sources of all facts.
 */
#ifndef PEBSD_PMU_QUIRKS_H
#define PEBSD_PMU_QUIRKS_H

#include <stdbool.h>

#include "origin/event.h"
#include "pebsd/types.h"

/* The data that PEBS records of loads and stores, for cores where no event in sysfs says so. */
enum pmu_records {
	PMU_RECORDS_SPLIT,    /* cache latency and instruction latency, data source, address */
	PMU_RECORDS_USE,      /* one latency (from the dispatch of the load), data source, address */
	PMU_RECORDS_ADDRESS,  /* an address, but neither latency nor data source */
	PMU_RECORDS_REGISTERS /* only registers, no address */
};

/*
 * Values of MSR_OFFCORE_RSP_0 and _1 for demand reads of data, one for each enum offcore_kind. 0: not
 * supported. `events` are the event codes (event, umask << 8) of the two registers. The second is 0 if there
 * is only one.
 */
struct pmu_offcore_values {
	u16 events[2];
	u64 l3;
	u64 local_dram;
	u64 remote_dram;
	u64 outstanding;
	u64 requests;
	const char *note; /* names the cases that the values cannot distinguish; NULL: none */
};

/* The encoding of an event that only counts. */
struct pmu_count_event {
	enum count_kind kind; /* COUNT_NONE: no such event is known */
	u8 event, umask, cmask;
	u8 only_counter; /* as in struct event_spec */
};

struct pmu_quirk {
	const char *name; /* caps/pmu_name */
	const char *pmu;  /* the name of the PMU, if several cores share one caps/pmu_name; NULL: any */
	enum pmu_records records;
	bool costly_ip;     /* with precise_ip above 1 the kernel runs the LBR (PEBS formats below 2) */
	bool precise_store; /* event 0xcd, umask 2 is the precise store, not the store latency */
	bool no_stores;     /* no event records stores with their addresses */
	bool collides;      /* records of events that overflow together are dropped: PEBS formats below 3 */
	bool any_address;   /* every precise event records the data address: manual 18.7.1.1 */
	bool last_level_l2; /* L2 is the last level of the caches */
	u8 smallest_period; /* 0: any */
	/*
	 * The instruction event is 0xc0 with this umask. The next members are the highest precise_ip that the
	 * kernel accepts for it, and the number that its periods must be multiples of (0: any period).
	 */
	u8 instructions_umask;
	u8 instructions_precise_ip;
	u8 instructions_step;
	bool instructions_alone; /* the other counters must be idle while the instruction event is sampled */
	/*
	 * 1 + the only counter that can run the event; 0: several can. Fixed counters are numbered from 32.
	 * `stores_counter` is for event 0xcd.
	 */
	u8 loads_counter;
	u8 stores_counter;
	u8 instructions_counter;
	const struct pmu_offcore_values *offcore;
	struct pmu_count_event stalls;
};

/* Returns the quirk of a core, never NULL. `name` may be NULL. */
const struct pmu_quirk *pmu_quirk_find(const char *name, const char *pmu);

/* Returns true if `name` is in the table. If not, the quirk is a guess. */
bool pmu_quirk_known(const char *name);

/* Defined in pmu_offcore_values.c, one for each CPU generation. */
extern const struct pmu_offcore_values pmu_offcore_nehalem, pmu_offcore_westmere, pmu_offcore_sandybridge,
	pmu_offcore_haswell, pmu_offcore_broadwell, pmu_offcore_skylake, pmu_offcore_icelake,
	pmu_offcore_golden_cove, pmu_offcore_silvermont, pmu_offcore_goldmont, pmu_offcore_tremont,
	pmu_offcore_gracemont;

#endif
