// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "world.h"

#define LINE       64ULL
#define SMALL_PAGE 4096ULL
#define LARGE_PAGE (2ULL << 20)
#define LONG       100000 /* cycles in which all that was under way has come */

/* A memory system on its own, with a clock. */
struct bench {
	const struct memory_shape *shape;
	struct memory *memory;
	u64 now;
};

static void bench_open(struct bench *bench, const char *machine)
{
	const struct memory_shape *shape = &machine_find(machine)->memory;

	*bench = (struct bench){.shape = shape, .now = 1000};
	bench->memory = memory_open(aligned_alloc(64, memory_size(shape)), shape, 11);
	cr_assert_not_null(bench->memory);
}

static void bench_close(struct bench *bench)
{
	free(bench->memory);
}

static struct retired do_access(struct bench *bench, struct access access)
{
	struct retired ret = {0};

	access.tsc = bench->now;
	memory_access(bench->memory, &access, &ret);
	cr_expect_eq(ret.address, access.address);
	cr_expect_eq(ret.locked, access.locked);
	cr_expect_geq(ret.instruction_latency, ret.latency);
	return ret;
}

/* A load in a large page: the TLBs have no part in it once the page was used. */
static struct retired load(struct bench *bench, u64 address)
{
	return do_access(bench, (struct access){.address = address, .large_page = true});
}

static struct retired store(struct bench *bench, u64 address)
{
	return do_access(bench,
			 (struct access){.address = address, .large_page = true, .kind = ACCESS_STORE});
}

/* A load long after all others. */
static struct retired load_later(struct bench *bench, u64 address)
{
	bench->now += LONG;
	return load(bench, address);
}

/* Loads so many lines from `address` on, one long after the other. */
static void load_lines(struct bench *bench, u64 address, u64 lines, u64 stride)
{
	for (u64 i = 0; i < lines; i++)
		load_later(bench, address + i * stride);
}

#define expect_found(load, at, found)                                                                  \
	({                                                                                             \
		struct retired _load = (load);                                                         \
		cr_expect(_load.place == (at) && _load.asked == (found), "place %u, asked %u instead", \
			  _load.place, _load.asked);                                                   \
		_load;                                                                                 \
	})

Test(model_memory, the_first_load_of_a_line_is_from_dram_and_the_next_from_l1)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	expect_found(load(&bench, 0x100000), PLACE_LOCAL_DRAM, ASKED_MISS);
	expect_found(load_later(&bench, 0x100038), PLACE_L1, ASKED_NONE);
	expect_found(load_later(&bench, 0x100040), PLACE_LOCAL_DRAM, ASKED_MISS);
	expect_found(do_access(&bench, (struct access){.address = 0x200000, .remote = true}),
		     PLACE_REMOTE_DRAM, ASKED_MISS);
	expect_found(load_later(&bench, 0x200000), PLACE_L1, ASKED_NONE);
}

Test(model_memory, what_l1_drops_is_in_l2_and_what_l2_drops_in_l3)
{
	_cleanup_(bench_close) struct bench bench;
	u64 l1_set_stride;

	bench_open(&bench, "skylake-server");
	l1_set_stride = bench.shape->l1_bytes / bench.shape->l1_ways;
	load_later(&bench, 0);
	/* As many rivals for its set as L1 has ways. */
	load_lines(&bench, l1_set_stride, bench.shape->l1_ways - 1, l1_set_stride);
	expect_found(load_later(&bench, 0), PLACE_L1, ASKED_NONE);
	load_lines(&bench, l1_set_stride, bench.shape->l1_ways, l1_set_stride);
	expect_found(load_later(&bench, 0), PLACE_L2, ASKED_NONE);
	/* Twice what L2 holds, which is less than L3 does. */
	load_lines(&bench, LARGE_PAGE, 2ULL * bench.shape->l2_bytes / LINE, LINE);
	expect_found(load_later(&bench, 0), PLACE_L3, ASKED_NONE);
	load_lines(&bench, 64 * LARGE_PAGE, 2ULL * bench.shape->l3_bytes / LINE, LINE);
	expect_found(load_later(&bench, 0), PLACE_LOCAL_DRAM, ASKED_MISS);
}

