// SPDX-License-Identifier: GPL-2.0
/*
 * State of each CPU (struct cpu_state): the stripe that it writes to, the cgroup of its last sample, and the
 * run time of its programs. Written by perf_event programs. A CPU runs one of them at a time, because they
 * hold bpf_prog_active (bpf_overflow_handler(), kernel/events/core.c, Linux 6.1 to 7.3). The inject program
 * has an entry of its own, because a PMI may interrupt it.
 */
#ifndef PEBSD_CPU_STATES_H
#define PEBSD_CPU_STATES_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "slots.h"

const volatile u32 cpu_count = 1; /* number of CPUs with an entry; the inject program has one more */

/* The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_state);
} cpu_states SEC(".maps");

static __always_inline struct cpu_state *cpu_state_of(u32 cpu)
{
	return bpf_map_lookup_elem(&cpu_states, &cpu);
}

/* Returns a number below STRIPES_MAX. */
static __always_inline u32 cpu_stripe(const struct cpu_state *state)
{
	return state->stripe & (STRIPES_MAX - 1);
}

/* Keeps later reads after earlier ones. x86 does not reorder reads, so a barrier for the compiler is enough. */
static __always_inline void cpu_read_before(struct cpu_state *state)
{
#ifdef __TARGET_ARCH_x86
	(void)state;
	__asm__ volatile("" ::: "memory");
#else
	(void)__sync_fetch_and_add(&state->reserved, 0);
#endif
}

/*
 * Returns the slot of a cgroup. `key` is the cgroup's address, or its id if `cgroup` is NULL. If the last sample
 * of this CPU had the same key, and since then no slot was retired and no cgroup was born, the slot is the same.
 * Otherwise the slot is looked up in the index. The epoch is read before the index (see `index_epoch`). A missing
 * slot is not remembered, because adoption of a cgroup does not change the epoch.
 *
 * The key of a sample is the address, because the id is in the kernfs_node, whose cache line a sample misses:
 * reading the id took 22 ns, the address 7 ns (AMD EPYC, Linux 6.18, samples one after the other).
 */
static __always_inline u32 cpu_slot_of(struct cpu_state *state, u64 key, struct cgroup *cgroup)
{
	u32 epoch = *(volatile u32 *)&index_epoch;
	u64 id = key;
	u32 *slot;

	if (__builtin_expect(state->cgroup == key && state->epoch == epoch, 1))
		return state->slot;
	cpu_read_before(state);
	if (cgroup)
		id = cgroup->kn->id;
	slot = bpf_map_lookup_elem(&slot_index, &id);
	if (!slot)
		return SLOT_UNATTRIBUTED;
	state->cgroup = key;
	state->slot = *slot;
	state->epoch = epoch;
	return *slot;
}

/*
 * Returns the index of a record in the block of its slot. Records are ordered by event, then stripe, then
 * slot, so that a reader of many slots reads memory in order.
 */
static __always_inline u32 cpu_record(const struct cpu_state *state,
				      const volatile struct event_settings *event, u32 slot)
{
	return event->first_record + state->first_record + slot_in_block(slot);
}

/* First line of the dirty bytes of an event in the CPU's stripe. */
static __always_inline u32 cpu_dirty(const struct cpu_state *state, u32 number)
{
	return number * dirty_event + state->first_dirty;
}

/* Returns the start of the run (CLOCK_MONOTONIC) if this run is timed, else 0. */
static __always_inline u64 cpu_run_begins(struct cpu_state *state)
{
	return ++state->runs & state->timed_mask ? 0 : bpf_ktime_get_ns();
}

/* Reads the clock twice, to measure and subtract the cost of one reading. */
static __always_inline void cpu_run_ends(struct cpu_state *state, u64 begun)
{
	u64 ended, again;

	if (__builtin_expect(!begun, 1))
		return;
	ended = bpf_ktime_get_ns();
	again = bpf_ktime_get_ns();
	if (ended - begun > again - ended)
		state->timed_ns += ended - begun - (again - ended);
	state->timed++;
}

#endif
