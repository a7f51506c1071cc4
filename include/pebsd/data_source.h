// SPDX-License-Identifier: GPL-2.0
/*
 * The meaning of `union perf_mem_data_src` for a sample, in pebsd's terms.
 *
 * The bit positions are those of include/uapi/linux/perf_event.h (read in Linux 6.1, 6.12 and 7.3). Only the
 * fields named here are used, and each is extracted with its own mask. Newer kernels and other architectures
 * use bits 46 to 63 for other things; those bits never reach an index.
 */
#ifndef PEBSD_DATA_SOURCE_H
#define PEBSD_DATA_SOURCE_H

#include "types.h"

/* Where an access was served. Each sample has exactly one source, so the sources partition the samples. */
#define SOURCES(X)                      \
	X(L1, "l1")                     \
	X(LFB, "lfb")                   \
	X(L2, "l2")                     \
	X(L2_MHB, "l2_mhb")             \
	X(L3, "l3")                     \
	X(L4, "l4")                     \
	X(MSC, "msc")                   \
	X(LOCAL_CACHE, "local_cache")   \
	X(REMOTE_CACHE, "remote_cache") \
	X(LOCAL_DRAM, "local_dram")     \
	X(REMOTE_DRAM, "remote_dram")   \
	X(PMEM, "pmem")                 \
	X(CXL, "cxl")                   \
	X(IO, "io")                     \
	X(UNCACHED, "uncached")         \
	X(UNKNOWN, "unknown")

/* The result of the snoop. If the hardware reports several results, the most informative one wins. */
#define SNOOPS(X)       \
	X(NA, "na")     \
	X(NONE, "none") \
	X(MISS, "miss") \
	X(HIT, "hit")   \
	X(HITM, "hitm") \
	X(FWD, "fwd")   \
	X(PEER, "peer")

/* The translation of the address. `hit` means the first or second level, and it is not known which. */
#define TLBS(X)             \
	X(NA, "na")         \
	X(L1_HIT, "l1_hit") \
	X(L2_HIT, "l2_hit") \
	X(HIT, "hit")       \
	X(WALK, "walk")     \
	X(FAULT, "fault")   \
	X(MISS, "miss")

/*
 * Properties of an access, each with a counter of its own. This table is their only list: records, sums,
 * JSON, `pebsctl show` and Prometheus all use it.
 *
 *   name          of the counter in records, of its JSON key, and of data_source_NAME(), which tests a value
 *   bits          mask in the value, with the shifts of DATA_SOURCE_LVL() and its neighbours. An access with any of
 *                 these bits has the property
 *   known         for which events a count of 0 means that no access had the property
 *   family, help  of the Prometheus metric
 */
#define ACCESS_FLAGS(X)                                                                                    \
	X(locked, (u64)LOCK_BIT_LOCKED << 24, FLAG_KNOWN_WITH_TLB, "pebsd_locked_samples",                 \
	  "Samples of locked accesses.")                                                                   \
	X(blocked, (u64)(BLK_BIT_DATA | BLK_BIT_ADDR) << 40, FLAG_KNOWN_OF_LOADS, "pebsd_blocked_samples", \
	  "Samples of loads blocked by a store whose data or address was not ready.")

enum flag_known {
	/*
	 * Known if the TLB result is known: the drivers fill in both or neither (arch/x86/events/intel/ds.c,
	 * Linux 6.1). For Nehalem's loads and the stores of Haswell to Ice Lake they fill in neither.
	 */
	FLAG_KNOWN_WITH_TLB,
	FLAG_KNOWN_OF_LOADS, /* no hardware reports it for a store */
	FLAG_KNOWN_COUNT,
};

#define FLAG_COUNT_(...) +1
enum { FLAG_COUNT = ACCESS_FLAGS(FLAG_COUNT_) };
#undef FLAG_COUNT_

#define DATA_SOURCE_ENUM_(name, word) SOURCE_##name,
enum source { SOURCES(DATA_SOURCE_ENUM_) SOURCE_COUNT };
#undef DATA_SOURCE_ENUM_
#define DATA_SOURCE_ENUM_(name, word) SNOOP_##name,
enum snoop { SNOOPS(DATA_SOURCE_ENUM_) SNOOP_COUNT };
#undef DATA_SOURCE_ENUM_
#define DATA_SOURCE_ENUM_(name, word) TLB_##name,
enum tlb { TLBS(DATA_SOURCE_ENUM_) TLB_COUNT };
#undef DATA_SOURCE_ENUM_

/* Array lengths in the map records: powers of two, so that a mask bounds an index. */
#define SOURCE_SLOTS 16
#define SNOOP_SLOTS  8
#define TLB_SLOTS    8

