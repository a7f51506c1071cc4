// SPDX-License-Identifier: GPL-2.0
/* One retired instruction and its memory access: the input of the PMU model. */
#ifndef PEBSD_MODEL_RETIRED_H
#define PEBSD_MODEL_RETIRED_H

#include "freestanding.h"

enum operation { OPERATION_NONE, OPERATION_LOAD, OPERATION_STORE };

/* The real location of the line. A data source encoding expresses this only in part. */
enum place {
	PLACE_L1,
	PLACE_FILL_BUFFER, /* a miss of the same line was in flight */
	PLACE_L2,
	PLACE_L3,           /* this socket's */
	PLACE_REMOTE_CACHE, /* another socket's */
	PLACE_LOCAL_DRAM,
	PLACE_REMOTE_DRAM,
	PLACE_IO,
	PLACE_UNCACHED,
	PLACE_COUNT,
};

/* The result of snooping the other cores. */
enum snoop_result {
	SNOOPED_NONE, /* no snoop was needed */
	SNOOPED_MISS,
	SNOOPED_HIT,
	SNOOPED_MODIFIED,
	SNOOPED_COUNT,
};

enum translated { TRANSLATED_L1, TRANSLATED_L2, TRANSLATED_WALK, TRANSLATED_COUNT };

#define RETIRED_REGISTERS 16

struct retired_registers {
	u64 flags;
	u64 general[RETIRED_REGISTERS]; /* AX BX CX DX SI DI BP SP R8 to R15 */
};

struct retired {
	u64 ip;         /* address of the instruction */
	u64 next_ip;    /* address of the instruction that retires next */
	u64 address;    /* data linear address; 0: no access */
	u64 physical;   /* physical address of the data; 0: same as `address` */
	u64 tsc;        /* time at which the instruction retired, core clock cycles since the start */
	u64 time_stamp; /* the time-stamp counter at that time, for the record; 0: same as `tsc` */
	const struct retired_registers *registers; /* values after the instruction; NULL: records have none */
	u32 latency; /* core clock cycles from first dispatch to the data, 18.8.1.2; loads and stores */
	u32 instruction_latency; /* core clock cycles from dispatch to retirement; not below `latency` */
	u32 stalled; /* core clock cycles in which no instruction made progress, because all waited for this load */
	u8 operation;  /* enum operation */
	u8 place;      /* enum place */
	u8 snoop;      /* enum snoop_result */
	u8 translated; /* enum translated */
	bool locked;
	bool data_blocked;    /* waited for a store's data (a block bit of Golden Cove and E-cores) */
	bool address_blocked; /* waited for a store's address */
	u8 uops;              /* 0 counts as 1 */
};

#endif
