// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of the maps and programs that the process before left running: whether what they hold is what
 * this one would make. Pure.
 */
#ifndef PEBSD_KEPT_H
#define PEBSD_KEPT_H

#include <stddef.h>

#include "pebsd/records.h"

/* To be raised where a record's meaning changes and neither its fields nor their places do. */
#define KEPT_RECORDS 1

struct kept_identity {
	/* With another one of these what the maps hold is not to be read. */
	u64 records;     /* fields of what the maps hold, and their places: kept_layout() */
	u32 slots;       /* that there can be */
	u32 block_slots; /* of a block */
	u32 stripes;
	u32 cpus;
	u32 n_events;
	u32 with_latency; /* a bit for each event that has it */
	u64 measured;     /* which events they are: the origin's to hash */
	u32 hot_max;
	u32 hot_cpus;
	u32 offcore_cpus;
	/* With another one of these the same is counted by other programs. */
	u64 settings; /* what is baked into the programs, hashed */
	u64 programs; /* the kernel's tags of them, hashed */
};

enum kept {
	KEPT_ANEW,    /* nothing was left, or nothing that could be read: all begins at zero */
	KEPT_REPLACE, /* maps go on, with other programs */
	KEPT_GO_ON,   /* maps and programs go on */
};

/* `own` with its programs still 0 is enough to tell KEPT_ANEW from the others. */
enum kept kept_decide(const struct kept_identity *before, const struct kept_identity *own);

/* What two identities differ in, for a sentence: "the number of slots". A constant; NULL: in nothing. */
const char *kept_difference(const struct kept_identity *before, const struct kept_identity *own);

/* FNV-1a: of bytes, after what was hashed before; KEPT_HASH to begin with. */
#define KEPT_HASH 0xcbf29ce484222325ULL
u64 kept_hash(u64 hash, const void *bytes, size_t n);

#endif
