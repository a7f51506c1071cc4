// SPDX-License-Identifier: GPL-2.0
/* Ice Lake's adaptive PEBS records: groups chosen by MSR_PEBS_DATA_CFG. */
#include <string.h>

#include <criterion/criterion.h>

#include "model/adaptive.h"

#define GUARD 0xee

/* The value of MSR_PEBS_DATA_CFG for all groups and `entries` branch entries. */
#define ALL_GROUPS(entries) (0xfULL | (u64)((entries)-1) << 24)

static u64 word(const u8 *bytes, u32 offset)
{
	u64 value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static void put_word(u8 *bytes, u32 offset, u64 value)
{
	memcpy(bytes + offset, &value, sizeof(value));
}

static void write_full(u64 data_cfg, u8 *bytes)
{
	struct record record = {.present = (u32)MODEL_BIT(RECORD_FIELD_COUNT) - 1};

	for (u32 i = 0; i < RECORD_FIELD_COUNT; i++)
		record.values[i] = 0x5500000000000000 + i;
	memset(bytes, GUARD, RECORD_SIZE_MAX);
	record_write(RECORD_ADAPTIVE, data_cfg, &record, bytes);
}

#define VALUE(field) (0x5500000000000000 + RECORD_##field)

Test(model_adaptive, size_follows_the_groups)
{
	cr_expect_eq(record_size(RECORD_ADAPTIVE, 0), 32);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, DATA_CFG_MEMORY), 64);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, DATA_CFG_REGISTERS), 32 + 144);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, DATA_CFG_XMM), 32 + 256);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, DATA_CFG_BRANCHES), 32 + 24);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, DATA_CFG_BRANCHES | 15ULL << 24), 32 + 16 * 24);
	cr_expect_eq(record_size(RECORD_ADAPTIVE, 15ULL << 24), 32); /* without the branch group */
	cr_expect_eq(record_size(RECORD_ADAPTIVE, ALL_GROUPS(32)), 32 + 32 + 144 + 256 + 32 * 24);
}

Test(model_adaptive, more_than_32_branch_entries_are_32)
{
	cr_expect_eq(adaptive_branches(ALL_GROUPS(32)), 32);
	cr_expect_eq(adaptive_branches(ALL_GROUPS(33)), 32);
	cr_expect_eq(adaptive_branches(ALL_GROUPS(256)), 32);
	cr_expect_eq(adaptive_branches(DATA_CFG_BRANCHES), 1);
	cr_expect_eq(adaptive_branches(31ULL << 24), 0);
	cr_expect_leq(record_size(RECORD_ADAPTIVE, ~0ULL), RECORD_SIZE_MAX);
}

/* The field holds only 16 bits of the value that write_full() gives it. */
#define WORD_RETIRE ((u64)RECORD_RETIRE_LATENCY << 32)

Test(model_adaptive, basic_group_has_format_size_eventing_ip_applicable_counters_tsc)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(0, bytes);
	cr_expect_eq(word(bytes, 0x00), 32ULL << 48 | WORD_RETIRE);
	cr_expect_eq(word(bytes, 0x08), VALUE(EVENTING_IP));
	cr_expect_eq(word(bytes, 0x10), VALUE(GLOBAL_STATUS));
	cr_expect_eq(word(bytes, 0x18), VALUE(TSC));
	cr_expect_eq(bytes[0x20], GUARD);
}

Test(model_adaptive, memory_group_has_address_source_latency_tsx)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(DATA_CFG_MEMORY, bytes);
	cr_expect_eq(word(bytes, 0x00), 64ULL << 48 | WORD_RETIRE | 1);
	cr_expect_eq(word(bytes, 0x20), VALUE(ADDRESS));
	cr_expect_eq(word(bytes, 0x28), VALUE(SOURCE));
	cr_expect_eq(word(bytes, 0x30), VALUE(LATENCY));
	cr_expect_eq(word(bytes, 0x38), VALUE(TSX));
	cr_expect_eq(bytes[0x40], GUARD);
}

Test(model_adaptive, the_register_group_has_its_own_order)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(DATA_CFG_MEMORY | DATA_CFG_REGISTERS, bytes);
	cr_expect_eq(word(bytes, 0x40), VALUE(FLAGS));
	cr_expect_eq(word(bytes, 0x48), VALUE(IP));
	cr_expect_eq(word(bytes, 0x50), VALUE(AX));
	cr_expect_eq(word(bytes, 0x58), VALUE(CX));
	cr_expect_eq(word(bytes, 0x60), VALUE(DX));
	cr_expect_eq(word(bytes, 0x68), VALUE(BX));
	cr_expect_eq(word(bytes, 0x70), VALUE(SP));
	cr_expect_eq(word(bytes, 0x78), VALUE(BP));
	cr_expect_eq(word(bytes, 0x80), VALUE(SI));
	cr_expect_eq(word(bytes, 0x88), VALUE(DI));
	for (u32 i = 0; i < 8; i++)
		cr_expect_eq(word(bytes, 0x90 + 8 * i), VALUE(R8) + i);
	cr_expect_eq(bytes[0xd0], GUARD);
}

