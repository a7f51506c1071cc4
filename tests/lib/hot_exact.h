// SPDX-License-Identifier: GPL-2.0
/* Hot tables of several CPUs, together with exact counts of the same stream. */
#ifndef PEBSD_TEST_HOT_EXACT_H
#define PEBSD_TEST_HOT_EXACT_H

#include "hot/hot_places.h"

/* An item with more than 1/HOT_EXACT_K of the weight is heavy: the tables should list it. */
#define HOT_EXACT_K 32

#define HOT_EXACT_CPUS 64

struct hot_came {
	u64 item;
	u64 weight;
	u32 samples;
	u32 hitm;
	u32 cpu;
};

struct hot_exact {
	enum hot_kind kind;
	u64 seed;
	u32 cpus;
	struct hot_table tables[HOT_EXACT_CPUS];
	struct hot_came *came;
	size_t n;
	size_t room;
};

/* Starts a new stream. `exact` must be all zero the first time. */
void hot_exact_begin(struct hot_exact *exact, enum hot_kind kind, u32 cpus, u64 seed);
void hot_exact_done(struct hot_exact *exact);

/* Adds one sample at an address, with the code that BPF runs. */
void hot_exact_add(struct hot_exact *exact, u32 cpu, u64 address, u64 weight, u32 hitm);

/* Number of heavy items, and how many of them are listed. */
struct hot_recall {
	u64 heavy;
	u64 found;
};

/*
 * Reads the tables and asserts that every item is within its bounds, listed or not. Adds to `recall`. `what`
 * names the stream in messages.
 */
void hot_exact_check(struct hot_exact *exact, const char *what, struct hot_recall *recall);

#endif
