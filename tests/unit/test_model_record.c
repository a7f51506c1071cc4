// SPDX-License-Identifier: GPL-2.0
/* PEBS records of the fixed formats: manual tables 18-23 and 18-34, 18.7.1, 18.11.2, 18.18.5. */
#include <string.h>

#include <criterion/criterion.h>

#include "model/record.h"

#define GUARD 0xee

/* A record with a different value in each field. Each value needs all 32 bits. */
static struct record full(void)
{
	struct record record = {.present = (u32)MODEL_BIT(RECORD_FIELD_COUNT) - 1};

	for (u32 i = 0; i < RECORD_FIELD_COUNT; i++)
		record.values[i] = 0x81c0de00 + i;
	return record;
}

static u64 word(const u8 *bytes, u32 offset)
{
	u64 value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static void write_full(enum record_format format, u8 *bytes)
{
	struct record record = full();

	memset(bytes, GUARD, RECORD_SIZE_MAX);
	record_write(format, 0, &record, bytes);
}

Test(model_record, sizes_are_those_of_the_formats)
{
	cr_expect_eq(record_size(RECORD_NETBURST_32, 0), 0x28);
	cr_expect_eq(record_size(RECORD_CORE, 0), 0x90);
	cr_expect_eq(record_size(RECORD_NEHALEM, 0), 0xb0);
	cr_expect_eq(record_size(RECORD_HASWELL, 0), 0xc0);
	cr_expect_eq(record_size(RECORD_SKYLAKE, 0), 0xc8);
	cr_expect_eq(record_size(RECORD_FORMATS, 0), 0);
}

Test(model_record, netburst_32_has_flags_ip_and_eight_registers)
{
	static const u8 order[] = {RECORD_FLAGS, RECORD_IP, RECORD_AX, RECORD_BX, RECORD_CX,
				   RECORD_DX,    RECORD_SI, RECORD_DI, RECORD_BP, RECORD_SP};
	u8 bytes[RECORD_SIZE_MAX];

	write_full(RECORD_NETBURST_32, bytes);
	for (u32 i = 0; i < sizeof(order); i++)
		cr_expect_eq((u32)word(bytes, 4 * i), 0x81c0de00 + order[i]);
	cr_expect_eq(bytes[0x28], GUARD);
}

Test(model_record, core_has_sixteen_registers_of_64_bits)
{
	static const u8 order[] = {RECORD_FLAGS, RECORD_IP,  RECORD_AX,  RECORD_BX,  RECORD_CX,  RECORD_DX,
				   RECORD_SI,    RECORD_DI,  RECORD_BP,  RECORD_SP,  RECORD_R8,  RECORD_R9,
				   RECORD_R10,   RECORD_R11, RECORD_R12, RECORD_R13, RECORD_R14, RECORD_R15};
	u8 bytes[RECORD_SIZE_MAX];

	write_full(RECORD_CORE, bytes);
	for (u32 i = 0; i < sizeof(order); i++)
		cr_expect_eq(word(bytes, 8 * i), 0x81c0de00 + order[i]);
	cr_expect_eq(bytes[0x90], GUARD);
}

Test(model_record, nehalem_0001b_adds_status_address_source_latency)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(RECORD_NEHALEM, bytes);
	cr_expect_eq(word(bytes, 0x88), 0x81c0de00 + RECORD_R15);
	cr_expect_eq(word(bytes, 0x90), 0x81c0de00 + RECORD_GLOBAL_STATUS);
	cr_expect_eq(word(bytes, 0x98), 0x81c0de00 + RECORD_ADDRESS);
	cr_expect_eq(word(bytes, 0xa0), 0x81c0de00 + RECORD_SOURCE);
	cr_expect_eq(word(bytes, 0xa8), 0x81c0de00 + RECORD_LATENCY);
	cr_expect_eq(bytes[0xb0], GUARD);
}

Test(model_record, haswell_0010b_adds_eventing_ip_and_tsx)
{
	u8 bytes[RECORD_SIZE_MAX];

	write_full(RECORD_HASWELL, bytes);
	cr_expect_eq(word(bytes, 0xa8), 0x81c0de00 + RECORD_LATENCY);
	cr_expect_eq(word(bytes, 0xb0), 0x81c0de00 + RECORD_EVENTING_IP);
	cr_expect_eq(word(bytes, 0xb8), 0x81c0de00 + RECORD_TSX);
	cr_expect_eq(bytes[0xc0], GUARD);
}

