// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes the encodings of load_source.h into pebsd's classes. The tables are from the manual (data source
 * encodings of 18.8.1.2, bits of 18.9.4, changes of Skylake server, Golden Cove and E-cores), not from the
 * driver. If the driver reports less than the manual, the tables follow the driver. Comments mark these
 * places.
 */
#include "load_source.h"

struct words {
	u8 source; /* enum source */
	u8 snoop;  /* enum snoop */
};

#define CODES 16

static const struct words nehalem[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA}, /* not in L3; place not known */
	[0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE}, /* a miss of the line was in flight */
	[0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE}, /* no coherency action */
	[0x5] = {SOURCE_L3, SNOOP_HIT},  /* another core had it, clean */
	[0x6] = {SOURCE_L3, SNOOP_HITM}, /* another core had it modified */
	[0x7] = {SOURCE_L3, SNOOP_HITM}, /* reserved; the driver treats it as 6 */
	[0x8] = {SOURCE_REMOTE_CACHE, SNOOP_HIT},
	[0x9] = {SOURCE_REMOTE_CACHE, SNOOP_HITM}, /* reserved; the driver treats it as on Sandy Bridge */
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_HIT},    /* the line becomes shared */
	[0xb] = {SOURCE_REMOTE_DRAM, SNOOP_HIT},
	[0xc] = {SOURCE_LOCAL_DRAM, SNOOP_MISS}, /* the line becomes exclusive */
	[0xd] = {SOURCE_REMOTE_DRAM, SNOOP_MISS},
	[0xe] = {SOURCE_IO, SNOOP_NONE},
	[0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct words sandy_bridge[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA},       [0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE},         [0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE},          [0x5] = {SOURCE_L3, SNOOP_MISS},
	[0x6] = {SOURCE_L3, SNOOP_HIT},           [0x7] = {SOURCE_L3, SNOOP_HITM},
	[0x8] = {SOURCE_REMOTE_CACHE, SNOOP_HIT}, [0x9] = {SOURCE_REMOTE_CACHE, SNOOP_HITM},
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_HIT},   [0xb] = {SOURCE_REMOTE_DRAM, SNOOP_HIT},
	[0xc] = {SOURCE_LOCAL_DRAM, SNOOP_MISS},  [0xd] = {SOURCE_REMOTE_DRAM, SNOOP_MISS},
	[0xe] = {SOURCE_IO, SNOOP_NONE},          [0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct words skylake[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA},
	[0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE},
	[0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE},
	[0x5] = {SOURCE_L3, SNOOP_MISS},
	[0x6] = {SOURCE_L3, SNOOP_HIT},
	[0x7] = {SOURCE_L3, SNOOP_HITM},
	[0x8] = {SOURCE_L4, SNOOP_HIT},           /* embedded DRAM */
	[0x9] = {SOURCE_REMOTE_CACHE, SNOOP_HIT}, /* embedded DRAM of another socket: no such CPU exists */
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_HIT},   /* the line may be in any state */
	[0xb] = {SOURCE_REMOTE_DRAM, SNOOP_NONE},
	[0xc] = {SOURCE_REMOTE_CACHE, SNOOP_FWD},
	[0xd] = {SOURCE_REMOTE_CACHE, SNOOP_HITM},
	[0xe] = {SOURCE_IO, SNOOP_NONE},
	[0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct words skylake_server[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA},       [0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE},         [0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE},          [0x5] = {SOURCE_L3, SNOOP_MISS},
	[0x6] = {SOURCE_L3, SNOOP_HIT},           [0x7] = {SOURCE_L3, SNOOP_HITM},
	[0x8] = {SOURCE_PMEM, SNOOP_HIT},         [0x9] = {SOURCE_PMEM, SNOOP_HIT}, /* another socket's */
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_HIT},   [0xb] = {SOURCE_REMOTE_DRAM, SNOOP_NONE},
	[0xc] = {SOURCE_REMOTE_CACHE, SNOOP_FWD}, [0xd] = {SOURCE_REMOTE_CACHE, SNOOP_HITM},
	[0xe] = {SOURCE_IO, SNOOP_NONE},          [0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct words gracemont[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA},      [0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE},        [0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE},         [0x5] = {SOURCE_L3, SNOOP_HIT},
	[0x6] = {SOURCE_L3, SNOOP_HITM},         [0x7] = {SOURCE_L3, SNOOP_HITM},
	[0x8] = {SOURCE_L3, SNOOP_FWD},          [0x9] = {SOURCE_REMOTE_CACHE, SNOOP_HITM},
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_HIT},  [0xb] = {SOURCE_REMOTE_DRAM, SNOOP_HIT},
	[0xc] = {SOURCE_LOCAL_DRAM, SNOOP_MISS}, [0xd] = {SOURCE_REMOTE_DRAM, SNOOP_MISS},
	[0xe] = {SOURCE_IO, SNOOP_NONE},         [0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct words crestmont[CODES] = {
	[0x0] = {SOURCE_UNKNOWN, SNOOP_NA},
	[0x1] = {SOURCE_L1, SNOOP_NONE},
	[0x2] = {SOURCE_LFB, SNOOP_NONE},
	[0x3] = {SOURCE_L2, SNOOP_NONE},
	[0x4] = {SOURCE_L3, SNOOP_NONE},
	[0x5] = {SOURCE_L3, SNOOP_MISS},
	[0x6] = {SOURCE_L3, SNOOP_HIT},
	[0x7] = {SOURCE_L3, SNOOP_FWD},
	[0x8] = {SOURCE_L3, SNOOP_HITM},
	[0x9] = {SOURCE_REMOTE_CACHE, SNOOP_HITM},
	[0xa] = {SOURCE_LOCAL_DRAM, SNOOP_NONE},
	[0xb] = {SOURCE_REMOTE_DRAM, SNOOP_NONE},
	/*
	 * The snoop result says that the data came from another socket's cache. The driver reports memory,
	 * and this table follows the driver.
	 */
	[0xc] = {SOURCE_REMOTE_DRAM, SNOOP_FWD},
	[0xd] = {SOURCE_REMOTE_DRAM, SNOOP_HITM},
	[0xe] = {SOURCE_IO, SNOOP_NONE},
	[0xf] = {SOURCE_UNCACHED, SNOOP_NONE},
};

static const struct load_source nothing = {.source = SOURCE_UNKNOWN, .snoop = SNOOP_NA, .tlb = TLB_NA};

static const struct words *words_of(const struct machine *machine)
{
	switch (machine->encoding) {
	case ENCODING_NEHALEM:
		return nehalem;
	case ENCODING_SANDY_BRIDGE:
		return sandy_bridge;
	case ENCODING_SKYLAKE:
	case ENCODING_GOLDEN_COVE_CLIENT:
		return skylake;
	case ENCODING_SKYLAKE_SERVER:
	case ENCODING_ICE_LAKE:
	case ENCODING_GOLDEN_COVE:
		return skylake_server;
	case ENCODING_GRACEMONT:
		return gracemont;
	case ENCODING_CRESTMONT:
		return crestmont;
	default:
		return NULL;
	}
}

/* Decodes the flags after the source. Their bits are the same for P-cores of all generations. */
static void decode_flags(enum source_encoding encoding, u64 encoded, struct load_source *ret)
{
	static const u8 locked[] = {[ENCODING_GRACEMONT] = 4, [ENCODING_CRESTMONT] = 5};
	static const u8 missed[] = {[ENCODING_GRACEMONT] = 5, [ENCODING_CRESTMONT] = 6};
	static const u8 blocked[] = {[ENCODING_GRACEMONT] = 6, [ENCODING_CRESTMONT] = 7};
	bool efficient = encoding == ENCODING_GRACEMONT || encoding == ENCODING_CRESTMONT;
	bool reports_blocks = encoding == ENCODING_GOLDEN_COVE || encoding == ENCODING_GOLDEN_COVE_CLIENT;

	/* The bit only tells a miss in the second level from a hit in either level. */
	ret->tlb = encoded >> (efficient ? missed[encoding] : 4) & 1 ? TLB_MISS : TLB_HIT;
	ret->locked = encoded >> (efficient ? locked[encoding] : 5) & 1;
	ret->blocked = efficient ? encoded >> blocked[encoding] & 1 : reports_blocks && (encoded >> 6 & 3);
}

void load_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret)
{
	const struct words *words = words_of(machine);

	*ret = nothing;
	if (!words)
		return;
	ret->source = (enum source)words[encoded % CODES].source;
	ret->snoop = (enum snoop)words[encoded % CODES].snoop;
	if (machine->encoding == ENCODING_NEHALEM)
		return; /* no TLB and no lock: bits 63:4 are reserved */
	decode_flags(machine->encoding, encoded, ret);
}

void store_source_decode(const struct machine *machine, u64 encoded, struct load_source *ret)
{
	*ret = nothing;
	if (!machine->store_event)
		return;
	if (machine->mechanisms & MECHANISM_STORE_LATENCY && words_of(machine)) {
		load_source_decode(machine, encoded, ret);
		/* On E-cores, stores have the same block bit as loads. */
		ret->blocked = machine_is_efficient(machine) && ret->blocked;
		return;
	}
	/* For a store that missed L1D, the place is not reported. */
	ret->source = encoded & 1 ? SOURCE_L1 : SOURCE_UNKNOWN;
	if (machine->mechanisms & MECHANISM_PRECISE_STORE) {
		ret->tlb = encoded >> 4 & 1 ? TLB_MISS : TLB_L2_HIT;
		ret->locked = encoded >> 5 & 1;
	}
}
