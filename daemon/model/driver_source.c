// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's side of load_source.h: how Linux translates an encoding. The tables are pebs_data_source of
 * arch/x86/events/intel/ds.c with its changes for Nehalem (_nhm), Skylake (_skl, with and without persistent
 * memory), Gracemont (_grt) and Crestmont (_cmt, 6.12). The flags are those of grt_latency_data(),
 * cmt_latency_data() and load_latency_data() (6.12), store_latency_data(), precise_store_data() and
 * precise_datala_hsw().
 */
#include "load_source.h"

/* The fields of union perf_mem_data_src. */
#define OP_LOAD        0x2ULL
#define OP_STORE       0x4ULL
#define OP_BITS        0x1fULL
#define LVL(bits)      ((u64)(bits) << 5)
#define LVL_ABSENT     LVL(1)
#define SNOOP(bits)    ((u64)(bits) << 19)
#define SNOOP_ABSENT   SNOOP(1)
#define LOCK(bits)     ((u64)(bits) << 24)
#define LOCK_ABSENT    LOCK(1)
#define TLB(bits)      ((u64)(bits) << 26)
#define TLB_ABSENT     TLB(1)
#define NUMBER(number) ((u64)(number) << 33)
#define REMOTE         (1ULL << 37)
#define FORWARD        ((u64)SNOOPX_BIT_FWD << 38)
#define BLK(bits)      ((u64)(bits) << 40)
#define BLK_ABSENT     BLK(1)

/* PERF_MEM_NA. The level number was added to it after 6.1, but pebsd treats both values alike. */
#define ALL_ABSENT (0x1ULL | LVL_ABSENT | SNOOP_ABSENT | LOCK_ABSENT | TLB_ABSENT | NUMBER(LVL_NUM_NA))

#define LOAD_HIT       (OP_LOAD | LVL(LVL_HIT))
#define REMOTE_CACHE_1 LVL(0x400)
#define REMOTE_RAM_1   LVL(0x100)

#define SNOOP_NONE_OR_MISS SNOOP(SNOOP_BIT_NONE | SNOOP_BIT_MISS)

#define CODES 16
#define CODE  0xfULL

/* The codes on which all generations agree. Only Crestmont differs, in 7. */
#define COMMON                                                                         \
	[0x0] = OP_LOAD | LVL(LVL_MISS) | NUMBER(LVL_NUM_L3) | SNOOP_ABSENT,           \
	[0x1] = LOAD_HIT | LVL(LVL_L1) | NUMBER(LVL_NUM_L1) | SNOOP(SNOOP_BIT_NONE),   \
	[0x2] = LOAD_HIT | LVL(LVL_LFB) | NUMBER(LVL_NUM_LFB) | SNOOP(SNOOP_BIT_NONE), \
	[0x3] = LOAD_HIT | LVL(LVL_L2) | NUMBER(LVL_NUM_L2) | SNOOP(SNOOP_BIT_NONE),   \
	[0x4] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_NONE),   \
	[0x7] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM),   \
	[0xe] = LOAD_HIT | LVL(LVL_IO) | NUMBER(LVL_NUM_NA) | SNOOP(SNOOP_BIT_NONE),   \
	[0xf] = LOAD_HIT | LVL(LVL_UNCACHED) | NUMBER(LVL_NUM_NA) | SNOOP(SNOOP_BIT_NONE)

#define NEHALEM_L3                                                                  \
	[0x5] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT), \
	[0x6] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM)

#define LATER_L3                                                                     \
	[0x5] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_MISS), \
	[0x6] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT)

/* Beyond L3, Nehalem to Broadwell. 0xb is remote DRAM, although its level number is L3. */
#define TO_BROADWELL                                                                             \
	[0x8] = LOAD_HIT | REMOTE_CACHE_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT),  \
	[0x9] = LOAD_HIT | REMOTE_CACHE_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM), \
	[0xa] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP(SNOOP_BIT_HIT),        \
	[0xb] = LOAD_HIT | REMOTE_RAM_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT),    \
	[0xc] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP_NONE_OR_MISS,          \
	[0xd] = LOAD_HIT | REMOTE_RAM_1 | REMOTE | NUMBER(LVL_NUM_RAM) | SNOOP_NONE_OR_MISS

/*
 * Beyond L3, Skylake and later. Except for 0xa, no level bit names the place: only the level number and the
 * remote bit do.
 */
