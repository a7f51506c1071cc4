// SPDX-License-Identifier: GPL-2.0
#include "memory.h"

#include "flights.h"
#include "lru.h"

#define LINE_SHIFT       6
#define PAGE_SHIFT_SMALL 12
#define PAGE_SHIFT_LARGE 21

#define FIRST_TLB_SETS  16
#define SECOND_TLB_SETS 128
/*
 * A hit in the second TLB costs about 7 cycles more than one in the first (Intel's optimization manual, Sandy
 * Bridge).
 */
#define SECOND_TLB_CYCLES 7

/* Chance (1 of this number) that another core has silently dropped its clean copy. */
#define SILENT_DROP 8

/* The directory of lines that other cores have, of limited size. */
#define OTHERS_SETS     256
#define OTHERS_WAYS     4
#define OTHERS_MODIFIED LRU_FLAG(0)
#define OTHERS_SOCKET   LRU_FLAG(1) /* on the other socket */

struct tables {
	struct lru l1, l2, l3;
	struct lru first_tlb, second_tlb;
	struct lru others;
};

struct memory {
	struct memory_shape shape;
	struct random random;
	struct tables tables;
	struct flights flights;
	struct memory_traffic traffic;
	u32 local_wait, remote_wait; /* mean cycles that a line from DRAM waits because of other cores */
};

/* The result of an access, except for its translation. */
struct outcome {
	enum place place;
	enum snoop_result snoop;
	u32 cycles;  /* without queueing */
	u32 scale;   /* scale of the queueing delay */
	u32 doubles; /* number of times that the queueing delay can double */
};

/* -- layout -- */

static u32 power_of_two_below(u32 number)
{
	u32 power = 1;

	while (power <= number / 2)
		power *= 2;
	return power;
}

/*
 * Takes the table's space from the storage at `*used`. If `storage` is NULL, only adds the space to `*used`.
 */
static void lay_out(struct lru *lru, void *storage, size_t *used, u32 sets, u32 ways)
{
	if (storage) {
		*lru = (struct lru){.entries = (u64 *)((u8 *)storage + *used),
				    .multiplier = 0x9e3779b97f4a7c15ULL,
				    .mask = sets - 1,
				    .shift = 32,
				    .ways = ways};
		for (size_t i = 0; i < (size_t)sets * ways; i++)
			lru->entries[i] = 0;
	}
	*used += ((size_t)sets * ways * sizeof(u64) + 63) & ~(size_t)63;
}

static void lay_out_cache(struct lru *lru, void *storage, size_t *used, u32 bytes, u32 ways)
{
	u32 lines = bytes >> LINE_SHIFT;

	lay_out(lru, storage, used, ways && lines >= ways ? power_of_two_below(lines / ways) : 1,
		lines >= ways ? ways : 0);
}

static void lay_out_tlb(struct lru *lru, void *storage, size_t *used, u32 pages, u32 sets_max)
{
	u32 sets = pages & -pages; /* the largest power of two that divides `pages` */

	if (sets > sets_max)
		sets = sets_max;
	lay_out(lru, storage, used, sets ? sets : 1, sets ? pages / sets : 0);
}

/* Returns the bytes used. If `storage` is NULL, only computes them. */
static size_t lay_out_all(struct tables *tables, void *storage, const struct memory_shape *shape)
{
	size_t used = (sizeof(struct memory) + 63) & ~(size_t)63;

	lay_out_cache(&tables->l1, storage, &used, shape->l1_bytes, shape->l1_ways);
	lay_out_cache(&tables->l2, storage, &used, shape->l2_bytes, shape->l2_ways);
	lay_out_cache(&tables->l3, storage, &used, shape->l3_bytes, shape->l3_ways);
	lay_out_tlb(&tables->first_tlb, storage, &used, shape->l1_tlb_pages, FIRST_TLB_SETS);
	lay_out_tlb(&tables->second_tlb, storage, &used, shape->l2_tlb_pages, SECOND_TLB_SETS);
	lay_out(&tables->others, storage, &used, OTHERS_SETS, OTHERS_WAYS);
	return used;
}

size_t memory_size(const struct memory_shape *shape)
{
	struct tables none;

	return lay_out_all(&none, NULL, shape);
}

