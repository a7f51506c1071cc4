// SPDX-License-Identifier: GPL-2.0
#include "layout.h"

void layout_write(const struct place_of_field *places, size_t count, const struct record *record, u8 *bytes)
{
	for (size_t i = 0; i < count; i++) {
		const struct place_of_field *place = &places[i];
		bool present = record->present & MODEL_BIT(place->field);

		layout_put(bytes + place->offset, place->width, present ? record->values[place->field] : 0);
	}
}

void layout_read(const struct place_of_field *places, size_t count, const u8 *bytes, struct record *record)
{
	for (size_t i = 0; i < count; i++) {
		const struct place_of_field *place = &places[i];

		record->values[place->field] = layout_get(bytes + place->offset, place->width);
		record->present |= (u32)MODEL_BIT(place->field);
	}
}
