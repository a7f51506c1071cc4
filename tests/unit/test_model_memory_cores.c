// SPDX-License-Identifier: GPL-2.0
/* The copies of a line that other cores and the other socket hold. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "memory_fixture.h"

TestSuite(model_memory_cores, .fini = memory_fixture_close);

Test(model_memory_cores, a_line_written_by_another_core_is_modified_there)
{
	memory_fixture_open("skylake-server");
	memory_fixture_later(0);
	memory_other_writes(bench.memory, 8, false);
	expect_found(memory_fixture_later(0), PLACE_L3, SNOOPED_MODIFIED);
	expect_found(memory_fixture_later(0), PLACE_L1, SNOOPED_NONE);
	memory_other_writes(bench.memory, 8, true);
	expect_found(memory_fixture_later(0), PLACE_REMOTE_CACHE, SNOOPED_MODIFIED);
	/* The line is on its way to this core when another core writes it. */
	bench.now += LONG;
	expect_found(memory_fixture_load(0x4000), PLACE_LOCAL_DRAM, SNOOPED_MISS);
	memory_other_writes(bench.memory, 0x4000, false);
	expect_found(memory_fixture_load(0x4000), PLACE_L3, SNOOPED_MODIFIED);
}

Test(model_memory_cores, a_store_takes_exclusive_ownership)
{
	memory_fixture_open("skylake");
	memory_fixture_later(0);
	memory_other_reads(bench.memory, 0, false);
	expect_found(memory_fixture_later(0), PLACE_L1,
		     SNOOPED_NONE); /* a shared copy is sufficient for a load */
	bench.now += LONG;
	expect_found(memory_fixture_store(0), PLACE_L3, SNOOPED_HIT);
	bench.now += LONG;
	expect_found(memory_fixture_store(0), PLACE_L1, SNOOPED_NONE);
	memory_other_writes(bench.memory, 0, false);
	bench.now += LONG;
	expect_found(memory_fixture_store(0), PLACE_L3, SNOOPED_MODIFIED);
	bench.now += LONG;
	expect_found(memory_fixture_store(0), PLACE_L1, SNOOPED_NONE);
	/* After this core has loaded the line, the previous writer keeps a clean copy. */
	memory_other_writes(bench.memory, 0, true);
	expect_found(memory_fixture_later(0), PLACE_REMOTE_CACHE, SNOOPED_MODIFIED);
	bench.now += LONG;
	expect_found(memory_fixture_store(0), PLACE_REMOTE_CACHE, SNOOPED_HIT);
}

Test(model_memory_cores, a_line_that_the_other_socket_wrote_is_not_in_this_l3)
{
	memory_fixture_open("skylake");
	memory_fixture_later(0);
	memory_fixture_later(LINE);
	memory_other_writes(bench.memory, 0, false);
	memory_other_writes(bench.memory, LINE, true);
	/* 20,000 other lines displace the record of who had these two. */
	for (u64 i = 0; i < 20000; i++)
		memory_other_reads(bench.memory, LARGE_PAGE + i * LINE, true);
	expect_found(memory_fixture_later(0), PLACE_L3, SNOOPED_NONE);
	expect_found(memory_fixture_later(LINE), PLACE_LOCAL_DRAM, SNOOPED_MISS);
}

Test(model_memory_cores, asking_another_core_has_its_latency)
{
	u32 least[SNOOPED_COUNT] = {~0U, ~0U, ~0U, ~0U};

	memory_fixture_open("skylake-server");
	for (u64 i = 0; i < 3000; i++) {
		struct retired found;

		memory_warm(bench.memory, 0, LINE);
		memory_other_writes(bench.memory, 0, false);
		if (i % 2)
			memory_other_reads(bench.memory, 0, false);
		found = memory_fixture_later(0);
		cr_assert_eq(found.place, PLACE_L3);
		if (found.latency < least[found.snoop])
			least[found.snoop] = found.latency;
	}
	cr_expect_eq(least[SNOOPED_HIT], (u32)bench.shape->l3_cycles + bench.shape->snoop_cycles);
	cr_expect_eq(least[SNOOPED_MISS], (u32)bench.shape->l3_cycles + bench.shape->snoop_cycles);
	cr_expect_eq(least[SNOOPED_MODIFIED], (u32)bench.shape->l3_cycles + bench.shape->modified_cycles);
}

Test(model_memory_cores, a_clean_copy_elsewhere_is_found_there_or_was_dropped)
{
	unsigned hits = 0, misses = 0, remote = 0, dram = 0;

	memory_fixture_open("skylake-server");
	for (u64 i = 0; i < 800; i++) {
		u64 address = i * LINE;
		struct retired found;

		memory_warm(bench.memory, address, LINE);
		memory_other_writes(bench.memory, address, false); /* evicts it from this core's caches */
		memory_other_reads(bench.memory, address, false);
		found = memory_fixture_later(address);
		cr_expect_eq(found.place, PLACE_L3);
		hits += found.snoop == SNOOPED_HIT;
		misses += found.snoop == SNOOPED_MISS;

		memory_other_reads(bench.memory, LARGE_PAGE + address, true);
		found = memory_fixture_later(LARGE_PAGE + address);
		remote += found.place == PLACE_REMOTE_CACHE && found.snoop == SNOOPED_HIT;
		dram += found.place == PLACE_LOCAL_DRAM && found.snoop == SNOOPED_MISS;
	}
	cr_expect_eq(hits + misses, 800);
	cr_expect_eq(remote + dram, 800);
	/* One in eight, within five standard deviations of 9.4. */
	cr_expect(misses > 53 && misses < 147, "%u", misses);
	cr_expect(dram > 53 && dram < 147, "%u", dram);
}