struct memory *memory_open(void *storage, const struct memory_shape *shape, u64 seed)
{
	struct memory *memory = storage;

	*memory = (struct memory){.shape = *shape};
	memory->flights.buffers =
		shape->fill_buffers < FLIGHTS_BUFFERS_MAX ? shape->fill_buffers : FLIGHTS_BUFFERS_MAX;
	random_seed(&memory->random, seed, 0x6d656d6f7279); /* a separate random stream: "memory" */
	lay_out_all(&memory->tables, storage, shape);
	/*
	 * L1 is indexed by the plain address. The other levels use a hash, because physical pages are
	 * scattered.
	 */
	memory->tables.l1.multiplier = 1;
	memory->tables.l1.shift = 0;
	return memory;
}

/* -- latency -- */

/*
 * Returns the queueing delay: 0 to `scale` cycles in half of the cases, up to twice as many in a quarter, and
 * so on, doubling at most `doubles` times. This is skewed to the right, as measured latencies are. The mean
 * is scale * (doubles + 2) / 4. `number` must have 32 uniformly random bits.
 */
static u32 queueing(u32 number, u32 scale, u32 doubles)
{
	u32 doubled = (u32)__builtin_ctz(number | 1U << doubles);

	/*
	 * The lowest bits decide how often the delay doubles, the bits above them its position in the range.
	 */
	return (u32)((u64)(number >> 8) * ((u64)scale << doubled) >> 24);
}

static u64 page_key(const struct access *access)
{
	if (access->large_page)
		return (access->address >> PAGE_SHIFT_LARGE) * 2 + 1;
	return (access->address >> PAGE_SHIFT_SMALL) * 2 + 2;
}

/* Translates the address. Returns the extra cycles compared to a hit in the first TLB. */
static u32 translate(struct memory *memory, const struct access *access, u8 *ret_translated)
{
	u64 key = page_key(access);
	u32 walk = memory->shape.walk_cycles;

	*ret_translated = TRANSLATED_L1;
	if (lru_find(&memory->tables.first_tlb, key))
		return 0;
	lru_put(&memory->tables.first_tlb, key);
	*ret_translated = TRANSLATED_L2;
	if (lru_find(&memory->tables.second_tlb, key))
		return SECOND_TLB_CYCLES;
	lru_put(&memory->tables.second_tlb, key);
	*ret_translated = TRANSLATED_WALK;
	return walk + queueing((u32)(random_next(&memory->random) >> 32), walk / 4, 4);
}

/* -- where the line is -- */

static u64 line_of(u64 address)
{
	return (address >> LINE_SHIFT) + 1; /* a key is not 0 */
}

static struct outcome in_l1(const struct memory *memory)
{
	return (struct outcome){PLACE_L1, SNOOPED_NONE, memory->shape.l1_cycles, 1, 6};
}

static struct outcome in_l2(const struct memory *memory)
{
	return (struct outcome){PLACE_L2, SNOOPED_NONE, memory->shape.l2_cycles, 2, 5};
}

static struct outcome in_l3(const struct memory *memory, enum snoop_result snoop)
{
	u32 cycles = memory->shape.l3_cycles;

	if (snoop == SNOOPED_MODIFIED)
		cycles += memory->shape.modified_cycles;
	else if (snoop != SNOOPED_NONE)
		cycles += memory->shape.snoop_cycles;
	return (struct outcome){PLACE_L3, snoop, cycles, cycles / 8, 5};
}

static struct outcome in_remote_cache(const struct memory *memory, enum snoop_result snoop)
{
	u32 cycles = memory->shape.remote_cache_cycles;

	return (struct outcome){PLACE_REMOTE_CACHE, snoop, cycles, cycles / 8, 6};
}

#define DRAM_DOUBLES 6U

static struct outcome in_dram(struct memory *memory, bool remote)
{
	u32 cycles = remote ? memory->shape.remote_dram_cycles : memory->shape.local_dram_cycles;
	u32 wait = remote ? memory->remote_wait : memory->local_wait;

