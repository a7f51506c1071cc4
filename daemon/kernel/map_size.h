// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the BPF maps, each of which is allocated whole when it is made. Pure: the same for maps that there are
 * (kernel_map_bytes()) and for those of another machine. Left out is what never grows: the programs' own
 * variables, a page of each map for itself, the ring that tells of few slots; some 200 KiB.
 */
#ifndef PEBSD_MAP_SIZE_H
#define PEBSD_MAP_SIZE_H

#include <stddef.h>

#include "pebsd/types.h"

struct map_size_case {
	u32 slots;     /* that there are */
	u32 slots_max; /* that there can be, for which index and marks are made; 0: no more */
	u32 stripes;
	u32 cpus;                     /* possible ones */
	size_t with_latency, without; /* events */
	u64 hot_tables;               /* cgroups x events x CPUs (hot.h) */
	u32 offcore_cpus;             /* that off-core responses are counted on */
	u64 page_size;                /* bytes */
};

/*
 * Bytes. Each slot takes of each stripe 2,560 of an event with latency, 320 of one without, and a mark of one
 * for either; and once 320 for who has it and 80 of the index (to the next power of two 16 of those).
 * Off-core counting takes 192 of a slot and CPU, and a hot table 15 KiB.
 */
u64 map_size(const struct map_size_case *maps);

/* The slots, in whole blocks of SLOT_BLOCK, from one block to SLOTS_MAX, that can be had in so many bytes: with
 * maps that are made for no more. `slots` and `slots_max` are not looked at. */
u32 map_size_slots(const struct map_size_case *maps, u64 bytes);

/* As many of those of maps that are made for `slots_max`. */
u32 map_size_slots_of(const struct map_size_case *maps, u64 bytes);

#endif
