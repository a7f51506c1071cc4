// SPDX-License-Identifier: GPL-2.0
#include "load_source.h"

/* The encodings of a load's data source, bits 3:0. */
enum {
	CODE_UNKNOWN = 0x0,
	CODE_L1 = 0x1,
	CODE_FILL_BUFFER = 0x2,
	CODE_L2 = 0x3,
	CODE_L3 = 0x4, /* without a snoop */
	/* Nehalem: another core had the line clean, or modified. 7 is reserved. */
	CODE_NEHALEM_L3_HIT = 0x5,
	CODE_NEHALEM_L3_MODIFIED = 0x6,
	/* Sandy Bridge and later. */
	CODE_L3_SNOOP_MISS = 0x5,
	CODE_L3_SNOOP_HIT = 0x6,
	CODE_L3_SNOOP_MODIFIED = 0x7,
	/* Nehalem to Broadwell. Nehalem has no code for a line that the other socket has modified. */
	CODE_REMOTE_CACHE = 0x8,
	CODE_REMOTE_CACHE_MODIFIED = 0x9,
	CODE_LOCAL_DRAM_SHARED = 0xa,
	CODE_REMOTE_DRAM_SHARED = 0xb,
	CODE_LOCAL_DRAM_EXCLUSIVE = 0xc,
	CODE_REMOTE_DRAM_EXCLUSIVE = 0xd,
	/* E-cores. Gracemont has no code for an L3 hit whose snoop missed. Crestmont swaps Gracemont's 7 and 8. */
	CODE_GRACEMONT_L3_HIT = 0x5,
	CODE_GRACEMONT_L3_MODIFIED = 0x6,
	CODE_CRESTMONT_L3_MODIFIED = 0x8,
	/* Skylake and later. 8 and 9 are memory other than DRAM, which the model does not have. */
	CODE_SKYLAKE_LOCAL_DRAM = 0xa,
	CODE_SKYLAKE_REMOTE_DRAM = 0xb,
	CODE_SKYLAKE_REMOTE_FORWARD = 0xc,
	CODE_SKYLAKE_REMOTE_MODIFIED = 0xd,
	CODE_IO = 0xe,
	CODE_UNCACHED = 0xf,
	CODES = 0x10,
};

#define BIT_STLB_MISS     MODEL_BIT(4)
#define BIT_LOCKED        MODEL_BIT(5)
#define BIT_DATA_BLOCKED  MODEL_BIT(6)
#define BIT_ADDRESS_BLOCK MODEL_BIT(7)
#define BIT_STORE_L1D_HIT MODEL_BIT(0)

/* The flag bits of an encoding. 0: the encoding lacks this flag. */
struct flag_bits {
	u64 stlb_miss, locked, data_blocked, address_blocked;
};

static struct flag_bits flag_bits_of(enum source_encoding encoding)
{
	switch (encoding) {
	case ENCODING_NONE:
	case ENCODING_NEHALEM: /* bits 63:4 are reserved there */
		return (struct flag_bits){0};
	case ENCODING_GOLDEN_COVE:
	case ENCODING_GOLDEN_COVE_CLIENT:
		return (struct flag_bits){BIT_STLB_MISS, BIT_LOCKED, BIT_DATA_BLOCKED, BIT_ADDRESS_BLOCK};
	case ENCODING_GRACEMONT:
		return (struct flag_bits){
			.locked = MODEL_BIT(4), .stlb_miss = MODEL_BIT(5), .data_blocked = MODEL_BIT(6)};
	case ENCODING_CRESTMONT:
		return (struct flag_bits){
			.locked = MODEL_BIT(5), .stlb_miss = MODEL_BIT(6), .data_blocked = MODEL_BIT(7)};
	default:
		return (struct flag_bits){.stlb_miss = BIT_STLB_MISS, .locked = BIT_LOCKED};
	}
}

static u64 flags_of(const struct machine *machine, const struct retired *access)
{
	struct flag_bits bits = flag_bits_of(machine->encoding);

	return (access->translated == TRANSLATED_WALK ? bits.stlb_miss : 0) |
	       (access->locked ? bits.locked : 0);
}

static u64 nehalem_l3(u8 snoop)
{
	switch (snoop) {
	case SNOOPED_HIT:
		return CODE_NEHALEM_L3_HIT;
	case SNOOPED_MODIFIED:
		return CODE_NEHALEM_L3_MODIFIED;
	default: /* served by L3, with or without a snoop that missed */
		return CODE_L3;
	}
}

static u64 later_l3(u8 snoop)
{
	switch (snoop) {
	case SNOOPED_MISS:
		return CODE_L3_SNOOP_MISS;
	case SNOOPED_HIT:
		return CODE_L3_SNOOP_HIT;
	case SNOOPED_MODIFIED:
		return CODE_L3_SNOOP_MODIFIED;
	default:
		return CODE_L3;
	}
}

