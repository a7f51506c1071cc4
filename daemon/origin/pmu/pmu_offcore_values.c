// SPDX-License-Identifier: GPL-2.0
/*
 * The values of MSR_OFFCORE_RSP_x for demand reads of data, by CPU generation.
 *
 * Sources: the event codes and the accepted bits are from the *_extra_regs in arch/x86/events/intel/core.c,
 * Linux 6.1 and 6.12. Suppliers: the *_hw_cache_extra_regs there, and the MSRValue of
 * OFFCORE_RESPONSE.DEMAND_DATA_RD.* or OCR.DEMAND_DATA_RD.* in Intel's event tables
 * (tools/perf/pmu-events/arch/x86, Linux 6.1; sierraforest of 6.12 for gracemont's remote memory).
 *
 * A value combines a set of suppliers with a set of snoop responses, and counts every pair of them. Memory of
 * this node is counted by its supplier, if no cache forwarded the line. Remote memory is counted by the
 * suppliers of the other nodes, with every response but "not DRAM". A line of this node's own memory that
 * another node's cache forwards is therefore in neither.
 */
#include "origin/pmu/pmu_quirks.h"

#define DEMAND_DATA_READ (1ULL << 0)
#define ANY_RESPONSE     (1ULL << 16)

/*
 * Bits 31 to 34: none, not needed, missed, hit without forwarding. Bits 35 to 37: forwarded, modified, not
 * DRAM.
 */
#define NOT_FORWARDED (0xfULL << 31)
#define ANY_OF_MEMORY (0x3fULL << 31)
#define ANY_SNOOP     (0x7fULL << 31)
#define SPL_HIT       (1ULL << 30)

/* The cache line states M, E, S and F. */
#define L3_HIT         (0xfULL << 18)
#define LOCAL_22       (1ULL << 22)
#define LOCAL_26       (1ULL << 26)
#define BITS(set)      ((u64)(set) << 22) /* suppliers, starting at bit 22 */
#define READS_OF(bits) (DEMAND_DATA_READ | (bits))

/* Nehalem's fields have 8 bits, and it has only one register (manual 18.8.1.3). */
#define NEHALEM(responses) (DEMAND_DATA_READ | (u64)(responses) << 8)

const struct pmu_offcore_values pmu_offcore_nehalem = {
	.events = {0x01b7},
	.l3 = NEHALEM(0x07),
	.local_dram = NEHALEM(0x40),
	.remote_dram = NEHALEM(0x38),
};

const struct pmu_offcore_values pmu_offcore_westmere = {
	.events = {0x01b7, 0x01bb},
	.l3 = NEHALEM(0x07),
	.local_dram = NEHALEM(0x50),
	.remote_dram = NEHALEM(0x28),
	.note = "on Westmere, reads that the cache of another node serves with a clean line count as "
		"local memory: the register has one bit for both",
};

const struct pmu_offcore_values pmu_offcore_sandybridge = {
	.events = {0x01b7, 0x01bb},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP),
	.local_dram = READS_OF(LOCAL_22 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0x1fe) | ANY_OF_MEMORY),
};

const struct pmu_offcore_values pmu_offcore_haswell = {
	.events = {0x01b7, 0x01bb},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP),
	.local_dram = READS_OF(LOCAL_22 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xfe) | ANY_OF_MEMORY),
};

const struct pmu_offcore_values pmu_offcore_broadwell = {
	.events = {0x01b7, 0x01bb},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xef) | ANY_OF_MEMORY),
};

const struct pmu_offcore_values pmu_offcore_skylake = {
	.events = {0x01b7, 0x01bb},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP | SPL_HIT),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xee) | ANY_OF_MEMORY),
};

/* Bit 27 is the memory of another cluster of the same socket (sub-NUMA), which counts as another node. */
const struct pmu_offcore_values pmu_offcore_icelake = {
	.events = {0x01b7, 0x01bb},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP | SPL_HIT),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xe0) | ANY_OF_MEMORY),
};

const struct pmu_offcore_values pmu_offcore_golden_cove = {
	.events = {0x012a, 0x012b},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xe0) | ANY_OF_MEMORY),
};

/*
 * Silvermont and Goldmont have no L3. Data that misses L2 and is in no other module comes from memory. Bit 38
 * of the first register sums up the cycles during which requests are outstanding (manual 18.6.3, 18.7.2).
 */
const struct pmu_offcore_values pmu_offcore_silvermont = {
	.events = {0x01b7, 0x02b7},
	.local_dram = READS_OF(1ULL << 31 | 1ULL << 33),
	.outstanding = READS_OF(1ULL << 38),
	.requests = READS_OF(ANY_RESPONSE),
};

const struct pmu_offcore_values pmu_offcore_goldmont = {
	.events = {0x01b7, 0x02b7},
	.local_dram = READS_OF(1ULL << 33),
	.outstanding = READS_OF(1ULL << 38),
	.requests = READS_OF(ANY_RESPONSE),
};

/* On Tremont, bit 63 counts the outstanding requests. */
const struct pmu_offcore_values pmu_offcore_tremont = {
	.events = {0x01b7, 0x02b7},
	.l3 = READS_OF(L3_HIT | ANY_OF_MEMORY),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.outstanding = READS_OF(1ULL << 63),
	.requests = READS_OF(ANY_RESPONSE),
};

const struct pmu_offcore_values pmu_offcore_gracemont = {
	.events = {0x01b7, 0x02b7},
	.l3 = READS_OF(L3_HIT | ANY_SNOOP),
	.local_dram = READS_OF(LOCAL_26 | NOT_FORWARDED),
	.remote_dram = READS_OF(BITS(0xe0) | ANY_OF_MEMORY),
};
