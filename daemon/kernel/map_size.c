// SPDX-License-Identifier: GPL-2.0
#include "kernel/map_size.h"

#include <stdbool.h>

#include "pebsd/hot.h"
#include "pebsd/offcore.h"
#include "pebsd/records.h"

/*
 * Sizes in a preallocated hash map (kernel/bpf/hashtab.c, htab_map_mem_usage(), Linux 6.4): an element with a
 * key and a value of 8 bytes each, and a bucket. There is one spare element for each CPU.
 */
#define INDEX_ELEMENT 64
#define INDEX_BUCKET  16

/* An array map takes whole pages, and kernel_open.c gives each map at least one entry. */
static u64 array(u64 entries, u64 bytes, u64 page_size)
{
	u64 all = (entries ? entries : 1) * bytes;

	return (all + page_size - 1) / page_size * page_size;
}

static u64 index_bytes(u32 slots, u32 cpus)
{
	u64 buckets = 1;

	while (buckets < slots)
		buckets *= 2;
	return ((u64)slots + cpus) * INDEX_ELEMENT + buckets * INDEX_BUCKET;
}

u64 map_size(const struct map_size_case *maps)
{
	u64 page = maps->page_size;
	u32 slots_max = maps->slots_max ? maps->slots_max : maps->slots;
	u64 records = (u64)maps->slots * maps->stripes;
	u64 rows = (maps->with_latency + maps->without) * maps->stripes + 1 + maps->offcore_cpus;
	u64 bytes = array(records * maps->with_latency, sizeof(struct latency_record), page) +
		    array(records * maps->without, sizeof(struct plain_record), page) +
		    array(rows * dirty_row(slots_max), 1, page) +
		    array(maps->slots, sizeof(struct slot_owner), page) +
		    array(maps->cpus + 1ULL, sizeof(struct cpu_state), page) +
		    array(INJECT_MAX, sizeof(struct sample), page) + index_bytes(slots_max, maps->cpus);

	if (maps->hot_cgroups)
		bytes += maps->hot_cgroups * array(maps->hot_tables, sizeof(struct hot_table), page);
	if (maps->offcore_cpus)
		bytes += array((u64)maps->offcore_cpus * maps->slots, sizeof(struct offcore_record), page) +
			 array(maps->offcore_cpus, sizeof(struct offcore_cpu), page);
	return bytes;
}

/*
 * Finds by bisection the largest number of blocks that fits, at least one, and returns their slots. With
 * `of_max` the maps of fixed size are made for `slots_max`, else for the number of slots that is tried.
 */
static u32 most(const struct map_size_case *maps, u64 bytes, bool of_max)
{
	u32 low = 1, high = (of_max ? maps->slots_max : SLOTS_MAX) / SLOT_BLOCK;

	while (low < high) {
		struct map_size_case tried = *maps;
		u32 middle = low + (high - low + 1) / 2;

		tried.slots = middle * SLOT_BLOCK;
		tried.slots_max = of_max ? maps->slots_max : tried.slots;
		if (map_size(&tried) <= bytes)
			low = middle;
		else
			high = middle - 1;
	}
	return low * SLOT_BLOCK;
}

u32 map_size_slots(const struct map_size_case *maps, u64 bytes)
{
	return most(maps, bytes, false);
}

u32 map_size_slots_of(const struct map_size_case *maps, u64 bytes)
{
	return most(maps, bytes, true);
}