_Static_assert(SOURCE_COUNT == SOURCE_SLOTS, "the sources fill their array");
_Static_assert(SNOOP_COUNT <= SNOOP_SLOTS && TLB_COUNT <= TLB_SLOTS, "snoop and TLB results fit theirs");

/* The fields of the value, extracted by shift and width with DATA_SOURCE_FIELD. */
#define DATA_SOURCE_FIELD(value, shift, bits) ((u32)((value) >> (shift)) & ((1U << (bits)) - 1))
#define DATA_SOURCE_OP(value)                 DATA_SOURCE_FIELD(value, 0, 5)
#define DATA_SOURCE_LVL(value)                DATA_SOURCE_FIELD(value, 5, 14)
#define DATA_SOURCE_SNOOP(value)              DATA_SOURCE_FIELD(value, 19, 5)
#define DATA_SOURCE_DTLB(value)               DATA_SOURCE_FIELD(value, 26, 7)
#define DATA_SOURCE_LVL_NUM(value)            DATA_SOURCE_FIELD(value, 33, 4)
#define DATA_SOURCE_REMOTE(value)             DATA_SOURCE_FIELD(value, 37, 1)
#define DATA_SOURCE_SNOOPX(value)             DATA_SOURCE_FIELD(value, 38, 2)
#define DATA_SOURCE_HOPS(value)               DATA_SOURCE_FIELD(value, 43, 3)

/* PERF_MEM_OP_*: the kind of the sampled operation. */
enum { OP_LOAD = 2, OP_STORE = 4 };

enum {
	LVL_HIT = 0x02,
	LVL_MISS = 0x04,
	LVL_L1 = 0x08,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_LOC_RAM = 0x80,
	LVL_REM_RAM = 0x100 | 0x200,
	LVL_REM_CACHE = 0x400 | 0x800,
	LVL_IO = 0x1000,
	LVL_UNCACHED = 0x2000,
};

enum {
	LVL_NUM_L1 = 1,
	LVL_NUM_L2 = 2,
	LVL_NUM_L3 = 3,
	LVL_NUM_L4 = 4,
	LVL_NUM_L2_MHB = 5,
	LVL_NUM_MSC = 6,
	LVL_NUM_L0 = 7,
	LVL_NUM_UNCACHED = 8,
	LVL_NUM_CXL = 9,
	LVL_NUM_IO = 10,
	LVL_NUM_ANY_CACHE = 11,
	LVL_NUM_LFB = 12,
	LVL_NUM_RAM = 13,
	LVL_NUM_PMEM = 14,
	LVL_NUM_NA = 15,
};

enum { SNOOP_BIT_NONE = 2, SNOOP_BIT_HIT = 4, SNOOP_BIT_MISS = 8, SNOOP_BIT_HITM = 16 };
enum { SNOOPX_BIT_FWD = 1, SNOOPX_BIT_PEER = 2 };
enum {
	TLB_BIT_HIT = 2,
	TLB_BIT_MISS = 4,
	TLB_BIT_L1 = 8,
	TLB_BIT_L2 = 16,
	TLB_BIT_WALK = 32,
	TLB_BIT_OS = 64
};
enum { LOCK_BIT_LOCKED = 2 };
enum { BLK_BIT_DATA = 2, BLK_BIT_ADDR = 4 };
enum { HOPS_SAME_NODE = 1 };

/*
 * Source of a hit in a cache that may not be this core's own: `hops` decides if it is set, else the remote bit.
 */
static inline enum source data_source_cache(enum source own, u32 remote, u32 hops)
{
	if (hops == HOPS_SAME_NODE)
		return SOURCE_LOCAL_CACHE;
	return hops || remote ? SOURCE_REMOTE_CACHE : own;
}

/* Source by mem_lvl_num, which is neither 0 nor NA here. */
static inline enum source data_source_by_number(u32 number, u32 lvl, u32 remote, u32 hops)
{
	switch (number) {
	case LVL_NUM_L0:
	case LVL_NUM_L1:
		return data_source_cache(SOURCE_L1, remote, hops);
	case LVL_NUM_L2:
		return data_source_cache(SOURCE_L2, remote, hops);
	case LVL_NUM_L3:
		/*
		 * Nehalem to Broadwell, code 0x0b: mem_lvl_num says remote L3, but the level bits say remote
		 * RAM, and the manual says DRAM (arch/x86/events/intel/ds.c, pebs_data_source, Linux 6.1).
		 */
		if (lvl & LVL_REM_RAM)
			return SOURCE_REMOTE_DRAM;
		return data_source_cache(SOURCE_L3, remote, hops);
	case LVL_NUM_L4:
		return data_source_cache(SOURCE_L4, remote, hops);
	case LVL_NUM_L2_MHB:
		return SOURCE_L2_MHB;
	case LVL_NUM_MSC:
		return SOURCE_MSC;
	case LVL_NUM_UNCACHED:
		return SOURCE_UNCACHED;
	case LVL_NUM_CXL:
		return SOURCE_CXL;
	case LVL_NUM_IO:
		return SOURCE_IO;
	case LVL_NUM_ANY_CACHE:
		return data_source_cache(SOURCE_LOCAL_CACHE, remote, hops);
	case LVL_NUM_LFB:
		return SOURCE_LFB;
	case LVL_NUM_RAM:
		if (hops == HOPS_SAME_NODE)
			return SOURCE_LOCAL_DRAM;
		return hops || remote ? SOURCE_REMOTE_DRAM : SOURCE_LOCAL_DRAM;
	case LVL_NUM_PMEM:
		return SOURCE_PMEM;
	default:
		return SOURCE_UNKNOWN;
	}
}

