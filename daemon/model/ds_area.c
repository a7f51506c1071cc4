// SPDX-License-Identifier: GPL-2.0
/*
 * The fields' places: manual figures 18-26 (Nehalem: one reset field a counter), 18-41 (IA-32e mode: one),
 * 16-5 (32-bit: one of 40 bits in eight bytes), and adaptive PEBS with fixed counters' fields behind eight
 * general-purpose ones.
 */
#include "ds_area.h"

#define DS_GENERAL 8 /* reset[]'s first fixed counter */

enum { WORD_BASE = 4, WORD_INDEX, WORD_MAXIMUM, WORD_THRESHOLD, WORD_RESETS };

struct layout {
	size_t word; /* bytes of an address */
	u32 size;
	u32 general, fixed; /* reset fields; those of fixed counters follow */
};

static struct layout layout_of(const struct machine *machine)
{
	switch (machine->format) {
	case RECORD_NETBURST_32:
		return (struct layout){.word = 4, .size = 0x30, .general = 1};
	case RECORD_CORE:
		return (struct layout){.word = 8, .size = 0x50, .general = 1};
	case RECORD_ADAPTIVE:
		return (struct layout){.word = 8, .size = 0xa0, .general = DS_GENERAL, .fixed = 4};
	default:
		return (struct layout){.word = 8, .size = 0x60, .general = 4};
	}
}

void *linear_at(const struct linear_memory *memory, u64 address, u64 size)
{
	u64 offset = address - memory->base;

	if (address < memory->base || offset > memory->size || size > memory->size - offset)
		return NULL;
	return (u8 *)memory->bytes + offset;
}

u64 ds_area_size(const struct machine *machine)
{
	return layout_of(machine).size;
}

static u64 get(const u8 *bytes, size_t size)
{
	u64 value = 0;

	for (size_t i = size; i > 0; i--)
		value = value << 8 | bytes[i - 1];
	return value;
}

static void put(u8 *bytes, size_t size, u64 value)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (u8)(value >> (8 * i));
}

/* Where reset[i] stands; 0: the layout has no such field. */
static size_t reset_offset(const struct layout *layout, u32 i)
{
	size_t resets = WORD_RESETS * layout->word;

	if (i < DS_GENERAL)
		return i < layout->general ? resets + 8 * (size_t)i : 0;
	return i - DS_GENERAL < layout->fixed ? resets + 8 * (size_t)(layout->general + i - DS_GENERAL) : 0;
}

int ds_area_read(const struct machine *machine, const struct linear_memory *memory, u64 address,
		 struct ds_area *ret)
{
	struct layout layout = layout_of(machine);
	const u8 *bytes = linear_at(memory, address, layout.size);

	if (!bytes)
		return -EFAULT;
	ret->base = get(bytes + WORD_BASE * layout.word, layout.word);
	ret->index = get(bytes + WORD_INDEX * layout.word, layout.word);
	ret->maximum = get(bytes + WORD_MAXIMUM * layout.word, layout.word);
	ret->threshold = get(bytes + WORD_THRESHOLD * layout.word, layout.word);
	for (u32 i = 0; i < DS_RESETS; i++) {
		size_t offset = reset_offset(&layout, i);

		ret->reset[i] = offset ? get(bytes + offset, 8) : 0;
	}
	return 0;
}

int ds_area_write(const struct machine *machine, const struct linear_memory *memory, u64 address,
		  const struct ds_area *area)
{
	struct layout layout = layout_of(machine);
	u8 *bytes = linear_at(memory, address, layout.size);

	if (!bytes)
		return -EFAULT;
	put(bytes + WORD_BASE * layout.word, layout.word, area->base);
	put(bytes + WORD_INDEX * layout.word, layout.word, area->index);
	put(bytes + WORD_MAXIMUM * layout.word, layout.word, area->maximum);
	put(bytes + WORD_THRESHOLD * layout.word, layout.word, area->threshold);
	for (u32 i = 0; i < DS_RESETS; i++) {
		size_t offset = reset_offset(&layout, i);

		if (offset)
			put(bytes + offset, 8, area->reset[i]);
	}
	return 0;
}

int ds_area_set_index(const struct machine *machine, const struct linear_memory *memory, u64 address,
		      u64 index)
{
	struct layout layout = layout_of(machine);
	u8 *bytes = linear_at(memory, address, layout.size);

	if (!bytes)
		return -EFAULT;
	put(bytes + WORD_INDEX * layout.word, layout.word, index);
	return 0;
}