Test(model_memory, the_least_recently_used_line_goes)
{
	_cleanup_(bench_close) struct bench bench;
	u64 stride;

	bench_open(&bench, "skylake");
	stride = bench.shape->l1_bytes / bench.shape->l1_ways;
	load_lines(&bench, 0, bench.shape->l1_ways, stride);
	load_later(&bench, 0); /* used again: the next one, at `stride`, is the oldest now */
	load_later(&bench, bench.shape->l1_ways * stride);
	expect_found(load_later(&bench, 0), PLACE_L1, ASKED_NONE);
	expect_found(load_later(&bench, 2 * stride), PLACE_L1, ASKED_NONE);
	expect_found(load_later(&bench, stride), PLACE_L2, ASKED_NONE);
}

Test(model_memory, a_line_on_its_way_is_a_fill_buffer_hit_with_what_remains)
{
	_cleanup_(bench_close) struct bench bench;
	struct retired first, second;

	bench_open(&bench, "skylake");
	load_later(&bench, 0); /* for the page */
	bench.now += LONG;
	first = expect_found(load(&bench, 0x1000), PLACE_LOCAL_DRAM, ASKED_MISS);
	bench.now += 100;
	second = expect_found(load(&bench, 0x1008), PLACE_FILL_BUFFER, ASKED_NONE);
	cr_expect_eq(second.latency, first.latency - 100);
	bench.now += first.latency - 101;
	second = expect_found(load(&bench, 0x1010), PLACE_FILL_BUFFER, ASKED_NONE);
	cr_expect_eq(second.latency, bench.shape->l1_cycles, "no less than from L1");
	bench.now += 1;
	expect_found(load(&bench, 0x1018), PLACE_L1, ASKED_NONE);
}

Test(model_memory, one_line_comes_while_the_next_is_on_its_way)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	bench.now += LONG;
	bench.now += load(&bench, 0x1000).latency - 1;
	expect_found(load(&bench, 0x2000), PLACE_LOCAL_DRAM, ASKED_MISS);
	bench.now += 1;
	expect_found(load(&bench, 0x2000), PLACE_FILL_BUFFER, ASKED_NONE);
	expect_found(load(&bench, 0x1000), PLACE_L1, ASKED_NONE);
}

Test(model_memory, a_miss_waits_for_a_fill_buffer)
{
	_cleanup_(bench_close) struct bench bench;
	u32 earliest = ~0U;
	struct retired last;

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	bench.now += LONG;
	for (u32 i = 1; i <= bench.shape->fill_buffers; i++) {
		u32 latency = load(&bench, i * LINE).latency;

		earliest = latency < earliest ? latency : earliest;
	}
	last = expect_found(load(&bench, 0x10000), PLACE_LOCAL_DRAM, ASKED_MISS);
	cr_expect_geq(last.latency, earliest + bench.shape->local_dram_cycles);
	/* The lines that are here already need none. */
	cr_expect_lt(load(&bench, 0).latency, bench.shape->local_dram_cycles);
}

Test(model_memory, a_prefetch_brings_the_line_to_l2)
{
	_cleanup_(bench_close) struct bench bench;
	struct access prefetch = {.address = 0x1000, .kind = ACCESS_PREFETCH, .large_page = true};

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	bench.now += LONG;
	do_access(&bench, prefetch);
	bench.now += 20;
	expect_found(load(&bench, 0x1000), PLACE_FILL_BUFFER, ASKED_NONE);
	expect_found(load_later(&bench, 0x1000), PLACE_L1, ASKED_NONE);
	prefetch.address = 0x2000;
	do_access(&bench, prefetch);
	expect_found(load_later(&bench, 0x2000), PLACE_L2, ASKED_NONE);
	/* One that finds too many others under way is dropped. */
	for (u32 i = 0; i < 17; i++) {
		prefetch.address = 0x10000 + i * LINE;
		do_access(&bench, prefetch);
	}
	bench.now += LONG;
	expect_found(load(&bench, 0x10000 + 15 * LINE), PLACE_L2, ASKED_NONE);
	expect_found(load(&bench, 0x10000 + 16 * LINE), PLACE_LOCAL_DRAM, ASKED_MISS);
}