#define FROM_SKYLAKE(second_memory)                                                       \
	[0x8] = LOAD_HIT | NUMBER(second_memory) | SNOOP(SNOOP_BIT_HIT),                  \
	[0x9] = LOAD_HIT | NUMBER(second_memory) | REMOTE | SNOOP(SNOOP_BIT_HIT),         \
	[0xa] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP(SNOOP_BIT_HIT), \
	[0xb] = LOAD_HIT | NUMBER(LVL_NUM_RAM) | REMOTE | SNOOP(SNOOP_BIT_NONE),          \
	[0xc] = LOAD_HIT | NUMBER(LVL_NUM_ANY_CACHE) | REMOTE | FORWARD,                  \
	[0xd] = LOAD_HIT | NUMBER(LVL_NUM_ANY_CACHE) | REMOTE | SNOOP(SNOOP_BIT_HITM)

/*
 * E-cores modify Sandy Bridge's table. Gracemont has no code for an L3 hit whose snoop missed, and uses 8 for
 * a line that another core forwarded.
 */
#define GRACEMONT                                                                                \
	[0x5] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT),              \
	[0x6] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM),             \
	[0x8] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | FORWARD,                           \
	[0x9] = LOAD_HIT | REMOTE_CACHE_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM), \
	[0xa] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP(SNOOP_BIT_HIT),        \
	[0xb] = LOAD_HIT | REMOTE_RAM_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HIT),    \
	[0xc] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP_NONE_OR_MISS,          \
	[0xd] = LOAD_HIT | REMOTE_RAM_1 | REMOTE | NUMBER(LVL_NUM_RAM) | SNOOP_NONE_OR_MISS

static const u64 nehalem[CODES] = {COMMON, NEHALEM_L3, TO_BROADWELL};
static const u64 sandy_bridge[CODES] = {COMMON, LATER_L3, TO_BROADWELL};
static const u64 skylake[CODES] = {COMMON, LATER_L3, FROM_SKYLAKE(LVL_NUM_L4)};
static const u64 skylake_server[CODES] = {COMMON, LATER_L3, FROM_SKYLAKE(LVL_NUM_PMEM)};

static const u64 gracemont[CODES] = {COMMON, GRACEMONT};
/* Remote sources have the level number of memory, even the caches 0xc and 0xd. Only 0x9 has that of L3. */
static const u64 crestmont[CODES] = {
	[0x0] = OP_LOAD | LVL(LVL_MISS) | NUMBER(LVL_NUM_L3) | SNOOP_ABSENT,
	[0x1] = LOAD_HIT | LVL(LVL_L1) | NUMBER(LVL_NUM_L1) | SNOOP(SNOOP_BIT_NONE),
	[0x2] = LOAD_HIT | LVL(LVL_LFB) | NUMBER(LVL_NUM_LFB) | SNOOP(SNOOP_BIT_NONE),
	[0x3] = LOAD_HIT | LVL(LVL_L2) | NUMBER(LVL_NUM_L2) | SNOOP(SNOOP_BIT_NONE),
	[0x4] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_NONE),
	LATER_L3,
	[0x7] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | FORWARD,
	[0x8] = LOAD_HIT | LVL(LVL_L3) | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM),
	[0x9] = LOAD_HIT | REMOTE_CACHE_1 | REMOTE | NUMBER(LVL_NUM_L3) | SNOOP(SNOOP_BIT_HITM),
	[0xa] = LOAD_HIT | LVL(LVL_LOC_RAM) | NUMBER(LVL_NUM_RAM) | SNOOP(SNOOP_BIT_NONE),
	[0xb] = LOAD_HIT | NUMBER(LVL_NUM_RAM) | REMOTE | SNOOP(SNOOP_BIT_NONE),
	[0xc] = LOAD_HIT | NUMBER(LVL_NUM_RAM) | REMOTE | FORWARD,
	[0xd] = LOAD_HIT | NUMBER(LVL_NUM_RAM) | REMOTE | SNOOP(SNOOP_BIT_HITM),
	[0xe] = LOAD_HIT | LVL(LVL_IO) | NUMBER(LVL_NUM_NA) | SNOOP(SNOOP_BIT_NONE),
	[0xf] = LOAD_HIT | LVL(LVL_UNCACHED) | NUMBER(LVL_NUM_NA) | SNOOP(SNOOP_BIT_NONE),
};

