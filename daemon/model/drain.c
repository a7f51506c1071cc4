// SPDX-License-Identifier: GPL-2.0
#include "drain.h"

#define GENERAL_COUNTERS 0xffULL
#define FIXED_COUNTERS   (0xfULL << 32)

_Static_assert(GENERAL_COUNTERS >> DRAIN_COUNTERS == 0 && FIXED_COUNTERS >> DRAIN_COUNTERS == 0,
	       "each counter has its place");

/*
 * Returns the counters that a record can name. Fixed counters have PEBS only in the adaptive format. In older
 * formats, the bits from 32 on enable load latency.
 */
static u64 nameable(enum record_format format)
{
	return format == RECORD_ADAPTIVE ? GENERAL_COUNTERS | FIXED_COUNTERS : GENERAL_COUNTERS;
}

static bool one_bit(u64 bits)
{
	return bits && !(bits & (bits - 1));
}

/*
 * Returns the enabled counters that a record names. The status can be cleared between the overflow and the
 * record. Before PEBS format 0011b, a record whose status names no enabled counter therefore belongs to the only
 * counter in IA32_PEBS_ENABLE, if exactly one bit is set there.
 */
static u64 named(const struct drain *drain, const struct record *record)
{
	u64 counters;

	if (drain->format < RECORD_NEHALEM)
		return drain->enabled ? 1 : 0;
	counters = record->values[RECORD_GLOBAL_STATUS] & drain->enabled & nameable(drain->format);
	if (!counters && drain->format < RECORD_SKYLAKE && one_bit(drain->enabled))
		counters = drain->enabled & nameable(drain->format);
	return counters;
}

/*
 * Before PEBS format 0011b, a record that names several counters is dropped: it does not say which events it
 * stands for.
 */
static bool collides(const struct drain *drain, u64 counters)
{
	return drain->format < RECORD_SKYLAKE && counters && !one_bit(counters);
}

/* Reads the record at the offset and moves the offset past it. Returns false if there is no valid record. */
static bool next_record(const struct drain *drain, u64 *offset, struct record *ret)
{
	u64 left = drain->size - *offset;
	u32 size;

	if (!left || record_read(drain->format, drain->bytes + *offset,
				 left < RECORD_SIZE_MAX ? (u32)left : RECORD_SIZE_MAX, ret, &size) < 0)
		return false;
	*offset += size;
	return true;
}

static void count(u32 *counts, u64 counters)
{
	for (u32 i = 0; i < DRAIN_COUNTERS; i++)
		if (counters & MODEL_BIT(i))
			counts[i]++;
}

void drain_open(struct drain *drain, enum record_format format, const void *bytes, u64 size, u64 enabled)
{
	struct record record;
	u64 offset = 0;

	*drain = (struct drain){.format = format, .bytes = bytes, .size = size, .enabled = enabled};
	while (next_record(drain, &offset, &record)) {
		u64 counters = named(drain, &record);

		if (!counters)
			drain->unclaimed++;
		count(collides(drain, counters) ? drain->collisions : drain->counts, counters);
	}
	drain->broken = offset < size;
}

bool drain_next(struct drain *drain, struct delivery *ret)
{
	while (drain->counter < DRAIN_COUNTERS) {
		u32 left = drain->counts[drain->counter] - drain->delivered;

		while (left && next_record(drain, &drain->offset, &ret->record)) {
			u64 counters = named(drain, &ret->record);

			if (!(counters & MODEL_BIT(drain->counter)) || collides(drain, counters))
				continue;
			drain->delivered++;
			ret->counter = drain->counter;
			ret->last = left == 1;
			return true;
		}
		drain->counter++;
		drain->delivered = 0;
		drain->offset = 0;
	}
	return false;
}
