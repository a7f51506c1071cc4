// SPDX-License-Identifier: GPL-2.0
/*
 * The hot tables (pebsd/hot.h) of chosen cgroups. The daemon maps this memory and writes its choice into it;
 * programs only read it. If no cgroup is chosen, a sample costs one branch more.
 * Each choice has a map of its own for its tables. The daemon makes that map when the choice is first used:
 * on a large machine these maps are most of the memory, and many machines never need them.
 */
#ifndef PEBSD_BPF_HOT_TABLES_H
#define PEBSD_BPF_HOT_TABLES_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "account.h"
#include "hot_write.h"
#include "slots.h"

/* Settings, fixed at load. */
const volatile u32 hot_max = 0;    /* cgroups that may be chosen; 0: there are no tables */
const volatile u32 hot_events = 1; /* number of events; each has a table for each chosen cgroup and CPU */
const volatile u32 hot_cpus = 1;   /* possible CPUs; 1 if a single writer adds all samples */
const volatile u64 hot_seed = 0;

/*
 * Written by the daemon: the number of chosen slots, and for each slot the number of its choice, from 1 on
 * (0: not chosen).
 */
volatile u32 hot_chosen = 0;
volatile u8 hot_choices[SLOTS_MAX] = {};

/*
 * Written by the daemon: a bit for each choice that has tables in the map below. The bit is set before the
 * tables are entered into the map, so it may be set for a choice without tables.
 */
u64 hot_made = 0;

/*
 * The sets of the tables of a choice, ordered by event, then CPU, then as in struct hot_table. The loader
 * sets the size. clang 14 does not describe the structure of a map inside a map, so the value has a size and
 * no type.
 */
struct hot_sets_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct hot_set));
};

/*
 * The key is the number of a choice (hot_choices) less 1. The loader sets the size. The first use of a choice
 * adds its tables.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct hot_sets_map);
} hot_tables SEC(".maps");

/*
 * Counts a sample's items in the table whose sets begin at `first` in `tables`, the tables of a choice.
 * `origin` is the pid, with bit 32 set if a modified copy was found. An item of 0 is skipped.
 *
 * The function is always inlined: on CPUs with a mitigation for returns (SRSO, retbleed), one return costs a
 * third as much as the whole function. It counts the code address and the cache line in a loop, so that both
 * run the same instructions: at a PMI these instructions are in no cache yet.
 */
static __always_inline void hot_account(void *tables, u32 first, u64 code, u64 line, u64 weight, u64 origin)
{
	struct hot_sample sample = {
		.item = code, .weight = weight, .hitm = (u32)(origin >> 32) & 1, .pid = (u32)origin};

#pragma clang loop unroll(disable)
	for (u32 kind = 0; kind < HOT_KINDS; kind++, sample.item = line, first += HOT_SETS) {
		u64 hash = hot_hash(sample.item, hot_seed);
		u32 number = first + HOT_HASH_SET(hash);
		struct hot_set *set;

		if (!sample.item)
			continue;
		set = bpf_map_lookup_elem(tables, &number);
		if (!set)
			return;
		hot_add_to(set, hash, &sample);
	}
}

/*
 * Returns the tables of the slot, or NULL if it has none. *ret_first is the first set of the event on this CPU.
 */
static __always_inline void *hot_tables_of(u32 slot, u32 number, u32 *ret_first)
{
	u32 choice = hot_choices[slot & (SLOTS_MAX - 1)] - 1U;
	u32 cpu = hot_cpus == 1 ? 0 : bpf_get_smp_processor_id();

	if (choice >= hot_max || number >= hot_events || cpu >= hot_cpus)
		return NULL;
	*ret_first = (number * hot_cpus + cpu) * HOT_KINDS * HOT_SETS;
	return bpf_map_lookup_elem(&hot_tables, &choice);
}

#endif
