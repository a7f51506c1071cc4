// SPDX-License-Identifier: GPL-2.0
/*
 * What a core's sysfs folder does not tell, by the names it does tell: caps/pmu_name, and on a hybrid CPU the
 * PMU's own. A core of no known name is taken for a later one than any in the table. Each fact's source
 * stands beside it in pmu_quirks.c and pmu_offcore_values.c.
 */
#ifndef PEBSD_PMU_QUIRKS_H
#define PEBSD_PMU_QUIRKS_H

#include <stdbool.h>

#include "pebsd/types.h"

/* The kinds of loads and stores that PEBS records, where no event of sysfs tells. */
enum pmu_records {
	PMU_RECORDS_SPLIT,    /* cache latency and instruction latency, source, address */
	PMU_RECORDS_USE,      /* one latency, from the use of the load on, source, address */
	PMU_RECORDS_ADDRESS,  /* an address, neither latency nor source */
	PMU_RECORDS_REGISTERS /* no address */
};

/*
 * Values of MSR_OFFCORE_RSP_0 and _1 for demand reads of data, by enum offcore_kind; 0: not to be had.
 * `events` are the codes (event, umask << 8) that go with the two registers; 0: there is one.
 */
struct pmu_offcore_values {
	u16 events[2];
	u64 l3;
	u64 local_dram;
	u64 remote_dram;
	u64 outstanding;
	u64 requests;
	const char *note; /* what the values cannot tell apart; NULL: nothing */
};

struct pmu_quirk {
	const char *name; /* caps/pmu_name */
	const char *pmu;  /* the PMU's name, where one name stands for several cores; NULL: any */
	enum pmu_records records;
	bool costly_ip;     /* precise_ip above 1 makes the kernel run the LBR (PEBS formats below 2) */
	bool precise_store; /* event 0xcd, umask 2 is the precise store, not the store latency */
	bool no_stores;     /* no event records stores with their addresses */
	bool collides;      /* records of events that overflow together are dropped: PEBS formats below 3 */
	bool any_address;   /* every precise event records the address of the data: manual 18.7.1.1 */
	u8 smallest_period; /* 0: any */
	/* The instruction event: 0xc0 with this umask, the highest precise_ip that the kernel takes for it,
	 * and of what its periods must be multiples, 0: of nothing. */
	u8 instructions_umask;
	u8 instructions_precise_ip;
	u8 instructions_step;
	bool instructions_alone; /* the other counters are to be quiet meanwhile */
	/* One more than the only counter that holds the event; 0: several do. Fixed counters from 32 on. The
	 * stores are those of event 0xcd. */
	u8 loads_counter;
	u8 stores_counter;
	u8 instructions_counter;
	const struct pmu_offcore_values *offcore;
};

/* Never NULL. `name` may be NULL. */
const struct pmu_quirk *pmu_quirk_find(const char *name, const char *pmu);

/* Whether `name` stands in the table; else the quirk is a guess. */
bool pmu_quirk_known(const char *name);

/* pmu_offcore_values.c, one a generation. */
extern const struct pmu_offcore_values pmu_offcore_nehalem, pmu_offcore_westmere, pmu_offcore_sandybridge,
	pmu_offcore_haswell, pmu_offcore_broadwell, pmu_offcore_skylake, pmu_offcore_icelake,
	pmu_offcore_golden_cove, pmu_offcore_silvermont, pmu_offcore_goldmont, pmu_offcore_tremont,
	pmu_offcore_gracemont;

#endif