Test(model_memory, what_another_core_wrote_is_modified_there)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake-server");
	load_later(&bench, 0);
	memory_other_writes(bench.memory, 8, false);
	expect_found(load_later(&bench, 0), PLACE_L3, ASKED_MODIFIED);
	expect_found(load_later(&bench, 0), PLACE_L1, ASKED_NONE);
	memory_other_writes(bench.memory, 8, true);
	expect_found(load_later(&bench, 0), PLACE_REMOTE_CACHE, ASKED_MODIFIED);
	/* Under way to this core, and taken away again. */
	bench.now += LONG;
	expect_found(load(&bench, 0x4000), PLACE_LOCAL_DRAM, ASKED_MISS);
	memory_other_writes(bench.memory, 0x4000, false);
	expect_found(load(&bench, 0x4000), PLACE_L3, ASKED_MODIFIED);
}

Test(model_memory, a_store_asks_for_the_line_and_has_it_alone_then)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	memory_other_reads(bench.memory, 0, false);
	expect_found(load_later(&bench, 0), PLACE_L1, ASKED_NONE); /* a copy is good enough for a load */
	bench.now += LONG;
	expect_found(store(&bench, 0), PLACE_L3, ASKED_HIT);
	bench.now += LONG;
	expect_found(store(&bench, 0), PLACE_L1, ASKED_NONE);
	memory_other_writes(bench.memory, 0, false);
	bench.now += LONG;
	expect_found(store(&bench, 0), PLACE_L3, ASKED_MODIFIED);
	bench.now += LONG;
	expect_found(store(&bench, 0), PLACE_L1, ASKED_NONE);
	/* Who had it modified keeps a clean copy when this core has loaded it. */
	memory_other_writes(bench.memory, 0, true);
	expect_found(load_later(&bench, 0), PLACE_REMOTE_CACHE, ASKED_MODIFIED);
	bench.now += LONG;
	expect_found(store(&bench, 0), PLACE_REMOTE_CACHE, ASKED_HIT);
}

Test(model_memory, a_line_that_the_other_socket_wrote_is_not_in_this_l3)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	load_later(&bench, LINE);
	memory_other_writes(bench.memory, 0, false);
	memory_other_writes(bench.memory, LINE, true);
	/* Many lines later nobody remembers who had them. */
	for (u64 i = 0; i < 20000; i++)
		memory_other_reads(bench.memory, LARGE_PAGE + i * LINE, true);
	expect_found(load_later(&bench, 0), PLACE_L3, ASKED_NONE);
	expect_found(load_later(&bench, LINE), PLACE_LOCAL_DRAM, ASKED_MISS);
}

Test(model_memory, what_asking_another_core_takes)
{
	_cleanup_(bench_close) struct bench bench;
	u32 least[ASKED_COUNT] = {~0U, ~0U, ~0U, ~0U};

	bench_open(&bench, "skylake-server");
	for (u64 i = 0; i < 3000; i++) {
		struct retired found;

		memory_warm(bench.memory, 0, LINE);
		memory_other_writes(bench.memory, 0, false);
		if (i % 2)
			memory_other_reads(bench.memory, 0, false);
		found = load_later(&bench, 0);
		cr_assert_eq(found.place, PLACE_L3);
		if (found.latency < least[found.asked])
			least[found.asked] = found.latency;
	}
	cr_expect_eq(least[ASKED_HIT], (u32)bench.shape->l3_cycles + bench.shape->snoop_cycles);
	cr_expect_eq(least[ASKED_MISS], (u32)bench.shape->l3_cycles + bench.shape->snoop_cycles);
	cr_expect_eq(least[ASKED_MODIFIED], (u32)bench.shape->l3_cycles + bench.shape->modified_cycles);
}

