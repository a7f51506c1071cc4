// SPDX-License-Identifier: GPL-2.0
#include "branches.h"

#include <stddef.h>

enum {
	MSR_LBR_SELECT = 0x1c8,
	MSR_LASTBRANCH_TOS = 0x1c9,
	MSR_DEBUGCTL = 0x1d9,
	MSR_LBR_FROM = 0x680,
	MSR_LBR_TO = 0x6c0,
	MSR_LBR_INFO = 0xdc0,
};

#define DEBUGCTL_LBR    1ULL
#define DEBUGCTL_FREEZE (1ULL << 11)

/* LBR_SELECT: do not record branches that end in ring 0, or in other rings. */
#define SELECT_NO_KERNEL  1ULL
#define SELECT_NO_USER    (1ULL << 1)
#define SELECT_CALL_STACK (1ULL << 9)

/* Returns a pointer to the value of the register, or NULL if it is not one of these registers. */
static u64 *record_of(const struct branches *branches, u32 msr)
{
	struct branches *changed = (struct branches *)(size_t)branches;

	if (msr >= MSR_LBR_FROM && msr < MSR_LBR_FROM + branches->depth)
		return &changed->from[msr - MSR_LBR_FROM];
	if (msr >= MSR_LBR_TO && msr < MSR_LBR_TO + branches->depth)
		return &changed->to[msr - MSR_LBR_TO];
	if (branches->has_info && msr >= MSR_LBR_INFO && msr < MSR_LBR_INFO + branches->depth)
		return &changed->info[msr - MSR_LBR_INFO];
	switch (msr) {
	case MSR_LBR_SELECT:
		return &changed->select;
	case MSR_LASTBRANCH_TOS:
		return &changed->top;
	case MSR_DEBUGCTL:
		return &changed->control;
	default:
		return NULL;
	}
}

bool branches_has_msr(const struct branches *branches, u32 msr)
{
	return record_of(branches, msr) != NULL;
}

void branches_write(struct branches *branches, u32 msr, u64 value)
{
	u64 *record = record_of(branches, msr);

	if (record)
		*record = msr == MSR_LASTBRANCH_TOS ? value % branches->depth : value;
}

u64 branches_read(const struct branches *branches, u32 msr)
{
	const u64 *record = record_of(branches, msr);

	return record ? *record : 0;
}

bool branches_wanted(const struct branches *branches)
{
	return branches->control & DEBUGCTL_LBR && branches->select & SELECT_CALL_STACK;
}

static bool is_left_out(const struct branches *branches, u64 address)
{
	return branches->select & (address >> 63 ? SELECT_NO_KERNEL : SELECT_NO_USER);
}

bool branches_call(struct branches *branches, u64 from, u64 to)
{
	if (!branches_wanted(branches) || is_left_out(branches, from))
		return false;
	branches->top = (branches->top + 1) % branches->depth;
	branches->from[branches->top] = from;
	branches->to[branches->top] = to;
	branches->info[branches->top] = 0;
	return true;
}

void branches_return(struct branches *branches, u64 from)
{
	if (!branches_wanted(branches) || is_left_out(branches, from))
		return;
	branches->from[branches->top] = branches->to[branches->top] = 0;
	branches->top = (branches->top + branches->depth - 1) % branches->depth;
}

bool branches_arrived(struct branches *branches, u64 to)
{
	if ((branches->from[branches->top] ^ to) >> 63)
		return false;
	branches->to[branches->top] = to;
	return true;
}

void branches_freeze(struct branches *branches)
{
	if (branches->control & DEBUGCTL_FREEZE)
		branches->control &= ~DEBUGCTL_LBR;
}
