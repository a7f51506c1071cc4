// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a PEBS buffer. Byte 0 is the format, byte 1 the enabled counters, and the rest are records. If
 * the highest bit of byte 0 is set, adaptive records get valid first words, which are rarely found by chance.
 * Each walk must end and deliver to each counter the records that name it, as many as were counted. Each
 * record that was read must give the same bytes when it is written.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/adaptive.h"
#include "model/drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/*
 * Writes a record that was read. The bytes must be the same, except where the model writes zeros, and reading
 * them gives the same record.
 */
static void write_again(enum record_format format, const struct record *record, const uint8_t *data,
			u32 length)
{
	struct record again;
	u8 bytes[RECORD_SIZE_MAX];
	u64 data_cfg = 0;
	u32 from = 0, size;

	if (format == RECORD_ADAPTIVE) {
		memcpy(&data_cfg, data, sizeof(u32));
		from = 8;
	}
	record_write(format, data_cfg, record, bytes);
	check(record_read(format, bytes, sizeof(bytes), &again, &size) == 0);
	check(size == length && size == record_size(format, data_cfg) && again.present == record->present);
	check(!memcmp(again.values, record->values, sizeof(again.values)));
	if (!(data_cfg & (DATA_CFG_XMM | DATA_CFG_BRANCHES)))
		check(!memcmp(bytes + from, data + from, length - from));
}

static void one_record(enum record_format format, const uint8_t *data, size_t size)
{
	struct record record;
	u32 length;

	if (record_read(format, data, (u32)size, &record, &length) < 0) {
		check(length == 0);
		return;
	}
	check(length > 0 && length <= size && length <= RECORD_SIZE_MAX);
	write_again(format, &record, data, length);
}

/*
 * Returns true if the record may be the counter's: the record names it and, before format 0011b, names no
 * other enabled counter, or names none if no other is enabled. The oldest formats name none and have counter 0.
 */
static bool is_of(const struct delivery *delivery, enum record_format format, u64 enabled)
{
	u64 bit = 1ULL << delivery->counter;
	u64 named = delivery->record.values[RECORD_GLOBAL_STATUS] & enabled;

	if (format < RECORD_NEHALEM)
		return delivery->counter == 0 && enabled;
	if (format < RECORD_SKYLAKE)
		return (named & 0xff) == bit || (!(named & 0xff) && enabled == bit);
	return named & bit;
}

/* Makes valid adaptive records. Their choice of groups stays, except for groups that do not exist. */
static void make_adaptive(u8 *bytes, size_t size)
{
	for (size_t offset = 0; offset + sizeof(u64) <= size;) {
		u64 word;

		memcpy(&word, bytes + offset, sizeof(word));
		word &= DATA_CFG_GROUPS | 0x1fULL << DATA_CFG_ENTRIES_SHIFT;
		word |= (u64)record_size(RECORD_ADAPTIVE, word) << 48;
		memcpy(bytes + offset, &word, sizeof(word));
		offset += word >> 48;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u8 bytes[0x2000];
	u32 delivered[DRAIN_COUNTERS] = {0};
	enum record_format format;
	struct delivery delivery;
	struct drain drain;
	u32 counter = 0;
	u64 enabled;

	if (size < 2 || size - 2 > sizeof(bytes))
		return 0;
	format = (data[0] & 0x7f) % (RECORD_FORMATS + 1);
	enabled = (data[1] & 0xf) | (u64)(data[1] >> 4) << 32;
	size -= 2;
	memcpy(bytes, data + 2, size);
	if (format == RECORD_ADAPTIVE && data[0] & 0x80)
		make_adaptive(bytes, size);
	one_record(format, bytes, size);

	drain_open(&drain, format, bytes, size, enabled);
	while (drain_next(&drain, &delivery)) {
		check(delivery.counter >= counter && delivery.counter < DRAIN_COUNTERS);
		check(is_of(&delivery, format, enabled));
		counter = delivery.counter;
		delivered[counter]++;
		check(delivery.last == (delivered[counter] == drain.counts[counter]));
	}
	check(!memcmp(delivered, drain.counts, sizeof(delivered)));
	return 0;
}
