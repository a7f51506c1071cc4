// SPDX-License-Identifier: GPL-2.0
#include "ibs_source.h"

/* The fields of union perf_mem_data_src. */
#define LVL(bits)      ((u64)(bits) << 5)
#define LVL_ABSENT     LVL(1)
#define SNOOP_ABSENT   (1ULL << 19)
#define SNOOP_MODIFIED ((u64)SNOOP_BIT_HITM << 19)
#define LOCK_ABSENT    (1ULL << 24)
#define LOCK_LOCKED    ((u64)LOCK_BIT_LOCKED << 24)
#define TLB(bits)      ((u64)(bits) << 26)
#define TLB_ABSENT     TLB(1)
#define NUMBER(number) ((u64)(number) << 33)
#define REMOTE         (1ULL << 37)
#define HOPS(hops)     ((u64)(hops) << 43)

#define HIT(bits)     LVL(LVL_HIT | (bits))
#define NEAR_CACHE    0x400 /* PERF_MEM_LVL_REM_CCE1 */
#define FAR_CACHE     0x800 /* PERF_MEM_LVL_REM_CCE2 */
#define REMOTE_MEMORY 0x100 /* PERF_MEM_LVL_REM_RAM1 */
#define SAME_NODE     HOPS(1)
#define OTHER_NODE    (REMOTE | HOPS(2))

#define LEVEL_BITS LVL(0x3fff)

#define ANY_SOURCE 0x1fU /* a data source, before or since Zen 4 */

/*
 * Zen 3's first models: for a prefetch, and for a miss in flight, neither the data source nor the L2 miss bit
 * is reliable.
 */
static bool is_erratum_1293(const struct ibs_machine *machine, u64 data3)
{
	return machine->family == 0x19 && machine->model <= 0x0f &&
	       data3 & (IBS_DATA3_SOFTWARE_PREFETCH | IBS_DATA3_NO_BUFFER);
}

static bool is_zen4(const struct ibs_machine *machine)
{
	return machine->capabilities & IBS_CAPABILITY_ZEN4;
}

/* Zen 3 and 3+ do not report the state of a cache line. */
static bool reports_state(const struct ibs_machine *machine)
{
	return !(machine->family == 0x19 &&
		 (machine->model <= 0x0f || (machine->model >= 0x20 && machine->model <= 0x5f)));
}

static u64 source_field(const struct ibs_machine *machine, u64 data2)
{
	u64 lower = data2 & IBS_DATA2_SOURCE;

	return is_zen4(machine) ? lower | (data2 & IBS_DATA2_SOURCE_UPPER) >> 3 : lower;
}

enum ibs_operation ibs_operation(u64 data3)
{
	if (data3 & IBS_DATA3_LOAD)
		return IBS_OPERATION_LOAD;
	return data3 & IBS_DATA3_STORE ? IBS_OPERATION_STORE : IBS_OPERATION_OTHER;
}

bool ibs_miss_latency(u64 data3, u32 *ret)
{
	if (ibs_operation(data3) != IBS_OPERATION_LOAD || !(data3 & IBS_DATA3_MISS))
		return false;
	*ret = (u32)(data3 >> IBS_DATA3_LATENCY_SHIFT & 0xffff);
	return true;
}

/* -- as the driver encodes it -- */

/* Returns the level for a load's data source; 0: none. */
static u64 level_of_source(const struct ibs_machine *machine, u64 data2)
{
	bool remote = data2 & IBS_DATA2_REMOTE;
	u64 source = source_field(machine, data2);

	/* These two sources mean the same on all machines. */
	if (source == IBS_SOURCE_DRAM)
		return remote ? HIT(REMOTE_MEMORY) | NUMBER(LVL_NUM_RAM) | OTHER_NODE
			      : HIT(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM);
	if (source == IBS_SOURCE_IO)
		return HIT(LVL_IO) | NUMBER(LVL_NUM_IO);
	if (!is_zen4(machine)) {
		if (source == IBS_SOURCE_LOCAL_CACHE)
			return HIT(LVL_L3 | NEAR_CACHE) | NUMBER(LVL_NUM_ANY_CACHE) | SAME_NODE;
		if (source == IBS_SOURCE_REMOTE_CACHE)
			return HIT(FAR_CACHE) | NUMBER(LVL_NUM_ANY_CACHE) | OTHER_NODE;
		return 0;
	}
	switch (source) {
	case IBS_SOURCE_ZEN4_LOCAL_CACHE:
		return HIT(LVL_L3) | NUMBER(LVL_NUM_L3);
	case IBS_SOURCE_ZEN4_NEAR_CACHE:
		return HIT(NEAR_CACHE) | NUMBER(LVL_NUM_ANY_CACHE) | REMOTE | SAME_NODE;
	case IBS_SOURCE_ZEN4_FAR_CACHE:
		return HIT(FAR_CACHE) | NUMBER(LVL_NUM_ANY_CACHE) | OTHER_NODE;
	case IBS_SOURCE_ZEN4_PMEM:
		return NUMBER(LVL_NUM_PMEM) | (remote ? OTHER_NODE : 0);
	case IBS_SOURCE_ZEN4_EXTENSION_MEMORY:
		return NUMBER(LVL_NUM_CXL) | (remote ? OTHER_NODE : 0);
	default:
		return 0;
	}
}