Test(model_memory, a_clean_copy_elsewhere_is_found_there_or_was_dropped)
{
	_cleanup_(bench_close) struct bench bench;
	unsigned hits = 0, misses = 0, remote = 0, dram = 0;

	bench_open(&bench, "skylake-server");
	for (u64 i = 0; i < 800; i++) {
		u64 address = i * LINE;
		struct retired found;

		memory_warm(bench.memory, address, LINE);
		memory_other_writes(bench.memory, address, false); /* out of this core's own caches */
		memory_other_reads(bench.memory, address, false);
		found = load_later(&bench, address);
		cr_expect_eq(found.place, PLACE_L3);
		hits += found.asked == ASKED_HIT;
		misses += found.asked == ASKED_MISS;

		memory_other_reads(bench.memory, LARGE_PAGE + address, true);
		found = load_later(&bench, LARGE_PAGE + address);
		remote += found.place == PLACE_REMOTE_CACHE && found.asked == ASKED_HIT;
		dram += found.place == PLACE_LOCAL_DRAM && found.asked == ASKED_MISS;
	}
	cr_expect_eq(hits + misses, 800);
	cr_expect_eq(remote + dram, 800);
	/* One in eight; five standard deviations of 9.4. */
	cr_expect(misses > 53 && misses < 147, "%u", misses);
	cr_expect(dram > 53 && dram < 147, "%u", dram);
}

Test(model_memory, uncached_memory_and_devices_are_in_no_cache)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	for (unsigned i = 0; i < 3; i++) {
		struct access access = {.address = 0x1000, .uncached = true};
		struct retired found;

		bench.now += LONG;
		found = expect_found(do_access(&bench, access), PLACE_UNCACHED, ASKED_NONE);
		cr_expect_geq(found.latency, bench.shape->local_dram_cycles);
		access.io = true;
		found = expect_found(do_access(&bench, access), PLACE_IO, ASKED_NONE);
		cr_expect_geq(found.latency, 2U * bench.shape->local_dram_cycles);
	}
	expect_found(load_later(&bench, 0x1000), PLACE_LOCAL_DRAM, ASKED_MISS);
}

/* Touches so many small pages, from `address` on. */
static void touch_pages(struct bench *bench, u64 address, u64 pages)
{
	for (u64 i = 0; i < pages; i++) {
		bench->now += LONG;
		do_access(bench, (struct access){.address = address + i * SMALL_PAGE});
	}
}

static enum translated touch(struct bench *bench, u64 address, bool large_page)
{
	bench->now += LONG;
	return (enum translated)do_access(bench,
					  (struct access){.address = address, .large_page = large_page})
		.translated;
}

Test(model_memory, two_tlbs_and_walks)
{
	_cleanup_(bench_close) struct bench bench;
	struct retired found;

	bench_open(&bench, "skylake");
	cr_expect_eq(touch(&bench, 0x10, false), TRANSLATED_WALK);
	cr_expect_eq(touch(&bench, 0xff0, false), TRANSLATED_L1);
	cr_expect_eq(touch(&bench, SMALL_PAGE, false), TRANSLATED_WALK);
	touch_pages(&bench, 1 << 20, 4ULL * bench.shape->l1_tlb_pages);
	cr_expect_eq(touch(&bench, 0x10, false), TRANSLATED_L2);
	touch_pages(&bench, 1 << 30, 4ULL * bench.shape->l2_tlb_pages);
	cr_expect_eq(touch(&bench, 0x10, false), TRANSLATED_WALK);
	/* A large page is one page, and another one than the small one at its start. */
	cr_expect_eq(touch(&bench, 0x10, true), TRANSLATED_WALK);
	cr_expect_eq(touch(&bench, LARGE_PAGE - 1, true), TRANSLATED_L1);
	/* A walk comes on top. */
	bench.now += LONG;
	found = expect_found(do_access(&bench, (struct access){.address = LARGE_PAGE - 1}), PLACE_L1,
			     ASKED_NONE);
	cr_expect_eq(found.translated, TRANSLATED_WALK);
	cr_expect_geq(found.latency, (u32)bench.shape->walk_cycles + bench.shape->l1_cycles);
}

