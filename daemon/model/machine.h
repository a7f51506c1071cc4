// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs that the model can imitate: the features of each PMU and the latencies of its memory. Hardware
 * facts are from Intel's manual, volume 3B chapter 18 (performance monitoring), and from
 * arch/x86/events/intel/{core,ds}.c of Linux 6.1, or 6.12 for CPUs that 6.1 does not know. machine.c names
 * the source of each. Cache sizes and latencies are rounded from published figures for the part: the model is
 * plausible, not a measurement.
 */
#ifndef PEBSD_MODEL_MACHINE_H
#define PEBSD_MODEL_MACHINE_H

#include "freestanding.h"

enum mechanism {
	MECHANISM_LOAD_LATENCY = 1 << 0,  /* 18.8.1.2 */
	MECHANISM_PRECISE_STORE = 1 << 1, /* 18.9.4.3: counter 3, enable bits 3 and 63 */
	MECHANISM_STORE_LATENCY = 1 << 2, /* Golden Cove and E-cores: stores have a latency */
	MECHANISM_PDIR = 1 << 3,          /* 18.9.4.4: counter 1 */
	MECHANISM_PDIR_ALONE = 1 << 4,    /* 06_2A, 06_2D: the other counters must not count */
	MECHANISM_REDUCED_SKID = 1 << 5,  /* 18.7.1.2 */
	MECHANISM_OUT_OF_BOUNDS = 1 << 6, /* 18.7.1.3: an index out of bounds sets OvfDSBuffer */
	MECHANISM_OFFCORE_RESPONSE = 1 << 7,
	MECHANISM_OFFCORE_AVERAGE = 1 << 8, /* bit 38: average latency of outstanding requests */
	MECHANISM_ADDRESS_ONLY = 1 << 9,    /* 18.7.1.1: data linear address, no source, no latency */
	MECHANISM_AT_RETIREMENT = 1 << 10,  /* NetBurst: tags; only MSR_IQ_COUNTER4 has PEBS */
	MECHANISM_LATENCY_SPLIT =
		1 << 11, /* cache and instruction latency; the threshold applies to the latter */
	MECHANISM_RETIRE_LATENCY =
		1 << 12, /* bits 47:32 of an adaptive record's first word: cycles since the last retirement */
};

enum record_format {
	RECORD_NETBURST_32, /* 18.18.5, 32-bit: FLAGS, IP, eight registers */
	RECORD_CORE,     /* NetBurst with 64-bit extensions, Core: the same in 64 bits, sixteen registers */
	RECORD_NEHALEM,  /* 0001b */
	RECORD_HASWELL,  /* 0010b */
	RECORD_SKYLAKE,  /* 0011b: Skylake, Goldmont */
	RECORD_ADAPTIVE, /* 0100b: Ice Lake */
	RECORD_FORMATS,
};

/* The table for the data source field of a record. See load_source.h. */
enum source_encoding {
	ENCODING_NONE,
	ENCODING_NEHALEM,
	ENCODING_SANDY_BRIDGE, /* Sandy Bridge to Broadwell */
	ENCODING_SKYLAKE,
	ENCODING_SKYLAKE_SERVER,
	ENCODING_ICE_LAKE,    /* like Skylake server's; bits 6 and 7 have no meaning yet */
	ENCODING_GOLDEN_COVE, /* Sapphire and Granite Rapids: with block bits (x86_pmu.pebs_block, core.c) */
	ENCODING_GOLDEN_COVE_CLIENT, /* Alder Lake's P-core: like Golden Cove, but 8 and 9 are embedded DRAM */
	ENCODING_GRACEMONT,          /* E-cores; lock in bit 4, TLB in bit 5 (grt_latency_data() in ds.c) */
	ENCODING_CRESTMONT,          /* lock in bit 5, TLB in bit 6 (cmt_latency_data(), 6.12) */
};

