// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a PEBS buffer: byte 0 is the format, byte 1 what is enabled, the rest records. Each walk ends,
 * delivers what was counted, and what was read is written to the same fields again.
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

/* Reading what was written of what was read gives the same. */
static void read_again(enum record_format format, const struct record *record, u64 data_cfg)
{
	struct record again;
	u8 bytes[RECORD_SIZE_MAX];
	u32 size;

	record_write(format, data_cfg, record, bytes);
	check(record_read(format, bytes, sizeof(bytes), &again, &size) == 0);
	check(size == record_size(format, data_cfg) && again.present == record->present);
	check(!memcmp(again.values, record->values, sizeof(again.values)));
}

static void one_record(enum record_format format, const uint8_t *data, size_t size)
{
	struct record record;
	u64 data_cfg = 0;
	u32 length;

	if (record_read(format, data, (u32)size, &record, &length) < 0) {
		check(length == 0);
		return;
	}
	check(length > 0 && length <= size && length <= RECORD_SIZE_MAX);
	if (format == RECORD_ADAPTIVE)
		memcpy(&data_cfg, data, sizeof(u32));
	read_again(format, &record, data_cfg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 delivered[DRAIN_COUNTERS] = {0};
	enum record_format format;
	struct delivery delivery;
	struct drain drain;
	u32 counter = 0;
	u64 enabled;

	if (size < 2)
		return 0;
	format = data[0] % (RECORD_FORMATS + 1);
	enabled = (data[1] & 0xf) | (u64)(data[1] >> 4) << 32;
	data += 2;
	size -= 2;
	one_record(format, data, size);

	drain_open(&drain, format, data, size, enabled);
	while (drain_next(&drain, &delivery)) {
		check(delivery.counter >= counter && delivery.counter < DRAIN_COUNTERS);
		counter = delivery.counter;
		delivered[counter]++;
		check(delivery.last == (delivered[counter] == drain.counts[counter]));
	}
	check(!memcmp(delivered, drain.counts, sizeof(delivered)));
	return 0;
}