	if (remote)
		memory->traffic.remote++;
	else
		memory->traffic.local++;
	/*
	 * SNOOPED_MISS: only a snoop of the other cores shows that no cache has the line. The wait for other cores
	 * has the mean of a queueing delay of that scale.
	 */
	return (struct outcome){remote ? PLACE_REMOTE_DRAM : PLACE_LOCAL_DRAM, SNOOPED_MISS, cycles,
				cycles / 6 + wait * 4 / (DRAM_DOUBLES + 2), DRAM_DOUBLES};
}

static struct outcome in_another_cache(const struct memory *memory, u64 entry, enum snoop_result snoop)
{
	return entry & OTHERS_SOCKET ? in_remote_cache(memory, snoop) : in_l3(memory, snoop);
}

/*
 * Another core has the line: `entry` is the line's directory entry. A store invalidates all other copies. A load
 * leaves clean copies.
 */
static struct outcome ask_others(struct memory *memory, u64 *entry, const struct access *access, bool own)
{
	u64 line = *entry & LRU_KEY;
	u64 was = *entry;

	if (access->kind == ACCESS_STORE)
		lru_remove(&memory->tables.others, line);
	else
		*entry &= ~OTHERS_MODIFIED;
	if (was & OTHERS_MODIFIED)
		return in_another_cache(memory, was, SNOOPED_MODIFIED);
	if (!own && random_chance(&memory->random, 1, SILENT_DROP)) {
		lru_remove(&memory->tables.others, line);
		return lru_find(&memory->tables.l3, line) ? in_l3(memory, SNOOPED_MISS)
							  : in_dram(memory, access->remote);
	}
	return in_another_cache(memory, was, SNOOPED_HIT);
}

/* Finds the line, and updates the caches. */
static struct outcome find_line(struct memory *memory, u64 line, const struct access *access)
{
	bool demand = access->kind != ACCESS_PREFETCH;
	bool hit1 = lru_find(&memory->tables.l1, line);
	bool hit2 = !hit1 && lru_find(&memory->tables.l2, line);
	u64 *others = NULL;
	bool hit3 = false;
	struct outcome outcome;

	/* A load can use the core's own copy. A store must also snoop for copies of other cores. */
	if (!(hit1 || hit2) || access->kind == ACCESS_STORE)
		others = lru_find(&memory->tables.others, line);
	if (others) {
		outcome = ask_others(memory, others, access, hit1 || hit2);
		hit3 = lru_find(&memory->tables.l3, line);
	} else if (hit1) {
		outcome = in_l1(memory);
	} else if (hit2) {
		outcome = in_l2(memory);
	} else {
		hit3 = lru_find(&memory->tables.l3, line);
		outcome = hit3 ? in_l3(memory, SNOOPED_NONE) : in_dram(memory, access->remote);
	}
	if (!hit1 && demand)
		lru_put(&memory->tables.l1, line);
	if (!hit1 && !hit2)
		lru_put(&memory->tables.l2, line);
	if (!hit1 && !hit2 && !hit3)
		lru_put(&memory->tables.l3, line);
	return outcome;
}

/* -- accesses -- */

static void answer(struct memory *memory, const struct access *access, const struct outcome *outcome,
		   u32 latency, struct retired *ret)
{
	ret->address = access->address;
	ret->place = (u8)outcome->place;
	ret->snoop = (u8)outcome->snoop;
	ret->locked = access->locked;
	ret->latency = latency + (access->locked ? memory->shape.locked_cycles : 0);
	/* A load waits for its operands before it starts, and for older instructions before it retires. */
	ret->instruction_latency = ret->latency + 2 + queueing((u32)random_next(&memory->random), 4, 6);
}

static u32 outcome_latency(struct memory *memory, const struct outcome *outcome)
{
	return outcome->cycles +
	       queueing((u32)(random_next(&memory->random) >> 32), outcome->scale, outcome->doubles);
}

static void access_uncached(struct memory *memory, const struct access *access, struct retired *ret)
{
	struct outcome outcome = in_dram(memory, access->remote);

	outcome.place = access->io ? PLACE_IO : PLACE_UNCACHED;
	outcome.snoop = SNOOPED_NONE;
	if (access->io) /* the access crosses the I/O bridge twice */
		outcome.cycles *= 2;
	ret->translated = TRANSLATED_L1;
	answer(memory, access, &outcome, outcome_latency(memory, &outcome), ret);
}

