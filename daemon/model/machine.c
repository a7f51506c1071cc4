// SPDX-License-Identifier: GPL-2.0
/*
 * Sources of the facts. Mechanisms and record formats: the manual's volume 3B, 18.7 (Goldmont), 18.8
 * (Nehalem), 18.9 (Sandy Bridge), 18.18 (NetBurst), and the parts of chapter 18 on later machines. Event
 * codes and the counters that they may use: pebs_constraints of arch/x86/events/intel/ds.c, Linux 6.1. Texts
 * of sysfs, names and smallest periods: EVENT_ATTR_STR, intel_pmu_init() and *_limit_period() of
 * arch/x86/events/intel/core.c, Linux 6.1. Linux 6.1 does not know Granite Rapids and Sierra Forest: their
 * facts are from the same places of Linux 6.12.
 */
#include "machine.h"

#define EVENT(select, umask) ((select) | (umask) << 8)

/*
 * MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD, later MEM_TRANS_RETIRED.LOAD_LATENCY. Section 18.8.1.2 prints the
 * former as 100H, which is a typing error: the event is 0BH with unit mask 10H.
 */
#define LATENCY_ABOVE_THRESHOLD EVENT(0x0b, 0x10)
#define LOAD_LATENCY            EVENT(0xcd, 0x01)
#define PRECISE_STORE           EVENT(0xcd, 0x02)
#define ALL_STORES              EVENT(0xd0, 0x82)
#define LOADS_AUX               EVENT(0x03, 0x82)
/* MEM_UOPS_RETIRED.LOAD_LATENCY and STORE_LATENCY of E-cores. */
#define EFFICIENT_LOADS  EVENT(0xd0, 0x05)
#define EFFICIENT_STORES EVENT(0xd0, 0x06)

#define LOADS_NEHALEM       "event=0x0b,umask=0x10,ldlat=3"
#define LOADS_SANDY_BRIDGE  "event=0xcd,umask=0x1,ldlat=3"
#define STORES_SANDY_BRIDGE "event=0xcd,umask=0x2"
#define STORES_HASWELL      "event=0xd0,umask=0x82"
#define AUX_SAPPHIRE_RAPIDS "event=0x03,umask=0x82"
#define LOADS_GRACEMONT     "event=0xd0,umask=0x5,ldlat=3"
#define STORES_GRACEMONT    "event=0xd0,umask=0x6"

#define KB(n) ((n) << 10)

#define FOUR_COUNTERS .counters = 4, .fixed_counters = 3, .counter_bits = 48, .pebs_counters = 0xf
/* With adaptive PEBS ("extended PEBS"), fixed counters sample too. */
#define TWELVE_COUNTERS \
	.counters = 8, .fixed_counters = 4, .counter_bits = 48, .pebs_counters = 0xf000000ffULL
#define FIXED_0 (1ULL << 32)

/* Kilobytes, ways, cycles. TLB: pages of the first and second level, cycles of a walk. */
#define L1(size, ways, cycles)   .l1_bytes = KB(size), .l1_ways = (ways), .l1_cycles = (cycles)
#define L2(size, ways, cycles)   .l2_bytes = KB(size), .l2_ways = (ways), .l2_cycles = (cycles)
#define L3(size, ways, cycles)   .l3_bytes = KB(size), .l3_ways = (ways), .l3_cycles = (cycles)
#define TLB(first, second, walk) .l1_tlb_pages = (first), .l2_tlb_pages = (second), .walk_cycles = (walk)
#define BUFFERS(count)           .fill_buffers = (count)
#define OTHER_CORES(clean, modified, remote) \
	.snoop_cycles = (clean), .modified_cycles = (modified), .remote_cache_cycles = (remote)
#define DRAM(local, remote) .local_dram_cycles = (local), .remote_dram_cycles = (remote)
#define LOCKED(cycles)      .locked_cycles = (cycles)

