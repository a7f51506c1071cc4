// SPDX-License-Identifier: GPL-2.0
/* Positions of a record's fields, in tables that both writing and reading use. */
#ifndef PEBSD_MODEL_LAYOUT_H
#define PEBSD_MODEL_LAYOUT_H

#include "record.h"

struct place_of_field {
	u8 field;   /* enum record_field */
	u8 width;   /* in bytes: 4 or 8 */
	u16 offset; /* in bytes, from the start of this part of the record */
};

/* Little-endian words, at any alignment. */
static inline u64 layout_get(const u8 *bytes, u32 width)
{
	u64 value = 0;

	for (u32 i = 0; i < width; i++)
		value |= (u64)bytes[i] << (8 * i);
	return value;
}

static inline void layout_put(u8 *bytes, u32 width, u64 value)
{
	for (u32 i = 0; i < width; i++)
		bytes[i] = (u8)(value >> (8 * i));
}

/* Writes the fields of the table. Fields that the record does not have become 0. */
void layout_write(const struct place_of_field *places, size_t count, const struct record *record, u8 *bytes);

/* Adds the fields of the table to the record. */
void layout_read(const struct place_of_field *places, size_t count, const u8 *bytes, struct record *record);

#endif