/*
 * A prefetch brings the line to L2. It is dropped if the line is in flight already, or if
 * FLIGHTS_PREFETCHES_MAX prefetches are. Nothing waits for a prefetch.
 */
static void prefetch(struct memory *memory, const struct access *access, struct retired *ret)
{
	u64 line = line_of(access->address);
	const struct flight *flight = flights_find(&memory->flights, line, access->tsc);
	struct outcome outcome = {PLACE_FILL_BUFFER, SNOOPED_NONE, memory->shape.l1_cycles, 1, 0};
	u32 latency = outcome.cycles;

	ret->translated = TRANSLATED_L1;
	if (!flight && memory->flights.prefetches < FLIGHTS_PREFETCHES_MAX) {
		outcome = find_line(memory, line, access);
		latency = outcome_latency(memory, &outcome);
		if (outcome.place != PLACE_L1 && outcome.place != PLACE_L2)
			flights_add(&memory->flights, line, access->tsc + latency, true);
	}
	answer(memory, access, &outcome, latency, ret);
}

void memory_access(struct memory *memory, const struct access *access, struct retired *ret)
{
	u64 line = line_of(access->address);
	const struct flight *flight;
	struct outcome outcome;
	u32 latency;

	if (access->uncached) {
		access_uncached(memory, access, ret);
		return;
	}
	if (access->kind == ACCESS_PREFETCH) {
		prefetch(memory, access, ret);
		return;
	}
	latency = translate(memory, access, &ret->translated);
	flight = flights_find(&memory->flights, line, access->tsc);
	if (flight) {
		u32 remaining = (u32)(flight->ready - access->tsc);

		outcome = (struct outcome){PLACE_FILL_BUFFER, SNOOPED_NONE, 0, 0, 0};
		latency += memory->shape.l1_cycles;
		latency = latency > remaining ? latency : remaining;
		if (!lru_find(&memory->tables.l1, line))
			lru_put(&memory->tables.l1, line); /* a prefetch brings the line only to L2 */
	} else {
		outcome = find_line(memory, line, access);
		if (outcome.place != PLACE_L1)
			latency += flights_wait(&memory->flights, access->tsc);
		latency += outcome_latency(memory, &outcome);
		if (outcome.place != PLACE_L1)
			flights_add(&memory->flights, line, access->tsc + latency, false);
	}
	answer(memory, access, &outcome, latency, ret);
}

void memory_warm(struct memory *memory, u64 address, u64 bytes)
{
	u64 last = line_of(address + bytes - 1);

	for (u64 line = line_of(address); bytes && line <= last; line++) {
		if (!lru_find(&memory->tables.l2, line))
			lru_put(&memory->tables.l2, line);
		if (!lru_find(&memory->tables.l3, line))
			lru_put(&memory->tables.l3, line);
	}
}

/* Records that another core has the line. */
static void note_other(struct memory *memory, u64 line, u64 flags)
{
	lru_remove(&memory->tables.others, line);
	lru_put(&memory->tables.others, line | flags);
}

void memory_other_writes(struct memory *memory, u64 address, bool other_socket)
{
	u64 line = line_of(address);

	lru_remove(&memory->tables.l1, line);
	lru_remove(&memory->tables.l2, line);
	if (other_socket)
		lru_remove(&memory->tables.l3, line);
	flights_forget(&memory->flights, line);
	note_other(memory, line, OTHERS_MODIFIED | (other_socket ? OTHERS_SOCKET : 0));
}

void memory_other_reads(struct memory *memory, u64 address, bool other_socket)
{
	note_other(memory, line_of(address), other_socket ? OTHERS_SOCKET : 0);
}

struct memory_traffic memory_traffic(const struct memory *memory)
{
	return memory->traffic;
}

void memory_contend(struct memory *memory, u32 local_wait, u32 remote_wait)
{
	memory->local_wait = local_wait < MEMORY_WAIT_MAX ? local_wait : MEMORY_WAIT_MAX;
	memory->remote_wait = remote_wait < MEMORY_WAIT_MAX ? remote_wait : MEMORY_WAIT_MAX;
}