Test(model_adaptive, vectors_and_branches_are_zeros_of_their_size)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(ALL_GROUPS(4), bytes);
	cr_expect_eq(word(bytes, 0x00), (u64)(208 + 256 + 96) << 48 | WORD_RETIRE | 3ULL << 24 | 0xf);
	for (u32 i = 208; i < 208 + 256 + 96; i++)
		cr_expect_eq(bytes[i], 0);
	cr_expect_eq(bytes[208 + 256 + 96], GUARD);
}

Test(model_adaptive, a_written_record_is_read_unchanged)
{
	for (u64 groups = 0; groups < 16; groups++)
		for (u64 entries = 0; entries < 32; entries++) {
			u64 data_cfg = groups | entries << 24;
			u32 present;
			struct record record;
			u8 bytes[RECORD_SIZE_MAX];
			u32 size;

			present = (u32)(MODEL_BIT(RECORD_EVENTING_IP) | MODEL_BIT(RECORD_GLOBAL_STATUS) |
					MODEL_BIT(RECORD_TSC) | MODEL_BIT(RECORD_RETIRE_LATENCY));
			if (groups & 1)
				present |= (u32)(MODEL_BIT(RECORD_ADDRESS) | MODEL_BIT(RECORD_SOURCE) |
						 MODEL_BIT(RECORD_LATENCY) | MODEL_BIT(RECORD_TSX));
			if (groups & 2)
				present |= 0x3ffff; /* flags, IP and sixteen registers */
			write_full(data_cfg, bytes);
			cr_assert_eq(record_read(RECORD_ADAPTIVE, bytes, sizeof(bytes), &record, &size), 0);
			cr_expect_eq(size, record_size(RECORD_ADAPTIVE, data_cfg));
			cr_expect_eq(record.present, present);
			for (u32 field = 0; field < RECORD_FIELD_COUNT; field++)
				cr_expect_eq(record.values[field], field == RECORD_RETIRE_LATENCY ? field
								   : present & MODEL_BIT(field)
									   ? 0x5500000000000000 + field
									   : 0);
		}
}

Test(model_adaptive, invalid_records_are_refused)
{
	static const u64 words[] = {
		0,                                         /* the size is 0 */
		31ULL << 48,                               /* shorter than the basic group */
		33ULL << 48,                               /* longer than its groups */
		64ULL << 48,                               /* includes an absent memory group */
		32ULL << 48 | 1,                           /* memory group beyond the size */
		32ULL << 48 | 1 << 4,                      /* a group that the format does not have */
		56ULL << 48 | 8 | 1ULL << 24,              /* two branch entries in the space of one */
		0xffffULL << 48 | 8,                       /* the greatest size */
		(32 + 33 * 24ULL) << 48 | 8 | 32ULL << 24, /* 33 branch entries */
		(32 + 32 * 24ULL) << 48 | 8 | 32ULL << 24, /* 33 branch entries in the space of 32 */
		~0ULL,
	};
	u8 bytes[RECORD_SIZE_MAX + 64] = {0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct record record;
		u32 size = 1;

		put_word(bytes, 0, words[i]);
		cr_expect_eq(record_read(RECORD_ADAPTIVE, bytes, sizeof(bytes), &record, &size), -EINVAL,
			     "%zu", i);
		cr_expect_eq(size, 0);
	}
}

Test(model_adaptive, a_record_beyond_the_data_is_refused)
{
	struct record record;
	u8 bytes[RECORD_SIZE_MAX];
	u32 size;

	write_full(DATA_CFG_MEMORY, bytes);
	for (u32 left = 0; left < 64; left++)
		cr_expect_eq(record_read(RECORD_ADAPTIVE, bytes, left, &record, &size), -EINVAL);
	cr_expect_eq(record_read(RECORD_ADAPTIVE, bytes, 64, &record, &size), 0);
}

Test(model_adaptive, a_retire_latency_next_to_the_size_is_ignored)
{
	struct record record;
	u8 bytes[RECORD_SIZE_MAX];
	u32 size;

	write_full(DATA_CFG_MEMORY, bytes);
	put_word(bytes, 0, word(bytes, 0) | 0x1234ULL << 32); /* as on Meteor Lake and later */
	cr_expect_eq(record_read(RECORD_ADAPTIVE, bytes, 64, &record, &size), 0);
	cr_expect_eq(record.values[RECORD_LATENCY], VALUE(LATENCY));
}
