// SPDX-License-Identifier: GPL-2.0
/*
 * data_source.h as lookup tables, for the sample path: an unpredictable branch costs more there than a
 * lookup. The daemon fills the tables from data_source.h before it loads the programs. Pure functions.
 *
 * One multiplication gathers the deciding bits into an index. Each set bit of the factor adds a shifted copy
 * of the value, and the uppermost twelve bits of the product differ for each combination. A test checks all
 * of them.
 */
#ifndef PEBSD_DECODE_TABLES_H
#define PEBSD_DECODE_TABLES_H

#include <stdbool.h>

#include "data_source.h"

#define DECODE_INDEX_BITS 12
#define DECODE_INDICES    (1U << DECODE_INDEX_BITS)

/*
 * The bits that decide the source if mem_lvl_num names the level: hit and miss, remote RAM of the older level
 * bits, mem_lvl_num, remote, hops.
 */
#define DECODE_SOURCE_BITS   (3ULL << 6 | 3ULL << 13 | 31ULL << 33 | 7ULL << 43)
#define DECODE_SOURCE_FACTOR 0x2000001000200ULL

/* The bits that decide the snoop and TLB results. */
#define DECODE_RESULT_BITS   (15ULL << 20 | 63ULL << 27 | 3ULL << 38)
#define DECODE_RESULT_FACTOR 0x10008004000ULL

/* The older level bits, from L1 on. */
#define DECODE_LEVEL_SHIFT 8
#define DECODE_LEVELS      (1U << 11)

#define DECODE_BY_LEVEL SOURCE_SLOTS /* not a source: the older level bits decide */

struct decode_tables {
	u8 source[DECODE_INDICES]; /* enum source, or DECODE_BY_LEVEL */
	u8 result[DECODE_INDICES]; /* enum snoop | enum tlb << 4 */
	u8 level[DECODE_LEVELS];   /* enum source */
};

static inline u32 decode_source_index(u64 value)
{
	return (u32)((value & DECODE_SOURCE_BITS) * DECODE_SOURCE_FACTOR >> (64 - DECODE_INDEX_BITS));
}

static inline u32 decode_result_index(u64 value)
{
	return (u32)((value & DECODE_RESULT_BITS) * DECODE_RESULT_FACTOR >> (64 - DECODE_INDEX_BITS));
}

static inline u32 decode_level_index(u64 value)
{
	return (u32)(value >> DECODE_LEVEL_SHIFT) & (DECODE_LEVELS - 1);
}

/* Returns an enum source. */
static inline u32 decode_source(const volatile struct decode_tables *tables, u64 value)
{
	u32 source = tables->source[decode_source_index(value)];

	if (source == DECODE_BY_LEVEL)
		source = tables->level[decode_level_index(value)];
	return source & (SOURCE_SLOTS - 1);
}

/* Returns enum snoop | enum tlb << 4. */
static inline u32 decode_result(const volatile struct decode_tables *tables, u64 value)
{
	return tables->result[decode_result_index(value)];
}

static inline void decode_tables_fill(struct decode_tables *ret)
{
	u64 value = 0;

	do {
		u32 number = DATA_SOURCE_LVL_NUM(value);
		u32 lvl = DATA_SOURCE_LVL(value);
		bool missed = (lvl & (LVL_HIT | LVL_MISS)) == LVL_MISS;

		ret->source[decode_source_index(value)] = !missed && (number == 0 || number == LVL_NUM_NA)
								  ? DECODE_BY_LEVEL
								  : (u8)data_source_source(value);
		value = (value - DECODE_SOURCE_BITS) & DECODE_SOURCE_BITS;
	} while (value);
	do {
		ret->result[decode_result_index(value)] =
			(u8)((u32)data_source_snoop(value) | (u32)data_source_tlb(value) << 4);
		value = (value - DECODE_RESULT_BITS) & DECODE_RESULT_BITS;
	} while (value);
	for (u32 i = 0; i < DECODE_LEVELS; i++) {
		value = (u64)i << DECODE_LEVEL_SHIFT;
		ret->level[decode_level_index(value)] = (u8)data_source_by_bits(DATA_SOURCE_LVL(value));
	}
}

#endif