/*
 * Sizes are a power of two times the ways. A cache of 0 bytes or a TLB of 0 pages does not exist on that CPU.
 * Cycles are core clock cycles from dispatch to data, without queueing. A part that is sold for one socket
 * only is modelled with a second socket, which is as far away as on its server sibling. A workload therefore
 * means the same on all machines.
 */
struct memory_shape {
	u32 l1_bytes, l1_ways;
	u32 l2_bytes, l2_ways;
	u32 l3_bytes, l3_ways; /* the share that one workload has for itself */
	u32 l1_tlb_pages, l2_tlb_pages;
	u32 fill_buffers;
	u16 l1_cycles, l2_cycles, l3_cycles;
	u16 snoop_cycles;        /* added to L3 if another core must be snooped */
	u16 modified_cycles;     /* added to L3 if another core has the line modified */
	u16 remote_cache_cycles; /* the other socket's caches */
	u16 local_dram_cycles, remote_dram_cycles;
	u16 walk_cycles;   /* added for a page walk */
	u16 locked_cycles; /* added for a locked access */
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
	u64 pebs_counters; /* bits of IA32_PEBS_ENABLE that select counters; fixed ones from bit 32 */
	/*
	 * Counters on which an event is precisely distributed or has reduced skid. If there are any,
	 * precise_ip 3 requests one of them (icl_, glc_, tnt_, cmt_get_event_constraints() in core.c).
	 */
	u64 distributed_counters;
	u64 offcore_bits[2];   /* valid bits of MSR_OFFCORE_RSP_0, _1 (intel_*_extra_regs); 0: no register */
	u16 offcore_events[2]; /* event for each of them: event select | unit mask << 8 */
	u32 load_latency_counters;
	u32 store_counters;
	u16 load_latency_event; /* event select | unit mask << 8; 0: none */
	u16 store_event;        /* precise store, store latency or MEM_INST_RETIRED.ALL_STORES; 0: none */
	u16 aux_event;          /* auxiliary event that must lead the load latency event's group; 0: none */
	u8 counter_bits;        /* width: 40 (NetBurst, Core), 48 */
	u8 max_precise;         /* caps/max_precise (x86_pmu_max_precise() in arch/x86/events/core.c) */
	u16 smallest_period;    /* smallest period that the kernel allows; 1: no limit */
	/*
	 * For INST_RETIRED.ALL (event c0H, unit mask 01H): the smallest period, and the step: a period is
	 * rounded down to a multiple of it (hsw_, bdw_limit_period()). 0: as for any other event.
	 */
	u16 instructions_smallest, instructions_step;
	/* Values that the kernel's driver shows in sysfs. NULL: not shown. */
	const char *kernel_name;   /* caps/pmu_name */
	const char *loads_string;  /* events/mem-loads in Linux 6.1 */
	const char *stores_string; /* events/mem-stores */
	const char *aux_string;    /* events/mem-loads-aux */
	const char *pmu;           /* the PMU's name if it is not "cpu" */
	/*
	 * For a hybrid part: name of the machine with its other cores, and their PMU. This machine is then
	 * the P-core, and the driver's names are those of the hybrid. NULL: all cores are the same.
	 */
	const char *companion, *companion_pmu;
	struct memory_shape memory;
};

/* All machines, oldest first. */
extern const struct machine machines[];
extern const size_t machines_count;

/* Returns the machine with this name, or NULL. */
const struct machine *machine_find(const char *name);

/* Returns whether the machine is an E-core: an Atom since Gracemont. */
static inline bool machine_is_efficient(const struct machine *machine)
{
	return machine->encoding == ENCODING_GRACEMONT || machine->encoding == ENCODING_CRESTMONT;
}

/*
 * Returns NULL if the machine's PEBS has load latency with a data source, which pebsd needs. Otherwise
 * returns the reason as a constant ("Goldmont's PEBS records have a data linear address, but no latency and
 * no data source").
 */
const char *machine_refusal(const struct machine *machine);

#endif
