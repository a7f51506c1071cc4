// SPDX-License-Identifier: GPL-2.0
/*
 * Decides what to do with the maps and programs that the previous process left running: whether their
 * contents and code match those that this process would make. Pure functions.
 */
#ifndef PEBSD_INHERITED_H
#define PEBSD_INHERITED_H

#include <stddef.h>

#include "pebsd/records.h"

/* Raise this when the meaning of a record changes but neither its fields nor their offsets do. */
#define INHERITED_RECORDS 1

struct inherited_identity {
	/* If any of these differs, the contents of the maps cannot be interpreted. */
	u64 records;     /* hash of the fields in the maps and their offsets: inherited_layout() */
	u32 slots;       /* maximum number */
	u32 block_slots; /* slots of one block */
	u32 stripes;
	u32 cpus;
	u32 n_events;
	u32 with_latency; /* a bit for each event with latency */
	u64 measured;     /* identifies the events: a hash that the origin computes */
	u32 hot_max;
	u32 hot_cpus;
	u32 offcore_cpus;
	/* If one of these differs, the maps can be inherited, but the programs must be replaced. */
	u64 settings; /* hash of the constants in the programs */
	u64 programs; /* hash of the kernel's tags of the programs */
};

enum inherited {
	INHERITED_NOTHING, /* no usable maps were inherited: all counters begin at zero */
	INHERITED_MAPS,    /* the maps are inherited, the programs are replaced */
	INHERITED_ALL,     /* both the maps and the programs are inherited */
};

/*
 * Decides what to take over. `own->programs` may still be 0 if the caller only needs to know whether the
 * result is INHERITED_NOTHING.
 */
enum inherited inherited_decide(const struct inherited_identity *before,
				const struct inherited_identity *own);

/*
 * Returns the first difference of two identities, as words for a message: "the number of slots". Returns NULL
 * if there is none. The string is a constant.
 */
const char *inherited_difference(const struct inherited_identity *before,
				 const struct inherited_identity *own);

/* FNV-1a of `n` bytes. `hash` is the hash of the bytes before them, or INHERITED_HASH for the first ones. */
#define INHERITED_HASH 0xcbf29ce484222325ULL
u64 inherited_hash(u64 hash, const void *bytes, size_t n);

struct bpf_map;
struct btf;

/*
 * Adds the type of a map, the sizes of its keys and values, its flags, and the fields of its values and their offsets
 * to `hash`. They are from the BTF of the BPF object. So the hash changes if a record gains a field or a variable
 * moves, and nobody has to raise a version.
 */
u64 inherited_layout(u64 hash, const struct btf *btf, const struct bpf_map *map);

/* Adds the fields of the struct called `name` to `hash`. */
u64 inherited_layout_struct(u64 hash, const struct btf *btf, const char *name);

#endif
