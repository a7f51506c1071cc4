// SPDX-License-Identifier: GPL-2.0
/*
 * The hot tables (pebsd/hot.h) of chosen cgroups. The daemon chooses by writing to the memory here that it
 * has mapped; programs only look. With none chosen that is one branch, which is not taken.
 */
#ifndef PEBSD_BPF_HOT_TABLES_H
#define PEBSD_BPF_HOT_TABLES_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "account.h"
#include "hot.h"
#include "slots.h"

/* Settings, fixed at load. */
const volatile u32 hot_max = 0;    /* cgroups that may be chosen; 0: there are no tables */
const volatile u32 hot_events = 1; /* tables of one cgroup on one CPU */
const volatile u32 hot_cpus = 1;   /* one for all samples, which then have one writer, or the possible CPUs */
const volatile u64 hot_seed = 0;

/* The daemon's: how many slots are chosen, and which of the chosen ones a slot is, from 1 on; 0: it is not.
 */
volatile u32 hot_chosen = 0;
volatile u8 hot_choices[SLOTS_MAX] = {};

/* Choice, then event, then CPU. Sized at load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hot_table);
} hot_tables SEC(".maps");

/* Verified once, on its own, as account_decode(). `origin`: the pid, and above it whether a modified copy was
 * met. An item that is 0 is none. Returns whether it was counted. */
ACCOUNT_FUNCTION u32 hot_account(u32 index, u64 code, u64 line, u64 weight, u64 origin)
{
	struct hot_sample sample = {.weight = weight, .hitm = (u32)(origin >> 32) & 1, .pid = (u32)origin};
	struct hot_table *table = bpf_map_lookup_elem(&hot_tables, &index);

	if (!table)
		return 0;
	if (code) {
		sample.item = code;
		hot_add(&table->kinds[HOT_CODE], hot_seed, &sample);
	}
	if (line) {
		sample.item = line;
		hot_add(&table->kinds[HOT_LINES], hot_seed, &sample);
	}
	return 1;
}

/* The slot's table for the event on this CPU, as its index above 0; 0 where it is not chosen. */
static __always_inline u32 hot_table_of(u32 slot, u32 number)
{
	u32 choice = hot_choices[slot & (SLOTS_MAX - 1)];
	u32 cpu = hot_cpus == 1 ? 0 : bpf_get_smp_processor_id();

	if (!choice || choice > hot_max || number >= hot_events || cpu >= hot_cpus)
		return 0;
	return ((choice - 1) * hot_events + number) * hot_cpus + cpu + 1;
}

#endif