static u64 level_of(const struct ibs_machine *machine, u64 data2, u64 data3)
{
	u64 level = 0;

	if (data3 & IBS_DATA3_UNCACHEABLE && source_field(machine, data2) != IBS_SOURCE_IO)
		return HIT(LVL_UNCACHED) | NUMBER(LVL_NUM_UNCACHED);
	if (!(data3 & IBS_DATA3_MISS))
		return HIT(LVL_L1) | NUMBER(LVL_NUM_L1);
	if (!(data3 & IBS_DATA3_L2_MISS) && !is_erratum_1293(machine, data3))
		return HIT(LVL_L2) | NUMBER(LVL_NUM_L2);
	if (ibs_operation(data3) == IBS_OPERATION_LOAD)
		level = level_of_source(machine, data2);
	if (level)
		return level;
	if (data3 & IBS_DATA3_NO_BUFFER)
		return HIT(LVL_LFB) | NUMBER(LVL_NUM_LFB);
	return LVL_ABSENT | NUMBER(LVL_NUM_NA);
}

/*
 * Linux 6.1 sets only level bits, with two exceptions. For a source without a level bit, it sets the level number,
 * hops and the remote bit. For I/O, it sets the level bit and the level number.
 */
static u64 level_of_6_1(u64 level)
{
	u64 number = DATA_SOURCE_LVL_NUM(level);

	if (number == LVL_NUM_IO)
		return LVL(LVL_IO) | NUMBER(LVL_NUM_IO);
	return level & LEVEL_BITS ? level & LEVEL_BITS : level;
}

static u64 snoop_of(const struct ibs_machine *machine, u64 data2, u64 data3, u64 level)
{
	u64 source = source_field(machine, data2);
	bool cache = is_zen4(machine) ? source == IBS_SOURCE_ZEN4_LOCAL_CACHE ||
						source == IBS_SOURCE_ZEN4_NEAR_CACHE ||
						source == IBS_SOURCE_ZEN4_FAR_CACHE
				      : source == IBS_SOURCE_LOCAL_CACHE;

	if (!reports_state(machine) || ibs_operation(data3) != IBS_OPERATION_LOAD ||
	    level & LVL(LVL_L1 | LVL_L2) || data2 & IBS_DATA2_OWNED || !cache)
		return SNOOP_ABSENT;
	return SNOOP_MODIFIED;
}

static u64 tlb_of(u64 data3)
{
	if (!(data3 & IBS_DATA3_LINEAR_VALID))
		return TLB_ABSENT;
	if (!(data3 & IBS_DATA3_L1_TLB_MISS))
		return TLB(TLB_BIT_L1 | TLB_BIT_HIT);
	return TLB(TLB_BIT_L2 | (data3 & IBS_DATA3_L2_TLB_MISS ? TLB_BIT_MISS : TLB_BIT_HIT));
}

u64 ibs_data_src(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver)
{
	enum ibs_operation operation = ibs_operation(data3);
	u64 level;

	if (operation == IBS_OPERATION_OTHER)
		return (u64)operation | LVL_ABSENT | SNOOP_ABSENT | LOCK_ABSENT | TLB_ABSENT |
		       (driver == IBS_DRIVER_6_1 ? 0 : NUMBER(LVL_NUM_NA));
	if (is_erratum_1293(machine, data3))
		data2 = 0;
	level = level_of(machine, data2, data3);
	if (driver == IBS_DRIVER_6_1)
		level = level_of_6_1(level);
	return (u64)operation | level | snoop_of(machine, data2, data3, level) | tlb_of(data3) |
	       (data3 & IBS_DATA3_LOCKED ? LOCK_LOCKED : LOCK_ABSENT);
}