Test(model_memory, a_hit_in_the_second_tlb_takes_seven_cycles)
{
	_cleanup_(bench_close) struct bench bench;
	u32 least = ~0U;

	bench_open(&bench, "skylake");
	/* Twice the pages of the first TLB, over and over, with a line of its own in each. */
	for (u64 i = 0; i < 10000; i++) {
		u64 page = i % (2ULL * bench.shape->l1_tlb_pages);
		struct access access = {.address = page * SMALL_PAGE + page % 64 * LINE};
		struct retired found;

		bench.now += LONG;
		found = do_access(&bench, access);
		if (found.place == PLACE_L1 && found.translated == TRANSLATED_L2 && found.latency < least)
			least = found.latency;
	}
	cr_expect_eq(least, bench.shape->l1_cycles + 7U);
}

Test(model_memory, a_locked_access_takes_longer)
{
	_cleanup_(bench_close) struct bench bench;
	u32 least[2] = {~0U, ~0U};

	bench_open(&bench, "skylake");
	load_later(&bench, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct access access = {.address = 0, .large_page = true, .kind = ACCESS_STORE};
		u32 latency;

		bench.now += LONG;
		access.locked = i % 2;
		latency = do_access(&bench, access).latency;
		if (least[i % 2] > latency)
			least[i % 2] = latency;
	}
	cr_expect_eq(least[0], bench.shape->l1_cycles);
	cr_expect_eq(least[1] - least[0], bench.shape->locked_cycles);
}

static int by_number(const void *one, const void *other)
{
	u32 a = *(const u32 *)one, b = *(const u32 *)other;

	return (a > b) - (a < b);
}

Test(model_memory, latencies_are_skewed_to_the_right)
{
	enum { LOADS = 20000 };
	static u32 latencies[LOADS];
	_cleanup_(bench_close) struct bench bench;
	u64 sum = 0;
	u32 median;

	bench_open(&bench, "skylake-server");
	load_later(&bench, 0);
	for (u64 i = 0; i < LOADS; i++) {
		latencies[i] = load_later(&bench, (i + 1) * 4 * LINE).latency;
		sum += latencies[i];
	}
	qsort(latencies, LOADS, sizeof(latencies[0]), by_number);
	median = latencies[LOADS / 2];
	cr_expect_geq(latencies[0], bench.shape->local_dram_cycles);
	cr_expect_lt(median, bench.shape->local_dram_cycles * 5 / 4);
	cr_expect_gt(sum / LOADS, median + median / 10);
	cr_expect_gt(latencies[LOADS - LOADS / 200], 1000U, "one in two hundred is very long");
	cr_expect_lt(latencies[LOADS - 1], 5000U);
}

/* No load of any workload is below what its place takes, or beyond what a record's field of 16 bits holds. */
Test(model_memory, latencies_are_within_the_bounds_of_their_place)
{
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++) {
		const struct memory_shape *shape = &machine->memory;
		const u32 least[PLACE_COUNT] = {[PLACE_L1] = shape->l1_cycles,
						[PLACE_FILL_BUFFER] = shape->l1_cycles,
						[PLACE_L2] = shape->l2_cycles,
						[PLACE_L3] = shape->l3_cycles,
						[PLACE_REMOTE_CACHE] = shape->remote_cache_cycles,
						[PLACE_LOCAL_DRAM] = shape->local_dram_cycles,
						[PLACE_REMOTE_DRAM] = shape->remote_dram_cycles};

		for (unsigned kind = 0; kind < WORKLOAD_COUNT; kind++) {
			_cleanup_(world_close) struct world world;

			cr_assert_eq(world_open(machine, kind, 3, &world), 0);
			for (unsigned i = 0; i < 20000; i++) {
				struct retired load;

				workload_next_load(&world.workload, &load);
				cr_assert_geq(load.latency, least[load.place], "%s, %s: place %u",
					      machine->name, workload_names[kind], load.place);
				cr_assert_geq(load.instruction_latency, load.latency);
				cr_assert_lt(load.instruction_latency, 65536);
			}
		}
	}
}

