// SPDX-License-Identifier: GPL-2.0
/*
 * Off-core responses by cgroup. Counters run on each CPU and are read at switches between tasks of different
 * cgroups. Events counted since the last reading are charged to the cgroup of the leaving task.
 *
 * The program runs on the scheduler's tracepoint, where it does not hold a guard. A program on a
 * context-switch event would hold bpf_prog_active, and meanwhile the sampler would lose samples (Linux 6.1:
 * __bpf_trace_run() in kernel/trace/bpf_trace.c takes no guard, bpf_overflow_handler() in
 * kernel/events/core.c does). Interrupts are off from before the tracepoint until the next task runs
 * (__schedule() in kernel/sched/core.c). So a reading in an interrupt finds the work of the tracepoint done,
 * and `current` is the task that runs.
 *
 * If a task is moved to another cgroup while it runs, the events since the last reading of its CPU are charged to the
 * new cgroup.
 */
#ifndef PEBSD_OFFCORE_SWITCH_H
#define PEBSD_OFFCORE_SWITCH_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "pebsd/offcore.h"
#include "slots.h"

const volatile u32 offcore_cpu_count = 1;

/* Sizes are set at load. If off-core responses are not counted, none of the three maps below is created. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, OFFCORE_COUNTERS);
	__type(key, u32);
	__type(value, u32);
} offcore_events SEC(".maps"); /* index: CPU x OFFCORE_COUNTERS + counter */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct offcore_cpu);
} offcore_cpus SEC(".maps");

SLOT_BLOCKS(offcore_block, offcore_record);

/*
 * Reads counter `number` and adds the increase since its last reading. If this reading or the last one
 * failed, the increase is unknown: it is not added, and the cgroup's errors are incremented. `fresh`: the
 * counter is new, so there was no last reading that could have failed.
 */
static __always_inline void offcore_read(u32 cpu, u32 number, u32 fresh, struct offcore_cpu *state,
					 struct offcore_record *record)
{
	struct offcore_count *last = &state->last[number], *sum = &record->counts[number];
	struct bpf_perf_event_value now = {};
	u32 bit = 1U << number;

	if (bpf_perf_event_read_value(&offcore_events, cpu * OFFCORE_COUNTERS + number, &now, sizeof(now))) {
		state->errors[number]++;
		record->errors[number]++;
		state->based &= ~bit;
		return;
	}
	if (!(state->based & bit)) {
		if (!fresh)
			record->errors[number]++;
	} else if (now.counter < last->count || now.enabled < last->enabled_ns ||
		   now.running < last->running_ns) {
		/* A counter never decreases, so this is a different event. */
		state->errors[number]++;
		record->errors[number]++;
	} else {
		sum->count += now.counter - last->count;
		sum->enabled_ns += now.enabled - last->enabled_ns;
		sum->running_ns += now.running - last->running_ns;
	}
	last->count = now.counter;
	last->enabled_ns = now.enabled;
	last->running_ns = now.running;
	state->based |= bit;
}

/* Must run on the CPU of `state`, with interrupts off. */
static __always_inline void offcore_settle(u32 cpu, struct offcore_cpu *state, u64 cgroup_id)
{
	u32 generation = *(volatile u32 *)&state->generation;
	u32 counters = *(volatile u32 *)&state->counters;
	struct offcore_record *record;
	u32 fresh = 0;
	u32 slot, block_number, index;
	void *block;

	if (generation & 1)
		return;
	if (state->known_generation != generation) {
		state->known_generation = generation;
		state->based = 0;
		fresh = 1;
	}
	slot = slot_of(cgroup_id);
	block_number = slot_block(slot);
	index = cpu * block_slots + slot_in_block(slot);
	block = bpf_map_lookup_elem(&offcore_blocks, &block_number);
	record = block ? bpf_map_lookup_elem(block, &index) : NULL;
	if (!record)
		return;
#pragma unroll
	for (u32 number = 0; number < OFFCORE_COUNTERS; number++)
		if (counters & 1U << number)
			offcore_read(cpu, number, fresh, state, record);
	state->settles++;
	__sync_fetch_and_add(&record->settles, 1); /* atomic, so that it is written after the counts */
	slot_set_dirty(dirty_offcore + cpu * dirty_lines, slot, true);
}

static __always_inline struct offcore_cpu *offcore_this_cpu(u32 *ret_cpu)
{
	struct offcore_cpu *state;
	u32 cpu = bpf_get_smp_processor_id();

	*ret_cpu = cpu;
	if (cpu >= offcore_cpu_count)
		return NULL;
	state = bpf_map_lookup_elem(&offcore_cpus, &cpu);
	return state && *(volatile u32 *)&state->counters ? state : NULL;
}

static __always_inline void offcore_switch_between(struct task_struct *prev, struct task_struct *next)
{
	struct offcore_cpu *state;
	u64 leaving, begun;
	u32 cpu;

	state = offcore_this_cpu(&cpu);
	if (!state)
		return;
	state->switches++;
	leaving = prev->cgroups->dfl_cgrp->kn->id;
	if (leaving == next->cgroups->dfl_cgrp->kn->id)
		return;
	if (state->settles % OFFCORE_TIMED_EVERY) {
		offcore_settle(cpu, state, leaving);
		return;
	}
	begun = bpf_ktime_get_ns();
	offcore_settle(cpu, state, leaving);
	state->timed_ns += bpf_ktime_get_ns() - begun;
	state->timed++;
}

#endif