/* -- pebsd's classes -- */

/* By data source: enum source plus 1. 0: no source, or a reserved one. */
static const u8 sources[ANY_SOURCE + 1] = {
	[IBS_SOURCE_LOCAL_CACHE] = SOURCE_LOCAL_CACHE + 1,
	[IBS_SOURCE_DRAM] = SOURCE_LOCAL_DRAM + 1,
	[IBS_SOURCE_REMOTE_CACHE] = SOURCE_REMOTE_CACHE + 1,
	[IBS_SOURCE_IO] = SOURCE_IO + 1,
};

static const u8 zen4_sources[ANY_SOURCE + 1] = {
	[IBS_SOURCE_ZEN4_LOCAL_CACHE] = SOURCE_L3 + 1,
	[IBS_SOURCE_ZEN4_NEAR_CACHE] = SOURCE_LOCAL_CACHE + 1,
	[IBS_SOURCE_DRAM] = SOURCE_LOCAL_DRAM + 1,
	[IBS_SOURCE_ZEN4_FAR_CACHE] = SOURCE_REMOTE_CACHE + 1,
	[IBS_SOURCE_ZEN4_PMEM] = SOURCE_PMEM + 1,
	[IBS_SOURCE_IO] = SOURCE_IO + 1,
	[IBS_SOURCE_ZEN4_EXTENSION_MEMORY] = SOURCE_CXL + 1,
};

static enum source missed_source(const struct ibs_machine *machine, u64 data2, u64 data3,
				 enum ibs_driver driver)
{
	u64 field = source_field(machine, data2);
	u8 source = ibs_operation(data3) == IBS_OPERATION_LOAD
			    ? (is_zen4(machine) ? zen4_sources : sources)[field & ANY_SOURCE]
			    : 0;

	if (!source)
		return data3 & IBS_DATA3_NO_BUFFER ? SOURCE_LFB : SOURCE_UNKNOWN;
	if (driver == IBS_DRIVER_6_1 && is_zen4(machine) && field == IBS_SOURCE_ZEN4_NEAR_CACHE)
		return SOURCE_REMOTE_CACHE;
	if (field == IBS_SOURCE_DRAM && data2 & IBS_DATA2_REMOTE)
		return SOURCE_REMOTE_DRAM;
	return (enum source)(source - 1);
}

void ibs_source_decode(const struct ibs_machine *machine, u64 data2, u64 data3, enum ibs_driver driver,
		       struct load_source *ret)
{
	bool erratum = is_erratum_1293(machine, data3);

	*ret = (struct load_source){.source = SOURCE_UNKNOWN, .snoop = SNOOP_NA, .tlb = TLB_NA};
	if (ibs_operation(data3) == IBS_OPERATION_OTHER)
		return;
	if (erratum)
		data2 = 0;
	if (data3 & IBS_DATA3_UNCACHEABLE && source_field(machine, data2) != IBS_SOURCE_IO)
		ret->source = SOURCE_UNCACHED;
	else if (!(data3 & IBS_DATA3_MISS))
		ret->source = SOURCE_L1;
	else if (!(data3 & IBS_DATA3_L2_MISS) && !erratum)
		ret->source = SOURCE_L2;
	else
		ret->source = missed_source(machine, data2, data3, driver);
	if (reports_state(machine) && ibs_operation(data3) == IBS_OPERATION_LOAD &&
	    !(data2 & IBS_DATA2_OWNED) && ret->source != SOURCE_L1 && ret->source != SOURCE_L2)
		switch (source_field(machine, data2)) {
		case IBS_SOURCE_ZEN4_LOCAL_CACHE:
		case IBS_SOURCE_ZEN4_FAR_CACHE:
			ret->snoop = is_zen4(machine) ? SNOOP_HITM : SNOOP_NA;
			break;
		case IBS_SOURCE_LOCAL_CACHE: /* since Zen 4, this is the number of the near cache */
			ret->snoop = SNOOP_HITM;
			break;
		default:
			break;
		}
	if (data3 & IBS_DATA3_LINEAR_VALID) {
		ret->tlb = TLB_L1_HIT;
		if (data3 & IBS_DATA3_L1_TLB_MISS)
			ret->tlb = data3 & IBS_DATA3_L2_TLB_MISS ? TLB_MISS : TLB_L2_HIT;
	}
	ret->locked = data3 & IBS_DATA3_LOCKED;
}