Test(model_record, skylake_and_goldmont_0011b_have_applicable_counters_at_90h_and_tsc_at_c0h)
{
	struct record record = {
		.present = (u32)(MODEL_BIT(RECORD_GLOBAL_STATUS) | MODEL_BIT(RECORD_TSC)),
		.values = {[RECORD_GLOBAL_STATUS] = 0x5, [RECORD_TSC] = 0x123456789abcdef0},
	};
	u8 bytes[RECORD_SIZE_MAX];

	memset(bytes, GUARD, sizeof(bytes));
	record_write(RECORD_SKYLAKE, 0, &record, bytes);
	cr_expect_eq(word(bytes, 0x90), 0x5);
	cr_expect_eq(word(bytes, 0xc0), 0x123456789abcdef0);
	cr_expect_eq(bytes[0xc8], GUARD);
}

Test(model_record, precise_store_information_is_at_98h_and_a0h)
{
	struct record record = {
		.present = (u32)(MODEL_BIT(RECORD_ADDRESS) | MODEL_BIT(RECORD_SOURCE)),
		.values = {[RECORD_ADDRESS] = 0x7f0012345678, [RECORD_SOURCE] = 0x31},
	};
	u8 bytes[RECORD_SIZE_MAX];

	memset(bytes, GUARD, sizeof(bytes));
	record_write(RECORD_NEHALEM, 0, &record, bytes);
	cr_expect_eq(word(bytes, 0x98), 0x7f0012345678);
	cr_expect_eq(word(bytes, 0xa0), 0x31);
	cr_expect_eq(word(bytes, 0xa8), 0); /* reserved */
}

Test(model_record, absent_fields_are_zero)
{
	struct record record = {.present = (u32)MODEL_BIT(RECORD_IP)};
	u8 bytes[RECORD_SIZE_MAX];

	memset(record.values, 0xff, sizeof(record.values));
	memset(bytes, GUARD, sizeof(bytes));
	record_write(RECORD_HASWELL, 0, &record, bytes);
	for (u32 i = 0; i < 0xc0; i += 8)
		cr_expect_eq(word(bytes, i), i == 8 ? ~0ULL : 0);
}

Test(model_record, a_written_record_is_read_unchanged)
{
	static const struct {
		enum record_format format;
		u32 present;
	} formats[] = {
		{RECORD_NETBURST_32, 0x3ff}, {RECORD_CORE, 0x3ffff},      {RECORD_NEHALEM, 0x3fffff},
		{RECORD_HASWELL, 0xffffff},  {RECORD_SKYLAKE, 0x1ffffff},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct record record, written = full();
		u8 bytes[RECORD_SIZE_MAX];
		u32 size;

		write_full(formats[i].format, bytes);
		cr_assert_eq(record_read(formats[i].format, bytes, sizeof(bytes), &record, &size), 0);
		cr_expect_eq(size, record_size(formats[i].format, 0));
		cr_expect_eq(record.present, formats[i].present);
		for (u32 field = 0; field < RECORD_FIELD_COUNT; field++)
			cr_expect_eq(record.values[field],
				     formats[i].present & MODEL_BIT(field) ? written.values[field] : 0);
	}
}

Test(model_record, values_of_64_bits_are_kept_at_any_alignment)
{
	struct record record, read;
	u8 bytes[RECORD_SIZE_MAX + 1];
	u32 size;

	record = (struct record){.present = (u32)MODEL_BIT(RECORD_LATENCY),
				 .values[RECORD_LATENCY] = 0xfedcba9876543210};
	record_write(RECORD_SKYLAKE, 0, &record, bytes + 1);
	cr_assert_eq(record_read(RECORD_SKYLAKE, bytes + 1, 0xc8, &read, &size), 0);
	cr_expect_eq(read.values[RECORD_LATENCY], 0xfedcba9876543210);
	cr_expect_eq(bytes[1 + 0xa8], 0x10); /* little-endian */
	cr_expect_eq(bytes[1 + 0xaf], 0xfe);
}

Test(model_record, a_record_beyond_the_data_is_refused)
{
	u8 bytes[RECORD_SIZE_MAX] = {0};

	for (u32 format = 0; format < RECORD_ADAPTIVE; format++) {
		u32 length = record_size(format, 0);
		struct record record;
		u32 size = 1;

		cr_expect_eq(record_read(format, bytes, 0, &record, &size), -EINVAL);
		cr_expect_eq(size, 0);
		cr_expect_eq(record_read(format, bytes, length - 1, &record, &size), -EINVAL);
		cr_expect_eq(record.present, 0);
		cr_expect_eq(record_read(format, bytes, length, &record, &size), 0);
		cr_expect_eq(size, length);
	}
}

Test(model_record, an_unknown_format_is_neither_read_nor_written)
{
	struct record record = full();
	u8 bytes[RECORD_SIZE_MAX];
	u32 size;

	memset(bytes, GUARD, sizeof(bytes));
	record_write(RECORD_FORMATS, 0, &record, bytes);
	for (size_t i = 0; i < sizeof(bytes); i++)
		cr_expect_eq(bytes[i], GUARD);
	cr_expect_eq(record_read(RECORD_FORMATS, bytes, sizeof(bytes), &record, &size), -EINVAL);
}