/* Valid bits of both off-core response registers. */
#define OFFCORE(first, second) .offcore_bits = {(first), (second)}
#define OFFCORE_TWICE(bits)    OFFCORE(bits, bits), .offcore_events = {EVENT(0xb7, 0x01), EVENT(0xbb, 0x01)}

#define SANDY_BRIDGE_MECHANISMS \
	(MECHANISM_LOAD_LATENCY | MECHANISM_PRECISE_STORE | MECHANISM_PDIR | MECHANISM_OFFCORE_RESPONSE)
/*
 * Since Haswell, records of any memory event have a data linear address. So an ordinary event samples stores.
 */
#define HASWELL_MECHANISMS (MECHANISM_LOAD_LATENCY | MECHANISM_PDIR | MECHANISM_OFFCORE_RESPONSE)
/* PDIR was replaced by another mechanism on fixed counter 0 ("PDist"). */
#define ICE_LAKE_MECHANISMS    (MECHANISM_LOAD_LATENCY | MECHANISM_OFFCORE_RESPONSE)
#define GOLDEN_COVE_MECHANISMS (ICE_LAKE_MECHANISMS | MECHANISM_STORE_LATENCY | MECHANISM_LATENCY_SPLIT)
/*
 * Golden Cove and its successor in Granite Rapids (intel_pmu_init_glc() in core.c, 6.12). PDist is on fixed
 * counter 0 for instructions, and on counter 0 for all other events (glc_get_event_constraints()). Loads are
 * on counters 1 to 7, stores on 0 (intel_glc_pebs_event_constraints in ds.c; 6.1 calls both spr).
 */
#define GOLDEN_COVE_EVENTS                                                                            \
	.format = RECORD_ADAPTIVE, TWELVE_COUNTERS, OFFCORE(0x3fffffffff, 0x3fffffffff),              \
	.offcore_events = {EVENT(0x2a, 0x01), EVENT(0x2b, 0x01)}, .load_latency_event = LOAD_LATENCY, \
	.load_latency_counters = 0xfe, .store_event = PRECISE_STORE, .store_counters = 0x1,           \
	.distributed_counters = FIXED_0 | 0x1, .max_precise = 3, .loads_string = LOADS_SANDY_BRIDGE,  \
	.stores_string = STORES_SANDY_BRIDGE,                                                         \
	.smallest_period = 1 /* spr_limit_period(): 128 with precise_ip 3, which loads cannot use */
/*
 * E-cores have no fixed counter 3. Load latency is on counters 0 and 1 (intel_grt_pebs_event_constraints in
 * ds.c).
 */
#define EFFICIENT_EVENTS                                                                          \
	.format = RECORD_ADAPTIVE, .fixed_counters = 3, .counter_bits = 48,                       \
	.mechanisms = GOLDEN_COVE_MECHANISMS, .load_latency_event = EFFICIENT_LOADS,              \
	.load_latency_counters = 0x3, .store_event = EFFICIENT_STORES, .max_precise = 3,          \
	.loads_string = LOADS_GRACEMONT, .stores_string = STORES_GRACEMONT, .smallest_period = 1, \
	.offcore_events = {EVENT(0xb7, 0x01), EVENT(0xb7, 0x02)}

