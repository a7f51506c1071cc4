/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The general registers that an instruction needs for the address of its memory operand, and the one that gets the
 * loaded data (manual volume 2, chapter 2). Loads whose address does not depend on one another overlap (core.h).
 */
#ifndef PMU_OPERANDS_H
#define PMU_OPERANDS_H

#include "core.h"

/*
 * Decodes an instruction of 64-bit code. What it does not know has no registers: vectors as targets, operands without
 * a ModRM byte except those of POP.
 */
struct core_operands operands_of(const u8 *bytes, size_t size);

/*
 * What an instruction without an access does to registers: each of `targets` now depends on `sources`. Both are sets of
 * general registers.
 */
struct core_flow {
	u16 targets, sources;
};

/* Returns false if the instruction makes no register depend on others than before, or if it is not known. */
bool flow_of(const u8 *bytes, size_t size, struct core_flow *ret);

/* Packs the registers into OPERANDS_BITS bits, and unpacks them. */
#define OPERANDS_BITS 16
static inline u64 operands_pack(struct core_operands operands)
{
	return operands.base | (u64)operands.index << 5 | (u64)operands.target << 10 |
	       (u64)operands.combines << 15;
}

static inline struct core_operands operands_unpack(u64 packed)
{
	return (struct core_operands){.base = packed & 31,
				      .index = packed >> 5 & 31,
				      .target = packed >> 10 & 31,
				      .combines = packed >> 15 & 1};
}

#endif
