// SPDX-License-Identifier: GPL-2.0
#include "adaptive.h"

#include "layout.h"

/*
 * The first word has the format in bits 31:0 and the size in bits 63:48. On later CPUs, bits 47:32 are the
 * retire latency (struct pebs_basic, Linux 6.12).
 */
#define WORD_FORMAT       0xffffffffULL
#define WORD_RETIRE_SHIFT 32
#define WORD_RETIRE       0xffffULL
#define WORD_SIZE_SHIFT   48
#define WORD_SIZE         8

/*
 * The IP of the basic group is the eventing IP. The IP of the registers group is that of the next
 * instruction.
 */
static const struct place_of_field basic[] = {
	{RECORD_EVENTING_IP, 8, 0x08},
	{RECORD_GLOBAL_STATUS, 8, 0x10}, /* applicable counters */
	{RECORD_TSC, 8, 0x18},
};

static const struct place_of_field memory[] = {
	{RECORD_ADDRESS, 8, 0x00},
	{RECORD_SOURCE, 8, 0x08},
	{RECORD_LATENCY, 8, 0x10},
	{RECORD_TSX, 8, 0x18},
};

/* The order differs from that of the older formats. */
static const struct place_of_field registers[] = {
	{RECORD_FLAGS, 8, 0x00}, {RECORD_IP, 8, 0x08},  {RECORD_AX, 8, 0x10},  {RECORD_CX, 8, 0x18},
	{RECORD_DX, 8, 0x20},    {RECORD_BX, 8, 0x28},  {RECORD_SP, 8, 0x30},  {RECORD_BP, 8, 0x38},
	{RECORD_SI, 8, 0x40},    {RECORD_DI, 8, 0x48},  {RECORD_R8, 8, 0x50},  {RECORD_R9, 8, 0x58},
	{RECORD_R10, 8, 0x60},   {RECORD_R11, 8, 0x68}, {RECORD_R12, 8, 0x70}, {RECORD_R13, 8, 0x78},
	{RECORD_R14, 8, 0x80},   {RECORD_R15, 8, 0x88},
};

enum {
	BASIC_BYTES = 0x20,
	MEMORY_BYTES = 0x20,
	REGISTERS_BYTES = 0x90,
	XMM_BYTES = 16 * 16,  /* sixteen registers of 128 bits */
	BRANCH_BYTES = 3 * 8, /* from, to, information */
};

struct group {
	u64 chosen; /* bits of MSR_PEBS_DATA_CFG; 0: always present */
	const struct place_of_field *places;
	u16 count;
	u16 bytes; /* size; for branches: of each entry */
};

/* The groups, in the order in which a record has them. */
static const struct group groups[] = {
	{0, basic, sizeof(basic) / sizeof(basic[0]), BASIC_BYTES},
	{DATA_CFG_MEMORY, memory, sizeof(memory) / sizeof(memory[0]), MEMORY_BYTES},
	{DATA_CFG_REGISTERS, registers, sizeof(registers) / sizeof(registers[0]), REGISTERS_BYTES},
	{DATA_CFG_XMM, NULL, 0, XMM_BYTES},
	{DATA_CFG_BRANCHES, NULL, 0, BRANCH_BYTES},
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

_Static_assert(BASIC_BYTES + MEMORY_BYTES + REGISTERS_BYTES + XMM_BYTES +
			       BRANCH_BYTES * DATA_CFG_BRANCHES_MAX <=
		       RECORD_SIZE_MAX,
	       "the longest adaptive record");

u32 adaptive_branches(u64 data_cfg)
{
	u32 entries = (u32)((data_cfg & DATA_CFG_ENTRIES) >> DATA_CFG_ENTRIES_SHIFT) + 1;

	if (!(data_cfg & DATA_CFG_BRANCHES))
		return 0;
	return entries < DATA_CFG_BRANCHES_MAX ? entries : DATA_CFG_BRANCHES_MAX;
}

/* Returns 0 if the group is not selected. */
static u32 group_size(const struct group *group, u64 data_cfg)
{
	if (group->chosen == DATA_CFG_BRANCHES)
		return group->bytes * adaptive_branches(data_cfg);
	return !group->chosen || data_cfg & group->chosen ? group->bytes : 0;
}

u32 adaptive_size(u64 data_cfg)
{
	u32 size = 0;

	for (size_t i = 0; i < GROUPS; i++)
		size += group_size(&groups[i], data_cfg);
	return size;
}

/* Returns the first word: the selection, with at most 32 branch entries, and the size. */
static u64 first_word(u64 data_cfg)
{
	u64 word = data_cfg & DATA_CFG_GROUPS;
	u32 branches = adaptive_branches(data_cfg);

	if (branches)
		word |= (u64)(branches - 1) << DATA_CFG_ENTRIES_SHIFT;
	return word | (u64)adaptive_size(data_cfg) << WORD_SIZE_SHIFT;
}

/* Returns whether the first word has a valid selection, and the size of a record with that selection. */
static bool is_record(u64 word)
{
	u64 format = word & WORD_FORMAT;
	u64 entries = (format & DATA_CFG_ENTRIES) >> DATA_CFG_ENTRIES_SHIFT;

	if (format & ~(DATA_CFG_GROUPS | DATA_CFG_ENTRIES))
		return false;
	if (format & DATA_CFG_BRANCHES && entries >= DATA_CFG_BRANCHES_MAX)
		return false;
	return word >> WORD_SIZE_SHIFT == adaptive_size(format);
}

void adaptive_write(u64 data_cfg, const struct record *record, u8 *bytes)
{
	u32 offset = 0;

	for (size_t i = 0; i < GROUPS; i++) {
		const struct group *group = &groups[i];
		u32 size = group_size(group, data_cfg);

		if (size && !group->places) /* the model has no XMM values or branches: 0 */
			for (u32 at = 0; at < size; at++)
				bytes[offset + at] = 0;
		else if (size)
			layout_write(group->places, group->count, record, bytes + offset);
		offset += size;
	}
	layout_put(bytes, WORD_SIZE,
		   first_word(data_cfg) | (record->present & MODEL_BIT(RECORD_RETIRE_LATENCY)
						   ? (record->values[RECORD_RETIRE_LATENCY] & WORD_RETIRE)
							     << WORD_RETIRE_SHIFT
						   : 0));
}

int adaptive_read(const u8 *bytes, u32 size, struct record *ret, u32 *ret_size)
{
	u32 offset = 0;
	u64 word;

	if (size < BASIC_BYTES)
		return -EINVAL;
	word = layout_get(bytes, WORD_SIZE);
	if (!is_record(word) || word >> WORD_SIZE_SHIFT > size)
		return -EINVAL;
	ret->values[RECORD_RETIRE_LATENCY] = word >> WORD_RETIRE_SHIFT & WORD_RETIRE;
	ret->present |= (u32)MODEL_BIT(RECORD_RETIRE_LATENCY);
	for (size_t i = 0; i < GROUPS; i++) {
		u32 length = group_size(&groups[i], word & WORD_FORMAT);

		if (length && groups[i].places)
			layout_read(groups[i].places, groups[i].count, bytes + offset, ret);
		offset += length;
	}
	*ret_size = offset;
	return 0;
}
