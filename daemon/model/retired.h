// SPDX-License-Identifier: GPL-2.0
/* One instruction that retired, with what it did to memory: what the world tells the PMU. */
#ifndef PEBSD_MODEL_RETIRED_H
#define PEBSD_MODEL_RETIRED_H

#include "freestanding.h"

enum operation { OPERATION_NONE, OPERATION_LOAD, OPERATION_STORE };

/* Where the line was found: the truth, of which a data source encoding tells what it can. */
enum place {
	PLACE_L1,
	PLACE_FILL_BUFFER, /* a miss of the same line was on its way */
	PLACE_L2,
	PLACE_L3,           /* this socket's */
	PLACE_REMOTE_CACHE, /* another socket's */
	PLACE_LOCAL_DRAM,
	PLACE_REMOTE_DRAM,
	PLACE_IO,
	PLACE_UNCACHED,
	PLACE_COUNT,
};

/* What asking the other cores found. */
enum asked {
	ASKED_NONE, /* nobody had to be asked */
	ASKED_MISS,
	ASKED_HIT,
	ASKED_MODIFIED,
	ASKED_COUNT,
};

enum translated { TRANSLATED_L1, TRANSLATED_L2, TRANSLATED_WALK, TRANSLATED_COUNT };

#define RETIRED_REGISTERS 16

struct retired_registers {
	u64 flags;
	u64 general[RETIRED_REGISTERS]; /* AX BX CX DX SI DI BP SP R8 to R15 */
};

struct retired {
	u64 ip;         /* its own address */
	u64 next_ip;    /* of the instruction that retires after it */
	u64 address;    /* data linear address; 0 without an access */
	u64 physical;   /* of the same data; 0: as the linear address */
	u64 tsc;        /* when it retired, core clock cycles since the start */
	u64 time_stamp; /* the time-stamp counter then, which a record tells; 0: as `tsc` */
	const struct retired_registers *registers; /* as it left them; NULL: a record has none */
	u32 latency; /* core clock cycles from first dispatch to the data, 18.8.1.2; loads and stores */
	u32 instruction_latency; /* core clock cycles from dispatch to retirement; not below `latency` */
	u8 operation;            /* enum operation */
	u8 place;                /* enum place */
	u8 asked;                /* enum asked */
	u8 translated;           /* enum translated */
	bool locked;
	bool data_blocked;    /* waited for a store's data (Golden Cove's block bits) */
	bool address_blocked; /* waited for a store's address */
	u8 uops;              /* 1 where 0 */
};

#endif
