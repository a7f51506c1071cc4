// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a hot table (pebsd/hot.h): plain C, for BPF on the NMI path and for tests. Bounded work, no lock: a
 * table has one writer, and a reader who meets a counter that changes hands sees it by its item and turn.
 */
#ifndef PEBSD_BPF_HOT_H
#define PEBSD_BPF_HOT_H

#include "pebsd/hot.h"

/*
 * Other stores stay on their side of this one. On x86 they are seen in the order of the program; elsewhere an
 * exchange keeps them apart, which in BPF is a full barrier.
 */
#if defined(__bpf__) && defined(__TARGET_ARCH_x86)
static inline __attribute__((always_inline)) void hot_publish(u64 *place, u64 value)
{
	__asm__ volatile("" ::: "memory");
	*(volatile u64 *)place = value;
	__asm__ volatile("" ::: "memory");
}
#elif defined(__bpf__)
static inline __attribute__((always_inline)) void hot_publish(u64 *place, u64 value)
{
	(void)__sync_lock_test_and_set(place, value);
}
#else
static inline void hot_publish(u64 *place, u64 value)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(place, value, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

/* The verifier of 6.1 walks a loop step by step anyway; in a row its steps have constant offsets. */
#ifdef __bpf__
#define HOT_UNROLL _Pragma("unroll")
#else
#define HOT_UNROLL
#endif

/* One sample of an item. */
struct hot_sample {
	u64 item;
	u64 weight;
	u32 hitm; /* 0 or 1 */
	u32 pid;
};

/* The item's way, or HOT_WAYS where it has none. */
static inline __attribute__((always_inline)) u32 hot_find(const struct hot_set *set, u64 item)
{
	HOT_UNROLL
	for (u32 way = 0; way < HOT_WAYS; way++)
		if (set->items[way] == item)
			return way;
	return HOT_WAYS;
}

/*
 * The way with the least weight. The number of the way stands below its weight, so that one number is carried
 * on: to the verifier all ways to it are one. Weights are far below 2^60.
 */
static inline __attribute__((always_inline)) u32 hot_least(const struct hot_set *set)
{
	u64 least = set->weights[0] << HOT_WAYS_LOG2;

	HOT_UNROLL
	for (u32 way = 1; way < HOT_WAYS; way++) {
		u64 weight = set->weights[way] << HOT_WAYS_LOG2 | way;

		if (weight < least)
			least = weight;
	}
	return (u32)least & (HOT_WAYS - 1);
}

static inline __attribute__((always_inline)) void hot_count(struct hot_set *set, u32 way,
							    const struct hot_sample *sample)
{
	struct hot_counter *counter = &set->counters[way];

	set->weights[way] += sample->weight;
	counter->samples++;
	counter->hitm += sample->hitm;
	counter->pid = sample->pid;
}

/* Gives a counter to an item that is in no counter of its set. */
static inline __attribute__((always_inline)) void hot_replace(struct hot_set *set, u32 way,
							      const struct hot_sample *sample)
{
	struct hot_counter *counter = &set->counters[way];

	hot_publish(&set->items[way], 0);
	counter->turn++;
	counter->weight_error = set->passed_weight;
	counter->samples_error = set->passed_samples;
	counter->samples = set->passed_samples + 1;
	counter->hitm = sample->hitm;
	counter->pid = sample->pid;
	set->weights[way] = set->passed_weight + sample->weight;
	hot_publish(&set->items[way], sample->item);
}

/* Counts one sample whose item is not 0. */
static inline __attribute__((always_inline)) void hot_add(struct hot_summary *summary, u64 seed,
							  const struct hot_sample *sample)
{
	struct hot_set *set = &summary->sets[hot_set_of(sample->item, seed) & (HOT_SETS - 1)];
	u32 way = hot_find(set, sample->item);

	summary->weight += sample->weight;
	summary->samples++;
	if (way < HOT_WAYS) {
		hot_count(set, way, sample);
		return;
	}
	way = set->used;
	if (way < HOT_WAYS) {
		set->used = way + 1;
	} else {
		way = hot_least(set);
		if (set->weights[way] > set->passed_weight)
			set->passed_weight = set->weights[way];
		if (set->counters[way].samples > set->passed_samples)
			set->passed_samples = set->counters[way].samples;
	}
	hot_replace(set, way, sample);
}

#endif
