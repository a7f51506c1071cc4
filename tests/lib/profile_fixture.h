// SPDX-License-Identifier: GPL-2.0
/* Known addresses for tests of profiles: two processes of one program, and their samples. */
#ifndef PEBSD_TESTS_PROFILE_FIXTURE_H
#define PEBSD_TESTS_PROFILE_FIXTURE_H

#include "profile/profile.h"

#define PROGRAM "/usr/bin/work"

/* The functions of PROGRAM are 0x100 long. `inner` is inlined in `work` from offset 0x40 on. */
enum {
	AT_START = 0x400100,
	AT_MAIN = 0x400200,
	AT_WORK = 0x400300,
	AT_INNER = 0x400340,
	AT_LOAD_ROW = 0x400400,
	AT_UNNAMED = 0x408000,
	AT_COUNTERS = 0x500000, /* a variable, 0x100 long */
	AT_BSS = 0x501000,      /* belongs to no variable */
	AT_HEAP = 0x1000000,    /* 0x1000000 long */
};
#define AT_STACK       0x7ff000000000ULL
#define AT_SHARED      0x7f1000000000ULL /* in process 100 */
#define AT_SHARED2     0x7f2000000000ULL /* in process 200: the same memory */
#define AT_FAULT       0xffffffff81000000ULL
#define AT_KERNEL_DATA 0xffff888000001000ULL

struct profile_fixture_names {
	struct profile_names names;
	struct symbol symbol;
	struct symbol_frame frames[2];
	size_t calls;
	u32 pid;       /* of the last call */
	size_t silent; /* this many further calls return no answer */
};

/* Initializes `names.find`. `fixture` must not move afterwards. */
void profile_fixture_names_init(struct profile_fixture_names *fixture);

/*
 * Makes a sample with SAMPLE_CODE_ADDRESS, SAMPLE_ADDRESS, SAMPLE_LATENCY and SAMPLE_DATA_SOURCE, of process
 * and thread 100 on CPU 0.
 */
struct zoom_sample profile_fixture_sample(u64 code, u64 address, u64 latency);

/* Data source values. */
u64 profile_fixture_l1(void);
u64 profile_fixture_hitm(void); /* a load that found its line modified in another core's cache */
u64 profile_fixture_store(void);

/* Returns sample `i` of an endless sequence that is always the same, with its stack in `stack`. */
struct zoom_sample profile_fixture_random(u64 i, u64 stack[16]);

#endif