/* What the storage held before is nothing to it, and it stays within. */
Test(model_memory, storage_is_as_large_as_was_said)
{
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++) {
		size_t size = memory_size(&machine->memory);
		_cleanup_free_ u8 *clean = aligned_alloc(64, size + LINE);
		_cleanup_free_ u8 *dirty = aligned_alloc(64, size + LINE);
		struct workload one, other;

		cr_assert(clean && dirty);
		cr_expect_eq(size % 64, 0);
		memset(clean, 0, size + LINE);
		memset(dirty, 0xa5, size + LINE);
		workload_open(&one, WORKLOAD_MIX, &machine->memory, memory_open(clean, &machine->memory, 5),
			      5);
		workload_open(&other, WORKLOAD_MIX, &machine->memory, memory_open(dirty, &machine->memory, 5),
			      5);
		for (unsigned i = 0; i < 20000; i++) {
			struct retired a, b;

			workload_next_load(&one, &a);
			workload_next_load(&other, &b);
			cr_assert_eq(a.latency, b.latency);
			cr_assert_eq(a.place, b.place);
		}
		for (size_t i = 0; i < LINE; i++)
			cr_assert(clean[size + i] == 0 && dirty[size + i] == 0xa5, "%s: byte %zu past",
				  machine->name, i);
	}
}

Test(model_memory, what_a_cpu_does_not_have_is_not_there)
{
	const struct memory_shape bare = {
		.l1_bytes = 4096, .l1_ways = 4, .l1_cycles = 3, .local_dram_cycles = 90};
	_cleanup_free_ void *storage = aligned_alloc(64, memory_size(&bare));
	struct bench bench = {.shape = &bare, .memory = memory_open(storage, &bare, 1)};

	expect_found(load_later(&bench, 0), PLACE_LOCAL_DRAM, ASKED_MISS);
	expect_found(load_later(&bench, 0), PLACE_L1, ASKED_NONE);
	load_lines(&bench, 1024, 4, 1024);
	cr_expect_eq(expect_found(load_later(&bench, 0), PLACE_LOCAL_DRAM, ASKED_MISS).translated,
		     TRANSLATED_WALK);
}

Test(model_memory, warm_lines_are_in_l3_and_the_last_ones_in_l2)
{
	_cleanup_(bench_close) struct bench bench;
	u64 bytes;

	bench_open(&bench, "skylake");
	bytes = bench.shape->l3_bytes / 4;
	memory_warm(bench.memory, 0, bytes);
	expect_found(load_later(&bench, bytes - LINE), PLACE_L2, ASKED_NONE);
	expect_found(load_later(&bench, 0), PLACE_L3, ASKED_NONE);
	expect_found(load_later(&bench, bytes), PLACE_LOCAL_DRAM, ASKED_MISS);
	memory_warm(bench.memory, 0x80000000, 0);
	expect_found(load_later(&bench, 0x80000000), PLACE_LOCAL_DRAM, ASKED_MISS);
}

/* The highest address: a key of it must fit beside the flags. */
Test(model_memory, any_address_will_do)
{
	_cleanup_(bench_close) struct bench bench;

	bench_open(&bench, "skylake");
	expect_found(load_later(&bench, ~0ULL), PLACE_LOCAL_DRAM, ASKED_MISS);
	memory_other_writes(bench.memory, ~0ULL, true);
	expect_found(load_later(&bench, ~0ULL), PLACE_REMOTE_CACHE, ASKED_MODIFIED);
	expect_found(load_later(&bench, ~0ULL), PLACE_L1, ASKED_NONE);
	expect_found(load_later(&bench, 0), PLACE_LOCAL_DRAM, ASKED_MISS);
}
