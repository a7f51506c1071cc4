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
/* NOLINTNEXTLINE(readability-non-const-parameter): that the builtin writes is not seen */
static inline void hot_publish(u64 *place, u64 value)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(place, value, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

/* Hides where a value is from, so that no compiler makes a branch of what is computed without one: a branch
 * that nobody can foretell costs more than all else here. */
#define HOT_HIDE(value) __asm__("" : "+r"(value))

/* One sample of an item. */
struct hot_sample {
	u64 item;
	u64 weight;
	u32 hitm; /* 0 or 1 */
	u32 pid;
};

#define HOT_BYTES(byte) (0x0101010101010101ULL * (byte))

/* The highest bit of each byte that is 0; and sometimes of one of 1 above it, so look there. */
static inline __attribute__((always_inline)) u64 hot_zero_bytes(u64 word)
{
	return (word - HOT_BYTES(0x01)) & ~word & HOT_BYTES(0x80);
}

#define HOT_DE_BRUIJN 0x03f79d71b4cb0a89ULL

/* The number of the only bit that is set (Leiserson, Prokop, Randall, 1998), of 16 that are looked at here:
 * bit 8n is way n, and bit 8n + 1 way 8 + n. */
static const u8 hot_bit_ways[64] = {
	0, 8, 6, 0, 15, 14, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 12, 0, 3, 0, 0, 0,
	0, 0, 7, 0, 0,  13, 0, 2, 0, 0, 0, 0, 0, 4, 0,  0, 0, 0, 5, 0, 0, 0, 0, 0, 11, 0, 0,  9, 0, 1, 0, 0,
};

/* The item's way, or HOT_WAYS where it has none. A tag tells where to look, so that nothing is searched. */
static inline __attribute__((always_inline)) u32 hot_find(const struct hot_set *set, u64 item, u64 tag)
{
	u64 tags = HOT_BYTES(tag);
	u64 ways = hot_zero_bytes(set->tags[0] ^ tags) >> 7 | hot_zero_bytes(set->tags[1] ^ tags) >> 6;

	for (u32 i = 0; ways && i < HOT_WAYS; i++) {
		u64 bit = ways & -ways;
		u32 way = hot_bit_ways[bit * HOT_DE_BRUIJN >> 58] & (HOT_WAYS - 1);

		if (set->items[way] == item)
			return way;
		ways ^= bit;
	}
	return HOT_WAYS;
}

/* The lesser of two below 2^63. */
static inline __attribute__((always_inline)) u64 hot_lesser(u64 a, u64 b)
{
	u64 difference = a - b;
	u64 mask = (u64)((s64)difference >> 63);

	HOT_HIDE(mask);
	return b + (difference & mask);
}

/* The least of four ways. */
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
	u32 shift = (way & 7) * 8;
	u64 *tags = &set->tags[way >> 3 & 1];

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
	set->ranks[way] = HOT_RANK(set->passed_weight + sample->weight, way);
	hot_publish(&set->items[way], sample->item);
}

/* Counts one sample whose item is not 0. */
static inline __attribute__((always_inline)) void hot_add(struct hot_sets *sets, u64 seed,
							  const struct hot_sample *sample)
{
	u64 hash = hot_hash(sample->item, seed);
	u64 tag = hash >> 32 & 0xff;
	struct hot_set *set = &sets->sets[HOT_HASH_SET(hash) & (HOT_SETS - 1)];
	u32 way = hot_find(set, sample->item, tag);

	set->weight += sample->weight;
	set->samples++;
	if (way < HOT_WAYS) {
		hot_count(set, way, sample);
		return;
	}
	way = set->used;
	if (way < HOT_WAYS) {
		set->used = way + 1;
	} else {
		way = hot_least(set);
		if (HOT_RANK_WEIGHT(set->ranks[way]) > set->passed_weight)
			set->passed_weight = HOT_RANK_WEIGHT(set->ranks[way]);
		if (set->counters[way].samples > set->passed_samples)
			set->passed_samples = set->counters[way].samples;
	}
	hot_tag(set, way, tag);
	hot_replace(set, way, sample);
}

#endif
