// SPDX-License-Identifier: GPL-2.0
/* Caches, fill buffers, TLBs, and their layout. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "memory_fixture.h"
#include "workload_fixture.h"

TestSuite(model_memory, .fini = memory_fixture_close);

Test(model_memory, the_first_load_of_a_line_is_from_dram_and_the_next_from_l1)
{
	memory_fixture_open("skylake");
	expect_found(memory_fixture_load(0x100000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	expect_found(memory_fixture_later(0x100038), PLACE_L1, SNOOPED_NONE);
	expect_found(memory_fixture_later(0x100040), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	expect_found(memory_fixture_access((struct access){.address = 0x200000, .remote = true}),
		     PLACE_REMOTE_DRAM, SNOOPED_MISS);
	expect_found(memory_fixture_later(0x200000), PLACE_L1, SNOOPED_NONE);
}

Test(model_memory, lines_evicted_from_l1_are_in_l2_and_from_l2_in_l3)
{
	u64 l1_set_stride;

	memory_fixture_open("skylake-server");
	l1_set_stride = bench.shape->l1_bytes / bench.shape->l1_ways;
	memory_fixture_later(0);
	/* Load other lines of the same L1 set: first one fewer than L1 has ways, then one for each way. */
	memory_fixture_lines(l1_set_stride, bench.shape->l1_ways - 1, l1_set_stride);
	expect_found(memory_fixture_later(0), PLACE_L1, SNOOPED_NONE);
	memory_fixture_lines(l1_set_stride, bench.shape->l1_ways, l1_set_stride);
	expect_found(memory_fixture_later(0), PLACE_L2, SNOOPED_NONE);
	/* Twice the size of L2, which is less than the size of L3. */
	memory_fixture_lines(LARGE_PAGE, 2ULL * bench.shape->l2_bytes / LINE, LINE);
	expect_found(memory_fixture_later(0), PLACE_L3, SNOOPED_NONE);
	memory_fixture_lines(64 * LARGE_PAGE, 2ULL * bench.shape->l3_bytes / LINE, LINE);
	expect_found(memory_fixture_later(0), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}

Test(model_memory, the_least_recently_used_line_is_evicted)
{
	u64 stride;

	memory_fixture_open("skylake");
	stride = bench.shape->l1_bytes / bench.shape->l1_ways;
	memory_fixture_lines(0, bench.shape->l1_ways, stride);
	memory_fixture_later(0); /* used again, so that the line at `stride` is now the oldest */
	memory_fixture_later(bench.shape->l1_ways * stride);
	expect_found(memory_fixture_later(0), PLACE_L1, SNOOPED_NONE);
	expect_found(memory_fixture_later(2 * stride), PLACE_L1, SNOOPED_NONE);
	expect_found(memory_fixture_later(stride), PLACE_L2, SNOOPED_NONE);
}

