// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to a hot table (pebsd/hot.h), in plain C, for BPF on the NMI path and for tests. The work is bounded
 * and needs no lock, because a table has one writer. If a counter gets another item during a read, the reader
 * notices the change of `item` or `turn`.
 */
#ifndef PEBSD_BPF_HOT_WRITE_H
#define PEBSD_BPF_HOT_WRITE_H

#include "pebsd/hot.h"

/*
 * Stores a value. Earlier stores become visible before it, and later stores after it. On x86, stores become
 * visible in program order. Elsewhere an exchange separates them, which in BPF is a full barrier.
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
/* NOLINTNEXTLINE(readability-non-const-parameter): the check does not see that the builtin writes */
static inline void hot_publish(u64 *place, u64 value)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(place, value, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

/*
 * Hides the origin of a value, so that the compiler does not turn branchless code back into a branch. An
 * unpredictable branch would cost more than everything else here.
 */
#define HOT_HIDE(value) __asm__("" : "+r"(value))

/* One sample of an item. */
struct hot_sample {
	u64 item;
	u64 weight;
	u32 hitm; /* 0 or 1 */
	u32 pid;
};

#define HOT_BYTES(byte) (0x0101010101010101ULL * (byte))

/*
 * Returns the highest bit of each byte that is 0. A byte of 1 above a 0 may be reported too, so verify each
 * result.
 */
static inline __attribute__((always_inline)) u64 hot_zero_bytes(u64 word)
{
	return (word - HOT_BYTES(0x01)) & ~word & HOT_BYTES(0x80);
}

#define HOT_NIBBLES 0x1111111111111111ULL

/*
 * Number of nibbles below the lowest set bit of `word`, which has bits only at the bottom of nibbles and is
 * not 0. Each nibble below is counted as 1, and the highest nibble of the product is their sum.
 */
static inline __attribute__((always_inline)) u32 hot_lowest_nibble(u64 word)
{
	return (u32)(((word - 1) & ~word & HOT_NIBBLES) * HOT_NIBBLES >> 60);
}

/* The item's way, or HOT_WAYS if it has none. Its tag selects the few ways to compare. */
static inline __attribute__((always_inline)) u32 hot_find(const struct hot_set *set, u64 item, u64 tag)
{
	u64 tags = HOT_BYTES(tag);
	u64 ways = hot_zero_bytes(set->tags[0] ^ tags) >> 7 | hot_zero_bytes(set->tags[1] ^ tags) >> 3;

	for (u32 i = 0; ways && i < HOT_WAYS; i++) {
		u32 way = hot_lowest_nibble(ways);

		if (set->counters[way].item == item)
			return way;
		ways &= ways - 1;
	}
	return HOT_WAYS;
}

/* The lesser of two numbers below 2^63. */
static inline __attribute__((always_inline)) u64 hot_lesser(u64 a, u64 b)
{
	u64 difference = a - b;
	u64 mask = (u64)((s64)difference >> 63);

	HOT_HIDE(mask);
	return b + (difference & mask);
}

/* a - b, both below 2^63; 0 if `b` is the greater. */
static inline __attribute__((always_inline)) u64 hot_excess(u64 a, u64 b)
{
	return a - hot_lesser(a, b);
}

/* The least rank of four ways. */
static inline __attribute__((always_inline)) u64 hot_least_of(const struct hot_set *set, u32 way)
{
	return hot_lesser(hot_lesser(set->ranks[way], set->ranks[way + 1]),
			  hot_lesser(set->ranks[way + 2], set->ranks[way + 3]));
}

/* The way with the least weight. */
static inline __attribute__((always_inline)) u32 hot_least(const struct hot_set *set)
{
	u64 least = hot_lesser(hot_lesser(hot_least_of(set, 0), hot_least_of(set, 4)),
			       hot_lesser(hot_least_of(set, 8), hot_least_of(set, 12)));

	return (u32)least & (HOT_WAYS - 1);
}

static inline __attribute__((always_inline)) void hot_tag(struct hot_set *set, u32 way, u64 tag)
{
	u32 shift = way / 2 * 8;
	u64 *tags = &set->tags[way & 1];

	*tags = (*tags & ~(0xffULL << shift)) | tag << shift;
}

static inline __attribute__((always_inline)) void hot_count(struct hot_set *set, u32 way,
							    const struct hot_sample *sample)
{
	struct hot_counter *counter = &set->counters[way];

	set->ranks[way] += HOT_RANK(sample->weight, 0);
	counter->samples++;
	counter->hitm += sample->hitm;
	counter->pid = sample->pid;
}

/* Gives a counter to an item that has none in its set. */
static inline __attribute__((always_inline)) void hot_replace(struct hot_set *set, u32 way,
							      const struct hot_sample *sample)
{
	struct hot_counter *counter = &set->counters[way];
	struct hot_error *error = &set->errors[way];

	hot_publish(&counter->item, 0);
	counter->turn++;
	error->weight = set->passed_weight;
	error->samples = set->passed_samples;
	counter->samples = set->passed_samples + 1;
	counter->hitm = sample->hitm;
	counter->pid = sample->pid;
	set->ranks[way] = HOT_RANK(set->passed_weight + sample->weight, way);
	hot_publish(&counter->item, sample->item);
}

/*
 * Returns a counter for a new item: an unused one, or the one with the least weight. The least weight never
 * falls: the item that takes the counter over, and all others, have at least as much.
 */
static inline __attribute__((always_inline)) u32 hot_take(struct hot_set *set)
{
	u32 way = set->used;

	if (way < HOT_WAYS) {
		set->used = way + 1;
		return way;
	}
	way = hot_least(set);
	set->passed_weight = HOT_RANK_WEIGHT(set->ranks[way]);
	set->passed_samples += hot_excess(set->counters[way].samples, set->passed_samples);
	return way;
}

/* Counts a sample in the set of its item's hash. */
static inline __attribute__((always_inline)) void hot_add_to(struct hot_set *set, u64 hash,
							     const struct hot_sample *sample)
{
	u64 tag = HOT_HASH_TAG(hash);
	u32 way = hot_find(set, sample->item, tag);

	set->weight += sample->weight;
	set->samples++;
	if (way < HOT_WAYS) {
		hot_count(set, way, sample);
		return;
	}
	way = hot_take(set) & (HOT_WAYS - 1);
	hot_tag(set, way, tag);
	hot_replace(set, way, sample);
}

/* Counts one sample whose item is not 0. */
static inline void hot_add(struct hot_sets *sets, u64 seed, const struct hot_sample *sample)
{
	u64 hash = hot_hash(sample->item, seed);

	hot_add_to(&sets->sets[HOT_HASH_SET(hash)], hash, sample);
}

#endif
