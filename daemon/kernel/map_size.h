// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the BPF maps. The kernel allocates each map as a whole when it is made. All maps are made at the
 * start, except for blocks that are added later and hot tables, which are made when a choice is first used.
 *
 * The functions are pure, so they can compute the maps of other machines besides those of this one
 * (kernel_map_bytes()). The results leave out parts that never grow, about 200 KiB: the programs' variables,
 * one page for each map itself, and the ring buffer that reports a shortage of slots.
 */
#ifndef PEBSD_MAP_SIZE_H
#define PEBSD_MAP_SIZE_H

#include <stddef.h>

#include "pebsd/types.h"

struct map_size_case {
	u32 slots;     /* slots that exist */
	u32 slots_max; /* maximum, for which the index and the dirty bytes are made; 0: `slots` */
	u32 stripes;
	u32 cpus;                     /* possible CPUs */
	size_t with_latency, without; /* number of events */
	u64 hot_tables;               /* tables of one cgroup: events x CPUs (hot.h) */
	u64 hot_cgroups;              /* cgroups that have hot tables */
	u32 offcore_cpus;             /* CPUs on which off-core responses are counted */
	u64 page_size;                /* bytes */
};

/*
 * Returns the bytes of the maps:
 * - In each stripe, a slot takes a struct latency_record for an event with latency or a struct plain_record for one
 *   without, and 1 dirty byte for either.
 * - Once for each slot come 320 bytes for its owner, 1 dirty byte for it, and 80 for the index. Of these
 *   80, 16 are for a hash bucket, and the number of buckets is rounded up to a power of two.
 * - Off-core counting takes 192 bytes, and 1 dirty byte, for each slot and CPU.
 * - A hot table takes 15 KiB.
 */
u64 map_size(const struct map_size_case *maps);

/*
 * Returns how many slots fit into `bytes`, in whole blocks of SLOT_BLOCK, from one block to SLOTS_MAX, if the
 * maps are made for just that number of slots. Ignores `slots` and `slots_max`.
 */
u32 map_size_slots(const struct map_size_case *maps, u64 bytes);

/*
 * Like map_size_slots(), but the maps of fixed size are made for `slots_max`, which also limits the result.
 */
u32 map_size_slots_of(const struct map_size_case *maps, u64 bytes);

#endif