static u64 gracemont_l3(u8 snoop)
{
	switch (snoop) {
	case SNOOPED_HIT:
		return CODE_GRACEMONT_L3_HIT;
	case SNOOPED_MODIFIED:
		return CODE_GRACEMONT_L3_MODIFIED;
	default:
		return CODE_L3;
	}
}

static u64 l3_of(enum source_encoding encoding, u8 snoop)
{
	switch (encoding) {
	case ENCODING_NEHALEM:
		return nehalem_l3(snoop);
	case ENCODING_GRACEMONT:
		return gracemont_l3(snoop);
	case ENCODING_CRESTMONT:
		return snoop == SNOOPED_MODIFIED ? CODE_CRESTMONT_L3_MODIFIED : later_l3(snoop);
	default:
		return later_l3(snoop);
	}
}

/*
 * For accesses that L3 does not serve, on Nehalem to Broadwell and on Gracemont. A line that other caches also have
 * arrives in shared state, any other line in exclusive state.
 */
static u64 memory_code_until_broadwell(enum source_encoding encoding, const struct retired *access)
{
	bool shared = access->snoop == SNOOPED_HIT || access->snoop == SNOOPED_MODIFIED;

	switch (access->place) {
	case PLACE_REMOTE_CACHE:
		/* Gracemont's code 8 (CODE_REMOTE_CACHE) is an L3 hit of this socket (SNOOP_FWD). */
		if (access->snoop != SNOOPED_MODIFIED)
			return encoding == ENCODING_GRACEMONT ? CODE_UNKNOWN : CODE_REMOTE_CACHE;
		return encoding == ENCODING_NEHALEM ? CODE_UNKNOWN : CODE_REMOTE_CACHE_MODIFIED;
	case PLACE_LOCAL_DRAM:
		return shared ? CODE_LOCAL_DRAM_SHARED : CODE_LOCAL_DRAM_EXCLUSIVE;
	case PLACE_REMOTE_DRAM:
		return shared ? CODE_REMOTE_DRAM_SHARED : CODE_REMOTE_DRAM_EXCLUSIVE;
	default:
		return CODE_UNKNOWN;
	}
}

static u64 memory_code_from_skylake(const struct retired *access)
{
	switch (access->place) {
	case PLACE_REMOTE_CACHE:
		return access->snoop == SNOOPED_MODIFIED ? CODE_SKYLAKE_REMOTE_MODIFIED
							 : CODE_SKYLAKE_REMOTE_FORWARD;
	case PLACE_LOCAL_DRAM:
		return CODE_SKYLAKE_LOCAL_DRAM;
	case PLACE_REMOTE_DRAM:
		return CODE_SKYLAKE_REMOTE_DRAM;
	default:
		return CODE_UNKNOWN;
	}
}

static u64 code_of(const struct machine *machine, const struct retired *access)
{
	switch (access->place) {
	case PLACE_L1:
		return CODE_L1;
	case PLACE_FILL_BUFFER:
		return CODE_FILL_BUFFER;
	case PLACE_L2:
		return CODE_L2;
	case PLACE_L3:
		return l3_of(machine->encoding, access->snoop);
	case PLACE_IO:
		return CODE_IO;
	case PLACE_UNCACHED:
		return CODE_UNCACHED;
	default:
		return machine->encoding <= ENCODING_SANDY_BRIDGE || machine->encoding == ENCODING_GRACEMONT
			       ? memory_code_until_broadwell(machine->encoding, access)
			       : memory_code_from_skylake(access);
	}
}

u64 load_source_encode(const struct machine *machine, const struct retired *load)
{
	struct flag_bits bits = flag_bits_of(machine->encoding);

	if (machine->encoding == ENCODING_NONE)
		return 0;
	return code_of(machine, load) | flags_of(machine, load) |
	       (load->data_blocked ? bits.data_blocked : 0) |
	       (load->address_blocked ? bits.address_blocked : 0);
}

u64 store_status_encode(const struct retired *store)
{
	return (store->place == PLACE_L1 ? BIT_STORE_L1D_HIT : 0) |
	       (store->translated == TRANSLATED_WALK ? BIT_STLB_MISS : 0) | (store->locked ? BIT_LOCKED : 0);
}

u64 store_source_encode(const struct machine *machine, const struct retired *store)
{
	if (!machine->store_event)
		return 0;
	if (machine->mechanisms & MECHANISM_STORE_LATENCY)
		return machine->encoding == ENCODING_NONE
			       ? 0
			       : code_of(machine, store) | flags_of(machine, store);
	if (machine->mechanisms & MECHANISM_PRECISE_STORE)
		return store_status_encode(store);
	return store->place == PLACE_L1 ? BIT_STORE_L1D_HIT : 0;
}
