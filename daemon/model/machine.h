// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs that the model plays: what each one's PMU can do and how far its memory is. Facts of the hardware
 * are Intel's manual's, volume 3B chapter 18 (performance monitoring) and arch/x86/events/intel/{core,ds}.c
 * of Linux 6.1 (of those that it does not know, 6.12), each named in machine.c; cache sizes and latencies are
 * of the published order for the part, rounded: the model is believable, not a measurement.
 */
#ifndef PEBSD_MODEL_MACHINE_H
#define PEBSD_MODEL_MACHINE_H

#include "freestanding.h"

enum mechanism {
	MECHANISM_LOAD_LATENCY = 1 << 0,  /* 18.8.1.2 */
	MECHANISM_PRECISE_STORE = 1 << 1, /* 18.9.4.3: counter 3, enable bits 3 and 63 */
	MECHANISM_STORE_LATENCY = 1 << 2, /* Sapphire Rapids: stores carry a latency */
	MECHANISM_PDIR = 1 << 3,          /* 18.9.4.4: counter 1 */
	MECHANISM_PDIR_ALONE = 1 << 4,    /* 06_2A, 06_2D: the other counters must be quiet */
	MECHANISM_REDUCED_SKID = 1 << 5,  /* 18.7.1.2 */
	MECHANISM_OUT_OF_BOUNDS = 1 << 6, /* 18.7.1.3: OvfDSBuffer set by an index out of bounds */
	MECHANISM_OFFCORE_RESPONSE = 1 << 7,
	MECHANISM_OFFCORE_AVERAGE = 1 << 8, /* bit 38: average latency of outstanding requests */
	MECHANISM_ADDRESS_ONLY = 1 << 9,    /* 18.7.1.1: data linear address, no source, no latency */
	MECHANISM_AT_RETIREMENT = 1 << 10,  /* NetBurst: tags, MSR_IQ_COUNTER4 alone does PEBS */
	MECHANISM_LATENCY_SPLIT =
		1 << 11, /* cache and instruction latency; the threshold acts on the latter */
	MECHANISM_RETIRE_LATENCY =
		1
		<< 12, /* bits 47:32 of an adaptive record's first word: cycles since the last one retired */
};

enum record_format {
	RECORD_NETBURST_32, /* 18.18.5, 32-bit: FLAGS, IP, eight registers */
	RECORD_CORE,     /* NetBurst with 64-bit extensions, Core: the same with 64 bits, sixteen registers */
	RECORD_NEHALEM,  /* 0001b */
	RECORD_HASWELL,  /* 0010b */
	RECORD_SKYLAKE,  /* 0011b: Skylake, Goldmont */
	RECORD_ADAPTIVE, /* 0100b: Ice Lake */
	RECORD_FORMATS,
};

/* Which table reads the data source field of a record; see load_source.h. */
enum source_encoding {
	ENCODING_NONE,
	ENCODING_NEHALEM,
	ENCODING_SANDY_BRIDGE, /* to Broadwell */
	ENCODING_SKYLAKE,
	ENCODING_SKYLAKE_SERVER,
	ENCODING_ICE_LAKE,    /* as Skylake server's; bits 6 and 7 mean nothing yet */
	ENCODING_GOLDEN_COVE, /* Sapphire and Granite Rapids: with block bits (x86_pmu.pebs_block, core.c) */
	ENCODING_GOLDEN_COVE_CLIENT, /* Alder Lake's P-core: the same, and Skylake's memory beside DRAM */
	ENCODING_GRACEMONT,          /* E-cores; lock in bit 4, TLB in bit 5 (grt_latency_data() in ds.c) */
	ENCODING_CRESTMONT,          /* lock in bit 5, TLB in bit 6 (cmt_latency_data(), 6.12) */
};

/*
 * Sizes are powers of two times the ways; a cache of 0 bytes, a TLB of 0 pages is one that the CPU does not
 * have. Cycles are core clock cycles from dispatch to data, unloaded. Parts that are sold for one socket only
 * are given a second one as far away as their server sibling's, so that a workload means the same everywhere.
 */