Test(model_memory, a_line_in_flight_is_a_fill_buffer_hit_with_the_remaining_latency)
{
	struct retired first, second;

	memory_fixture_open("skylake");
	memory_fixture_later(0); /* brings the page into the TLB */
	bench.now += LONG;
	first = expect_found(memory_fixture_load(0x1000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	bench.now += 100;
	second = expect_found(memory_fixture_load(0x1008), PLACE_FILL_BUFFER, SNOOPED_NONE);
	cr_expect_eq(second.latency, first.latency - 100);
	bench.now += first.latency - 101;
	second = expect_found(memory_fixture_load(0x1010), PLACE_FILL_BUFFER, SNOOPED_NONE);
	cr_expect_eq(second.latency, bench.shape->l1_cycles, "no less than from L1");
	bench.now += 1;
	expect_found(memory_fixture_load(0x1018), PLACE_L1, SNOOPED_NONE);
}

Test(model_memory, lines_are_fetched_concurrently)
{
	memory_fixture_open("skylake");
	memory_fixture_later(0);
	bench.now += LONG;
	bench.now += memory_fixture_load(0x1000).latency - 1;
	expect_found(memory_fixture_load(0x2000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	bench.now += 1;
	expect_found(memory_fixture_load(0x2000), PLACE_FILL_BUFFER, SNOOPED_NONE);
	expect_found(memory_fixture_load(0x1000), PLACE_L1, SNOOPED_NONE);
}

Test(model_memory, a_miss_waits_for_a_fill_buffer)
{
	u32 earliest = ~0U;
	struct retired last;

	memory_fixture_open("skylake");
	memory_fixture_later(0);
	bench.now += LONG;
	for (u32 i = 1; i <= bench.shape->fill_buffers; i++) {
		u32 latency = memory_fixture_load(i * LINE).latency;

		earliest = latency < earliest ? latency : earliest;
	}
	last = expect_found(memory_fixture_load(0x10000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	cr_expect_geq(last.latency, earliest + bench.shape->local_dram_cycles);
	/* A line that is already in a cache does not need a fill buffer. */
	cr_expect_lt(memory_fixture_load(0).latency, bench.shape->local_dram_cycles);
}

Test(model_memory, a_prefetch_brings_the_line_to_l2)
{
	struct access prefetch = {.address = 0x1000, .kind = ACCESS_PREFETCH, .large_page = true};

	memory_fixture_open("skylake");
	memory_fixture_later(0);
	bench.now += LONG;
	memory_fixture_access(prefetch);
	bench.now += 20;
	expect_found(memory_fixture_load(0x1000), PLACE_FILL_BUFFER, SNOOPED_NONE);
	expect_found(memory_fixture_later(0x1000), PLACE_L1, SNOOPED_NONE);
	prefetch.address = 0x2000;
	memory_fixture_access(prefetch);
	expect_found(memory_fixture_later(0x2000), PLACE_L2, SNOOPED_NONE);
	/* A prefetch is dropped if too many others are in progress. */
	for (u32 i = 0; i < 17; i++) {
		prefetch.address = 0x10000 + i * LINE;
		memory_fixture_access(prefetch);
	}
	bench.now += LONG;
	expect_found(memory_fixture_load(0x10000 + 15 * LINE), PLACE_L2, SNOOPED_NONE);
	expect_found(memory_fixture_load(0x10000 + 16 * LINE), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}

Test(model_memory, uncached_memory_and_devices_are_never_cached)
{
	memory_fixture_open("skylake");
	for (unsigned i = 0; i < 3; i++) {
		struct access access = {.address = 0x1000, .uncached = true};
		struct retired found;

		bench.now += LONG;
		found = expect_found(memory_fixture_access(access), PLACE_UNCACHED, SNOOPED_NONE);
		cr_expect_geq(found.latency, bench.shape->local_dram_cycles);
		access.io = true;
		found = expect_found(memory_fixture_access(access), PLACE_IO, SNOOPED_NONE);
		cr_expect_geq(found.latency, 2U * bench.shape->local_dram_cycles);
	}
	expect_found(memory_fixture_later(0x1000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}

/* Touches `pages` small pages, beginning at `address`. */
static void touch_pages(u64 address, u64 pages)
{
	for (u64 i = 0; i < pages; i++) {
		bench.now += LONG;
		memory_fixture_access((struct access){.address = address + i * SMALL_PAGE});
	}
}

static enum translated touch(u64 address, bool large_page)
{
	bench.now += LONG;
	return (enum translated)memory_fixture_access(
		       (struct access){.address = address, .large_page = large_page})
		.translated;
}

Test(model_memory, misses_of_both_tlbs_cause_walks)
{
	struct retired found;

	memory_fixture_open("skylake");
	cr_expect_eq(touch(0x10, false), TRANSLATED_WALK);
	cr_expect_eq(touch(0xff0, false), TRANSLATED_L1);
	cr_expect_eq(touch(SMALL_PAGE, false), TRANSLATED_WALK);
	touch_pages(1 << 20, 4ULL * bench.shape->l1_tlb_pages);
	cr_expect_eq(touch(0x10, false), TRANSLATED_L2);
	touch_pages(1 << 30, 4ULL * bench.shape->l2_tlb_pages);
	cr_expect_eq(touch(0x10, false), TRANSLATED_WALK);
	/* A large page has its own entry, different from that of the small page at its start. */
	cr_expect_eq(touch(0x10, true), TRANSLATED_WALK);
	cr_expect_eq(touch(LARGE_PAGE - 1, true), TRANSLATED_L1);
	/* A page walk adds to the latency. */
	bench.now += LONG;
	found = expect_found(memory_fixture_access((struct access){.address = LARGE_PAGE - 1}), PLACE_L1,
			     SNOOPED_NONE);
	cr_expect_eq(found.translated, TRANSLATED_WALK);
	cr_expect_geq(found.latency, (u32)bench.shape->walk_cycles + bench.shape->l1_cycles);
}

Test(model_memory, a_hit_in_the_second_tlb_takes_seven_cycles)
{
	u32 least = ~0U;

	memory_fixture_open("skylake");
	/* Twice as many pages as the first TLB holds, again and again, with a different line in each. */
	for (u64 i = 0; i < 10000; i++) {
		u64 page = i % (2ULL * bench.shape->l1_tlb_pages);
		struct access access = {.address = page * SMALL_PAGE + page % 64 * LINE};
		struct retired found;

		bench.now += LONG;
		found = memory_fixture_access(access);
		if (found.place == PLACE_L1 && found.translated == TRANSLATED_L2 && found.latency < least)
			least = found.latency;
	}
	cr_expect_eq(least, bench.shape->l1_cycles + 7U);
}

/* The earlier content of the storage does not matter, and nothing beyond its end is written. */
Test(model_memory, storage_has_the_computed_size)
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

Test(model_memory, absent_caches_are_never_hit)
{
	const struct memory_shape bare = {
		.l1_bytes = 4096, .l1_ways = 4, .l1_cycles = 3, .local_dram_cycles = 90};
	void *storage = aligned_alloc(64, memory_size(&bare));

	bench = (struct memory_fixture){.shape = &bare, .memory = memory_open(storage, &bare, 1)};
	expect_found(memory_fixture_later(0), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	expect_found(memory_fixture_later(0), PLACE_L1, SNOOPED_NONE);
	memory_fixture_lines(1024, 4, 1024);
	cr_expect_eq(expect_found(memory_fixture_later(0), PLACE_LOCAL_DRAM, SNOOPED_MISS).translated,
		     TRANSLATED_WALK);
}

Test(model_memory, warm_lines_are_in_l3_and_the_last_ones_in_l2)
{
	u64 bytes;

	memory_fixture_open("skylake");
	bytes = bench.shape->l3_bytes / 4;
	memory_warm(bench.memory, 0, bytes);
	expect_found(memory_fixture_later(bytes - LINE), PLACE_L2, SNOOPED_NONE);
	expect_found(memory_fixture_later(0), PLACE_L3, SNOOPED_NONE);
	expect_found(memory_fixture_later(bytes), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	memory_warm(bench.memory, 0x80000000, 0);
	expect_found(memory_fixture_later(0x80000000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}

/* Even for the highest address, the key must fit next to the flags. */
Test(model_memory, any_address_is_accepted)
{
	memory_fixture_open("skylake");
	expect_found(memory_fixture_later(~0ULL), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	memory_other_writes(bench.memory, ~0ULL, true);
	expect_found(memory_fixture_later(~0ULL), PLACE_REMOTE_CACHE, SNOOPED_MODIFIED);
	expect_found(memory_fixture_later(~0ULL), PLACE_L1, SNOOPED_NONE);
	expect_found(memory_fixture_later(0), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}
