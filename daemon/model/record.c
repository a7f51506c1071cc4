// SPDX-License-Identifier: GPL-2.0
#include "adaptive.h"
#include "layout.h"

/*
 * The formats with 64-bit fields. Each later format has the fields of the previous one, and more fields after
 * those. Offsets: manual table 18-23 (up to A8H), 18.11.2 with table 18-44 (B0H, B8H), 18.7.1 (C0H).
 */
#define PLACES_64(X)              \
	X(FLAGS, 0x00, 8)         \
	X(IP, 0x08, 8)            \
	X(AX, 0x10, 8)            \
	X(BX, 0x18, 8)            \
	X(CX, 0x20, 8)            \
	X(DX, 0x28, 8)            \
	X(SI, 0x30, 8)            \
	X(DI, 0x38, 8)            \
	X(BP, 0x40, 8)            \
	X(SP, 0x48, 8)            \
	X(R8, 0x50, 8)            \
	X(R9, 0x58, 8)            \
	X(R10, 0x60, 8)           \
	X(R11, 0x68, 8)           \
	X(R12, 0x70, 8)           \
	X(R13, 0x78, 8)           \
	X(R14, 0x80, 8)           \
	X(R15, 0x88, 8)           \
	X(GLOBAL_STATUS, 0x90, 8) \
	X(ADDRESS, 0x98, 8)       \
	X(SOURCE, 0xa0, 8)        \
	X(LATENCY, 0xa8, 8)       \
	X(EVENTING_IP, 0xb0, 8)   \
	X(TSX, 0xb8, 8)           \
	X(TSC, 0xc0, 8)

/* NetBurst, 32-bit: figure of the DS save area in 18.18.5. */
#define PLACES_32(X)      \
	X(FLAGS, 0x00, 4) \
	X(IP, 0x04, 4)    \
	X(AX, 0x08, 4)    \
	X(BX, 0x0c, 4)    \
	X(CX, 0x10, 4)    \
	X(DX, 0x14, 4)    \
	X(SI, 0x18, 4)    \
	X(DI, 0x1c, 4)    \
	X(BP, 0x20, 4)    \
	X(SP, 0x24, 4)

#define PLACE(name, offset, width)    {RECORD_##name, width, offset},
#define INDEX_64(name, offset, width) INDEX_64_##name,
#define END_64(name, offset, width)   END_64_##name = (offset) + (width),
#define END_32(name, offset, width)   END_32_##name = (offset) + (width),

static const struct place_of_field places_64[] = {PLACES_64(PLACE)};
static const struct place_of_field places_32[] = {PLACES_32(PLACE)};
enum { PLACES_64(INDEX_64) };
enum { PLACES_64(END_64) };
enum { PLACES_32(END_32) };

_Static_assert(END_32_SP == 0x28, "NetBurst's 32-bit record");
_Static_assert(END_64_R15 == 0x90, "NetBurst's and Core's 64-bit record");
_Static_assert(END_64_LATENCY == 0xb0, "0001b, Nehalem");
_Static_assert(END_64_TSX == 0xc0, "0010b, Haswell");
_Static_assert(END_64_TSC == 0xc8, "0011b, Skylake and Goldmont");
_Static_assert(END_64_TSC <= RECORD_SIZE_MAX, "a caller's buffer holds each format");
_Static_assert(RECORD_FIELD_COUNT <= 32, "`present` has a bit for each field");

struct layout {
	const struct place_of_field *places;
	u16 count;
	u16 size;
};

static const struct layout layouts[RECORD_FORMATS] = {
	[RECORD_NETBURST_32] = {places_32, sizeof(places_32) / sizeof(places_32[0]), END_32_SP},
	[RECORD_CORE] = {places_64, INDEX_64_R15 + 1, END_64_R15},
	[RECORD_NEHALEM] = {places_64, INDEX_64_LATENCY + 1, END_64_LATENCY},
	[RECORD_HASWELL] = {places_64, INDEX_64_TSX + 1, END_64_TSX},
	[RECORD_SKYLAKE] = {places_64, INDEX_64_TSC + 1, END_64_TSC},
};

/* Returns NULL for the adaptive format and for an unknown format. */
static const struct layout *layout_of(enum record_format format)
{
	return (u32)format < RECORD_ADAPTIVE ? &layouts[format] : NULL;
}

u32 record_size(enum record_format format, u64 data_cfg)
{
	const struct layout *layout = layout_of(format);

	if (format == RECORD_ADAPTIVE)
		return adaptive_size(data_cfg);
	return layout ? layout->size : 0;
}

void record_write(enum record_format format, u64 data_cfg, const struct record *record, void *bytes)
{
	const struct layout *layout = layout_of(format);

	if (format == RECORD_ADAPTIVE)
		adaptive_write(data_cfg, record, bytes);
	else if (layout)
		layout_write(layout->places, layout->count, record, bytes);
}

int record_read(enum record_format format, const void *bytes, u32 size, struct record *ret, u32 *ret_size)
{
	const struct layout *layout = layout_of(format);

	*ret = (struct record){0};
	*ret_size = 0;
	if (format == RECORD_ADAPTIVE)
		return adaptive_read(bytes, size, ret, ret_size);
	if (!layout || size < layout->size)
		return -EINVAL;
	layout_read(layout->places, layout->count, bytes, ret);
	*ret_size = layout->size;
	return 0;
}