static const u64 *table_of(const struct machine *machine)
{
	switch (machine->encoding) {
	case ENCODING_NEHALEM:
		return nehalem;
	case ENCODING_SANDY_BRIDGE:
		return sandy_bridge;
	case ENCODING_SKYLAKE:
	case ENCODING_GOLDEN_COVE_CLIENT:
		return skylake;
	case ENCODING_SKYLAKE_SERVER:
	case ENCODING_ICE_LAKE:
	case ENCODING_GOLDEN_COVE:
		return skylake_server;
	case ENCODING_GRACEMONT:
		return gracemont;
	case ENCODING_CRESTMONT:
		return crestmont;
	default:
		return NULL;
	}
}

/* Same as the driver's pebs_set_tlb_lock(). */
static u64 tlb_and_lock(u64 missed, u64 locked)
{
	u64 value = missed ? TLB(TLB_BIT_MISS | TLB_BIT_L2) : TLB(TLB_BIT_HIT | TLB_BIT_L1 | TLB_BIT_L2);

	return locked ? value | LOCK(LOCK_BIT_LOCKED) : value;
}

/* __grt_latency_data(), for loads and stores. */
static u64 efficient_data_src(const struct machine *machine, u64 encoded)
{
	bool crestmont_bits = machine->encoding == ENCODING_CRESTMONT;
	u64 missed = encoded & (crestmont_bits ? MODEL_BIT(6) : MODEL_BIT(5));
	u64 locked = encoded & (crestmont_bits ? MODEL_BIT(5) : MODEL_BIT(4));
	u64 blocked = encoded & (crestmont_bits ? MODEL_BIT(7) : MODEL_BIT(6));

	return table_of(machine)[encoded & CODE] | tlb_and_lock(missed, locked) |
	       (blocked ? BLK(BLK_BIT_DATA) : BLK_ABSENT);
}

u64 load_source_data_src(const struct machine *machine, u64 encoded)
{
	const u64 *table = table_of(machine);
	u64 value, blocked = 0;

	if (!table)
		return ALL_ABSENT;
	if (machine_is_efficient(machine))
		return efficient_data_src(machine, encoded);
	value = table[encoded & CODE];
	if (machine->encoding == ENCODING_NEHALEM)
		return value | TLB_ABSENT | LOCK_ABSENT;
	value |= tlb_and_lock(encoded & MODEL_BIT(4), encoded & MODEL_BIT(5));
	if (machine->encoding == ENCODING_GOLDEN_COVE || machine->encoding == ENCODING_GOLDEN_COVE_CLIENT)
		blocked = (encoded & MODEL_BIT(6) ? BLK(BLK_BIT_DATA) : 0) |
			  (encoded & MODEL_BIT(7) ? BLK(BLK_BIT_ADDR) : 0);
	return value | (blocked ? blocked : BLK_ABSENT);
}

u64 store_status_data_src(u64 encoded)
{
	return OP_STORE | SNOOP_ABSENT | LVL(LVL_L1) | LVL(encoded & MODEL_BIT(0) ? LVL_HIT : LVL_MISS) |
	       TLB(TLB_BIT_L2) | TLB(encoded & MODEL_BIT(4) ? TLB_BIT_MISS : TLB_BIT_HIT) |
	       (encoded & MODEL_BIT(5) ? LOCK(LOCK_BIT_LOCKED) : 0);
}

/* Haswell and later without store latency: everything except operation and level is unknown. */
static u64 store_hit_data_src(u64 encoded)
{
	return (ALL_ABSENT & ~(OP_BITS | LVL_ABSENT)) | OP_STORE | LVL(LVL_L1) |
	       LVL(encoded & MODEL_BIT(0) ? LVL_HIT : LVL_MISS);
}

u64 store_source_data_src(const struct machine *machine, u64 encoded)
{
	const u64 *table = table_of(machine);

	if (!machine->store_event)
		return ALL_ABSENT;
	if (machine_is_efficient(machine))
		return (efficient_data_src(machine, encoded) & ~OP_BITS) | OP_STORE;
	if (machine->mechanisms & MECHANISM_STORE_LATENCY && table)
		return (table[encoded & CODE] & ~OP_BITS) | OP_STORE |
		       tlb_and_lock(encoded & MODEL_BIT(4), encoded & MODEL_BIT(5)) | BLK_ABSENT;
	if (machine->mechanisms & MECHANISM_PRECISE_STORE)
		return store_status_data_src(encoded);
	return store_hit_data_src(encoded);
}