/* Source by the older mem_lvl bits: kernels before 4.14, and AMD in 6.1 (not in 6.12). The farthest level wins. */
static inline enum source data_source_by_bits(u32 lvl)
{
	if (lvl & LVL_REM_RAM)
		return SOURCE_REMOTE_DRAM;
	if (lvl & LVL_LOC_RAM)
		return SOURCE_LOCAL_DRAM;
	/*
	 * AMD before Zen 4: "this node's caches, L3 or another core's" (amd/ibs.c, Linux 6.1), which 6.12
	 * encodes as ANY_CACHE with hops 0.
	 */
	if (lvl & LVL_REM_CACHE)
		return lvl & LVL_L3 ? SOURCE_LOCAL_CACHE : SOURCE_REMOTE_CACHE;
	if (lvl & LVL_L3)
		return SOURCE_L3;
	if (lvl & LVL_L2)
		return SOURCE_L2;
	if (lvl & LVL_LFB)
		return SOURCE_LFB;
	if (lvl & LVL_L1)
		return SOURCE_L1;
	if (lvl & LVL_IO)
		return SOURCE_IO;
	if (lvl & LVL_UNCACHED)
		return SOURCE_UNCACHED;
	return SOURCE_UNKNOWN;
}

/*
 * Source class of a data source value. mem_lvl_num decides unless it is 0 or NA; then mem_lvl decides. A
 * level that was missed and not hit only says where the data was not, so the result is SOURCE_UNKNOWN.
 */
static inline enum source data_source_source(u64 value)
{
	u32 lvl = DATA_SOURCE_LVL(value);
	u32 number = DATA_SOURCE_LVL_NUM(value);

	if ((lvl & (LVL_HIT | LVL_MISS)) == LVL_MISS)
		return SOURCE_UNKNOWN;
	if (number != 0 && number != LVL_NUM_NA)
		return data_source_by_number(number, lvl, DATA_SOURCE_REMOTE(value), DATA_SOURCE_HOPS(value));
	return data_source_by_bits(lvl);
}

static inline enum snoop data_source_snoop(u64 value)
{
	u32 snoop = DATA_SOURCE_SNOOP(value);
	u32 extended = DATA_SOURCE_SNOOPX(value);

	if (snoop & SNOOP_BIT_HITM)
		return SNOOP_HITM;
	if (extended & SNOOPX_BIT_FWD)
		return SNOOP_FWD;
	if (extended & SNOOPX_BIT_PEER)
		return SNOOP_PEER;
	if (snoop & SNOOP_BIT_HIT)
		return SNOOP_HIT;
	if (snoop & SNOOP_BIT_MISS)
		return SNOOP_MISS;
	return snoop & SNOOP_BIT_NONE ? SNOOP_NONE : SNOOP_NA;
}

static inline enum tlb data_source_tlb(u64 value)
{
	u32 dtlb = DATA_SOURCE_DTLB(value);
	u32 levels = dtlb & (TLB_BIT_L1 | TLB_BIT_L2);

	if (dtlb & TLB_BIT_OS)
		return TLB_FAULT;
	if (dtlb & TLB_BIT_WALK)
		return TLB_WALK;
	if (dtlb & TLB_BIT_MISS)
		return TLB_MISS;
	if (levels == TLB_BIT_L1)
		return TLB_L1_HIT;
	if (levels == TLB_BIT_L2)
		return TLB_L2_HIT;
	return levels || (dtlb & TLB_BIT_HIT) ? TLB_HIT : TLB_NA;
}

#define DATA_SOURCE_FLAG_(name, bits, ...)              \
	static inline u32 data_source_##name(u64 value) \
	{                                               \
		return (value & (bits)) != 0;           \
	}
ACCESS_FLAGS(DATA_SOURCE_FLAG_)
#undef DATA_SOURCE_FLAG_

#define DATA_SOURCE_FLAG_BITS_(name, bits, ...) | (bits)
#define DATA_SOURCE_FLAG_BITS                   (0ULL ACCESS_FLAGS(DATA_SOURCE_FLAG_BITS_))

#endif