const struct machine machines[] = {
	{
		/*
		 * Northwood, without 64-bit extensions. Linux's driver for it does not use PEBS for sampling.
		 */
		.name = "netburst",
		.title = "NetBurst",
		.family = 0x0f,
		.model = 0x02,
		.format = RECORD_NETBURST_32,
		.encoding = ENCODING_NONE,
		.mechanisms = MECHANISM_AT_RETIREMENT,
		.counters = 18,
		.counter_bits = 40,
		.pebs_counters = MODEL_BIT(16), /* only MSR_IQ_COUNTER4, the 17th of eighteen */
		.smallest_period = 1,
		.memory = {L1(8, 4, 2), L2(512, 8, 18), L3(0, 0, 18), TLB(64, 0, 55), BUFFERS(8),
			   OTHER_CORES(250, 300, 330), DRAM(280, 420), LOCKED(80)},
	},
	{
		.name = "core",
		.title = "Core",
		.family = 0x06,
		.model = 0x0f,
		.format = RECORD_CORE,
		.encoding = ENCODING_NONE,
		.counters = 2,
		.fixed_counters = 3,
		.counter_bits = 40,
		.pebs_counters = MODEL_BIT(0), /* intel_core2_pebs_event_constraints */
		.kernel_name = "core2",
		.max_precise = 2,
		.smallest_period = 1,
		.memory = {L1(32, 8, 3), L2(4096, 16, 14), L3(0, 0, 14), TLB(16, 256, 20), BUFFERS(8),
			   OTHER_CORES(90, 110, 240), DRAM(200, 320), LOCKED(20)},
	},
	{
		.name = "nehalem",
		.title = "Nehalem",
		.family = 0x06,
		.model = 0x1a,
		.format = RECORD_NEHALEM,
		.encoding = ENCODING_NEHALEM,
		.mechanisms = MECHANISM_LOAD_LATENCY | MECHANISM_OFFCORE_RESPONSE,
		FOUR_COUNTERS,
		OFFCORE(0xffff, 0),
		.offcore_events = {EVENT(0xb7, 0x01)},
		.load_latency_event = LATENCY_ABOVE_THRESHOLD,
		.load_latency_counters = 0xf,
		.kernel_name = "nehalem",
		.max_precise = 2,
		.loads_string = LOADS_NEHALEM,
		.smallest_period = 32, /* nhm_limit_period() */
		.memory = {L1(32, 8, 4), L2(256, 8, 10), L3(4096, 16, 40), TLB(64, 512, 28), BUFFERS(10),
			   OTHER_CORES(25, 36, 220), DRAM(190, 310), LOCKED(20)},
	},
	{
		.name = "sandybridge",
		.title = "Sandy Bridge",
		.family = 0x06,
		.model = 0x2a,
		.format = RECORD_NEHALEM,
		.encoding = ENCODING_SANDY_BRIDGE,
		.mechanisms = SANDY_BRIDGE_MECHANISMS | MECHANISM_PDIR_ALONE,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3f807f8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0x8,
		.store_event = PRECISE_STORE,
		.store_counters = 0x8,
		.kernel_name = "sandybridge",
		.max_precise = 2,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_SANDY_BRIDGE,
		.smallest_period = 1,
		.memory = {L1(32, 8, 4), L2(256, 8, 12), L3(4096, 16, 30), TLB(64, 512, 28), BUFFERS(10),
			   OTHER_CORES(18, 32, 230), DRAM(190, 310), LOCKED(20)},
	},
	{
		.name = "sandybridge-ep",
		.title = "Sandy Bridge-EP",
		.family = 0x06,
		.model = 0x2d,
		.format = RECORD_NEHALEM,
		.encoding = ENCODING_SANDY_BRIDGE,
		.mechanisms = SANDY_BRIDGE_MECHANISMS | MECHANISM_PDIR_ALONE,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0x8,
		.store_event = PRECISE_STORE,
		.store_counters = 0x8,
		.kernel_name = "sandybridge",
		.max_precise = 2,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_SANDY_BRIDGE,
		.smallest_period = 1,
		.memory = {L1(32, 8, 4), L2(256, 8, 12), L3(5120, 20, 38), TLB(64, 512, 28), BUFFERS(10),
			   OTHER_CORES(24, 40, 240), DRAM(210, 330), LOCKED(20)},
	},
	{
		.name = "ivybridge",
		.title = "Ivy Bridge-EP",
		.family = 0x06,
		.model = 0x3e,
		.format = RECORD_NEHALEM,
		.encoding = ENCODING_SANDY_BRIDGE,
		.mechanisms = SANDY_BRIDGE_MECHANISMS,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0x8,
		.store_event = PRECISE_STORE,
		.store_counters = 0x8,
		.kernel_name = "ivybridge",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_SANDY_BRIDGE,
		.smallest_period = 1,
		.memory = {L1(32, 8, 4), L2(256, 8, 12), L3(5120, 20, 40), TLB(64, 512, 28), BUFFERS(10),
			   OTHER_CORES(24, 40, 240), DRAM(210, 330), LOCKED(20)},
	},
	{
		.name = "haswell",
		.title = "Haswell-EP",
		.family = 0x06,
		.model = 0x3f,
		.format = RECORD_HASWELL,
		.encoding = ENCODING_SANDY_BRIDGE,
		.mechanisms = HASWELL_MECHANISMS,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		/*
		 * Linux schedules the event on any of these. Intel's event table of the part only names
		 * counter 3.
		 */
		.load_latency_counters = 0xf,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "haswell",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 32, /* hsw_limit_period() */
		.instructions_smallest = 128,
		.memory = {L1(32, 8, 4), L2(256, 8, 12), L3(5120, 20, 46), TLB(64, 1024, 30), BUFFERS(10),
			   OTHER_CORES(26, 44, 260), DRAM(220, 350), LOCKED(19)},
	},
	{
		.name = "broadwell",
		.title = "Broadwell-EP",
		.family = 0x06,
		.model = 0x4f,
		.format = RECORD_HASWELL,
		.encoding = ENCODING_SANDY_BRIDGE,
		.mechanisms = HASWELL_MECHANISMS,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0xf,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "broadwell",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 1,
		.instructions_smallest = 128, /* bdw_limit_period() */
		.instructions_step = 64,
		.memory = {L1(32, 8, 4), L2(256, 8, 12), L3(5120, 20, 50), TLB(64, 1536, 28), BUFFERS(10),
			   OTHER_CORES(26, 46, 270), DRAM(225, 355), LOCKED(19)},
	},
	{
		.name = "skylake",
		.title = "Skylake",
		.family = 0x06,
		.model = 0x4e,
		.format = RECORD_SKYLAKE,
		.encoding = ENCODING_SKYLAKE,
		.mechanisms = HASWELL_MECHANISMS,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0xf,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "skylake",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 1,
		.memory = {L1(32, 8, 5), L2(256, 4, 12), L3(4096, 16, 42), TLB(64, 1536, 27), BUFFERS(12),
			   OTHER_CORES(24, 40, 270), DRAM(220, 350), LOCKED(18)},
	},
	{
		.name = "skylake-server",
		.title = "Skylake-SP",
		.family = 0x06,
		.model = 0x55,
		.format = RECORD_SKYLAKE,
		.encoding = ENCODING_SKYLAKE_SERVER,
		.mechanisms = HASWELL_MECHANISMS,
		FOUR_COUNTERS,
		OFFCORE_TWICE(0x3fffff8fff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0xf,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "skylake",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 1,
		/* L3: four slices of 1.375 MB, eleven ways */
		.memory = {L1(32, 8, 5), L2(1024, 16, 14), L3(5632, 11, 68), TLB(64, 1536, 27), BUFFERS(12),
			   OTHER_CORES(28, 52, 310), DRAM(240, 390), LOCKED(18)},
	},
	{
		.name = "goldmont",
		.title = "Goldmont",
		.family = 0x06,
		.model = 0x5c,
		.format = RECORD_SKYLAKE,
		.encoding = ENCODING_NONE,
		.mechanisms = MECHANISM_REDUCED_SKID | MECHANISM_OUT_OF_BOUNDS | MECHANISM_OFFCORE_RESPONSE |
			      MECHANISM_OFFCORE_AVERAGE | MECHANISM_ADDRESS_ONLY,
		.counters = 4,
		.fixed_counters = 3,
		.counter_bits = 48,
		.pebs_counters = MODEL_BIT(0), /* intel_glm_pebs_event_constraints */
		OFFCORE(0x760005ffbf, 0x360005ffbf),
		.offcore_events = {EVENT(0xb7, 0x01), EVENT(0xb7, 0x02)},
		.kernel_name = "goldmont",
		.max_precise = 3,
		.smallest_period = 1,
		/* L1: the real part has 24 KB in six ways */
		.memory = {L1(32, 8, 3), L2(1024, 16, 17), L3(0, 0, 17), TLB(32, 512, 32), BUFFERS(8),
			   OTHER_CORES(60, 80, 260), DRAM(210, 340), LOCKED(17)},
	},
	{
		.name = "icelake",
		.title = "Ice Lake",
		.family = 0x06,
		.model = 0x7e,
		.format = RECORD_ADAPTIVE,
		.encoding = ENCODING_SKYLAKE, /* intel_pmu_pebs_data_source_skl(false): a client part */
		.mechanisms = ICE_LAKE_MECHANISMS,
		TWELVE_COUNTERS,
		.distributed_counters = FIXED_0,
		OFFCORE_TWICE(0x3fffffbfff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0xff,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "icelake",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 1,
		.memory = {L1(48, 12, 5), L2(512, 8, 13), L3(4096, 16, 45), TLB(64, 2048, 27), BUFFERS(12),
			   OTHER_CORES(24, 42, 280), DRAM(240, 380), LOCKED(18)},
	},
	{
		.name = "icelake-server",
		.title = "Ice Lake-SP",
		.family = 0x06,
		.model = 0x6a,
		.format = RECORD_ADAPTIVE,
		.encoding = ENCODING_ICE_LAKE,
		.mechanisms = ICE_LAKE_MECHANISMS,
		TWELVE_COUNTERS,
		.distributed_counters = FIXED_0,
		OFFCORE_TWICE(0x3fffffbfff),
		.load_latency_event = LOAD_LATENCY,
		.load_latency_counters = 0xff,
		.store_event = ALL_STORES,
		.store_counters = 0xf,
		.kernel_name = "icelake",
		.max_precise = 3,
		.loads_string = LOADS_SANDY_BRIDGE,
		.stores_string = STORES_HASWELL,
		.smallest_period = 1,
		/* L3: four slices of 1.5 MB, twelve ways */
		.memory = {L1(48, 12, 5), L2(1280, 20, 14), L3(6144, 12, 70), TLB(64, 2048, 27), BUFFERS(12),
			   OTHER_CORES(30, 56, 330), DRAM(250, 410), LOCKED(18)},
	},
	{
		.name = "sapphirerapids",
		.title = "Sapphire Rapids",
		.family = 0x06,
		.model = 0x8f,
		.encoding = ENCODING_GOLDEN_COVE,
		.mechanisms = GOLDEN_COVE_MECHANISMS,
		GOLDEN_COVE_EVENTS,
		.aux_event = LOADS_AUX,
		.kernel_name = "sapphire_rapids",
		.aux_string = AUX_SAPPHIRE_RAPIDS,
		/* L3: four slices of 1.875 MB, fifteen ways */
		.memory = {L1(48, 12, 5), L2(2048, 16, 16), L3(7680, 15, 74), TLB(96, 2048, 29), BUFFERS(16),
			   OTHER_CORES(34, 60, 360), DRAM(280, 460), LOCKED(18)},
	},
	{
		/* Alder Lake's P-core. Its E-cores are "gracemont", with the same socket, memory and driver. */
		.name = "alderlake",
		.title = "Alder Lake",
		.family = 0x06,
		.model = 0x97,
		.encoding = ENCODING_GOLDEN_COVE_CLIENT, /* intel_pmu_pebs_data_source_adl() */
		.mechanisms = GOLDEN_COVE_MECHANISMS,
		GOLDEN_COVE_EVENTS,
		.aux_event = LOADS_AUX,
		.kernel_name = "alderlake_hybrid",
		.aux_string = AUX_SAPPHIRE_RAPIDS,
		.pmu = "cpu_core",
		.companion = "gracemont",
		.companion_pmu = "cpu_atom",
		/* L2: the real part has ten ways, each with twice as many lines */
		.memory = {L1(48, 12, 5), L2(1280, 20, 15), L3(6144, 12, 65), TLB(96, 2048, 29), BUFFERS(16),
			   OTHER_CORES(30, 54, 350), DRAM(270, 440), LOCKED(18)},
	},
	{
		/* Alder Lake-N, which has only E-cores. */
		.name = "gracemont",
		.title = "Gracemont",
		.family = 0x06,
		.model = 0xbe,
		.encoding = ENCODING_GRACEMONT,
		EFFICIENT_EVENTS,
		.counters = 6,
		.pebs_counters = 0x70000003fULL,
		.store_counters = 0x3f,
		.distributed_counters = FIXED_0 | 0x1, /* tnt_get_event_constraints() */
		OFFCORE(0x3fffffffff, 0x3fffffffff),   /* intel_grt_extra_regs */
		.kernel_name = "gracemont",
		/* L2: 2 MB for four cores; one core may well use half of it */
		.memory = {L1(32, 8, 3), L2(1024, 16, 17), L3(6144, 12, 62), TLB(64, 2048, 30), BUFFERS(8),
			   OTHER_CORES(32, 56, 350), DRAM(270, 440), LOCKED(18)},
	},
	{
		/*
		 * Crestmont cores. The driver's off-core response bits (intel_cmt_extra_regs) include more
		 * than those in offcore.h.
		 */
		.name = "sierraforest",
		.title = "Sierra Forest",
		.family = 0x06,
		.model = 0xaf,
		.encoding = ENCODING_CRESTMONT,
		EFFICIENT_EVENTS,
		.counters = 8,
		.pebs_counters = 0x7000000ffULL,
		.store_counters = 0xff, /* intel_cmt_pebs_event_constraints, 7.3; 6.12 has Gracemont's 3fH */
		.distributed_counters = FIXED_0 | 0x3, /* cmt_get_event_constraints() */
		OFFCORE(0x800ff3ffffffffff, 0xff3ffffffffff),
		.kernel_name = "crestmont",
		/* L2: one core's share of 4 MB */
		.memory = {L1(32, 8, 3), L2(1024, 16, 17), L3(6144, 12, 78), TLB(64, 2048, 30), BUFFERS(16),
			   OTHER_CORES(36, 64, 370), DRAM(290, 470), LOCKED(18)},
	},
	{
		/* No aux_event: intel_pmu_init() does not set PMU_FL_MEM_LOADS_AUX for this CPU. */
		.name = "graniterapids",
		.title = "Granite Rapids",
		.family = 0x06,
		.model = 0xad,
		.encoding = ENCODING_GOLDEN_COVE,
		.mechanisms = GOLDEN_COVE_MECHANISMS | MECHANISM_RETIRE_LATENCY,
		GOLDEN_COVE_EVENTS,
		.kernel_name = "granite_rapids",
		/* L1D as on Sapphire Rapids; only L1I grew. L3: four slices of 1.75 MB, fourteen ways */
		.memory = {L1(48, 12, 5), L2(2048, 16, 16), L3(7168, 14, 78), TLB(96, 2048, 29), BUFFERS(16),
			   OTHER_CORES(36, 64, 380), DRAM(290, 480), LOCKED(18)},
	},
};

const size_t machines_count = sizeof(machines) / sizeof(machines[0]);

const struct machine *machine_find(const char *name)
{
	for (size_t i = 0; i < machines_count; i++)
		if (same_text(machines[i].name, name))
			return &machines[i];
	return NULL;
}

const char *machine_refusal(const struct machine *machine)
{
	if (machine->mechanisms & MECHANISM_LOAD_LATENCY)
		return NULL;
	if (machine->mechanisms & MECHANISM_ADDRESS_ONLY) /* 18.7.1.1 */
		return "Goldmont's PEBS records have a data linear address, but no latency and no data "
		       "source";
	if (machine->mechanisms & MECHANISM_AT_RETIREMENT) /* 18.18.5, 18.18.8 */
		return "NetBurst's PEBS records have only registers: no address, no latency, no data "
		       "source";
	return "Core's PEBS records have only registers: no address, no latency, no data source";
}