struct memory_shape {
	u32 l1_bytes, l1_ways;
	u32 l2_bytes, l2_ways;
	u32 l3_bytes, l3_ways; /* the part that one workload has to itself */
	u32 l1_tlb_pages, l2_tlb_pages;
	u32 fill_buffers;
	u16 l1_cycles, l2_cycles, l3_cycles;
	u16 snoop_cycles;        /* on top of L3 where another core has to be asked */
	u16 modified_cycles;     /* on top of L3 where it has the line modified */
	u16 remote_cache_cycles; /* the other socket's caches */
	u16 local_dram_cycles, remote_dram_cycles;
	u16 walk_cycles;   /* a page walk, on top */
	u16 locked_cycles; /* a locked access, on top */
};

struct machine {
	const char *name;  /* as in [model] cpu: "skylake" */
	const char *title; /* "Skylake" */
	enum record_format format;
	enum source_encoding encoding;
	u32 mechanisms;   /* enum mechanism */
	u8 family, model; /* CPUID DisplayFamily, DisplayModel */
	u8 counters;      /* general-purpose */
	u8 fixed_counters;
	u64 pebs_counters; /* bits of the counters that IA32_PEBS_ENABLE knows; fixed ones from bit 32 */
	/* Those on which an event is precisely distributed, or has a reduced skid: precise_ip 3 asks for one
	 * of them, where there are any (icl_, glc_, tnt_, cmt_get_event_constraints() in core.c). */
	u64 distributed_counters;
	u64 offcore_bits[2];   /* that MSR_OFFCORE_RSP_0 and _1 take (intel_*_extra_regs); 0: no such one */
	u16 offcore_events[2]; /* the event of each: event select | unit mask << 8 */
	u32 load_latency_counters;
	u32 store_counters;
	u16 load_latency_event; /* event select | unit mask << 8; 0: none */
	u16 store_event;        /* precise store, store latency or MEM_INST_RETIRED.ALL_STORES; 0: none */
	u16 aux_event;          /* the load latency event's auxiliary, which must lead its group; 0: none */
	u8 counter_bits;        /* width: 40 (NetBurst, Core), 48 */
	u8 max_precise;         /* caps/max_precise (x86_pmu_max_precise() in arch/x86/events/core.c) */
	u16 smallest_period;    /* that the kernel allows; 1: none is too small */
	/* Of INST_RETIRED.ALL (event c0H, unit mask 01H): the smallest, and what it is cut to multiples of
	 * (hsw_, bdw_limit_period()); 0: as any other's. */
	u16 instructions_smallest, instructions_step;
	/* What the kernel's driver shows of it; NULL: nothing of the kind. */
	const char *kernel_name;   /* caps/pmu_name */
	const char *loads_string;  /* events/mem-loads, as Linux 6.1 has it */
	const char *stores_string; /* events/mem-stores */
	const char *aux_string;    /* events/mem-loads-aux */
	const char *pmu;           /* the PMU's name where it is not "cpu" */
	/* The machine whose cores are the others of a hybrid part, by name, and their PMU: the driver's names
	 * are the hybrid's then, and this machine is its P-core. NULL: all cores are alike. */
	const char *companion, *companion_pmu;
	struct memory_shape memory;
};

/* All of them, oldest first. */
extern const struct machine machines[];
extern const size_t machines_count;

/* By name; NULL where it is none of them. */
const struct machine *machine_find(const char *name);

/* An E-core: what Atoms from Gracemont on have in common. */
static inline bool machine_is_efficient(const struct machine *machine)
{
	return machine->encoding == ENCODING_GRACEMONT || machine->encoding == ENCODING_CRESTMONT;
}

/* Whether its PEBS can be the origin of pebsd's figures: load latency with data source. NULL where it can,
 * else the reason, a constant ("Goldmont's PEBS records have a data linear address, but no latency and no
 * data source"). */
const char *machine_refusal(const struct machine *machine);

#endif
