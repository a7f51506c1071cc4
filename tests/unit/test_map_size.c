// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "kernel/map_size.h"
#include "pebsd/records.h"

#define MIB (1024ULL * 1024)
#define KIB 1024ULL

static struct map_size_case machine(u32 slots, u32 stripes, u32 cpus)
{
	return (struct map_size_case){.slots = slots, .stripes = stripes, .cpus = cpus, .page_size = 4096};
}

Test(map_size, maps_of_a_server_that_samples_loads_have_the_computed_size)
{
	struct map_size_case maps = machine(512, 16, 64);

	maps.with_latency = 1;
	/*
	 * The parts of the sum: records; an empty map of plain records with one page; 17 rows of dirty bytes;
	 * owners; 65 states of 128 bytes in three pages; samples handed over; the index.
	 */
	cr_expect_eq(map_size(&maps), 512UL * 16 * sizeof(struct latency_record) + 4 * KIB + 12 * KIB +
					      160 * KIB + 12 * KIB + 56 * KIB + (512UL + 64) * 64 +
					      512UL * 16);
}

/*
 * The size grows by a record and its dirty byte for each slot, stripe and event, besides the maps whose size depends on
 * the slots alone.
 */
Test(map_size, the_size_grows_with_slots_stripes_and_events)
{
	static const u32 slots[] = {512, 2048, 16384, 65536};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		struct map_size_case maps = machine(slots[i], 16, 256);
		u64 none = map_size(&maps), one, two, plain;
		/* A record and its dirty byte. */
		const u64 with_latency = sizeof(struct latency_record) + 1;
		const u64 without = sizeof(struct plain_record) + 1;

		cr_expect_leq(none, slots[i] * (320 + 1 + 64 + 16ULL) + 128 * KIB);
		maps.with_latency = 1;
		one = map_size(&maps);
		maps.with_latency = 2;
		two = map_size(&maps);
		cr_expect_eq(two - one, slots[i] * 16ULL * with_latency);
		cr_expect_leq(one - none, slots[i] * 16ULL * with_latency + 4096);
		maps.without = 2;
		plain = map_size(&maps);
		maps.without = 1;
		cr_expect_eq(plain - map_size(&maps), slots[i] * 16ULL * without);
		maps.stripes = 8;
		cr_expect_eq(plain - map_size(&maps),
			     slots[i] * (8 * (2 * with_latency + without) + 16 * without));
	}
}

Test(map_size, the_size_grows_with_cpus)
{
	struct map_size_case maps = machine(1000, 2, 2);
	u64 without;

	maps.without = 1;
	without = map_size(&maps);
	maps.hot_tables = 6;
	cr_expect_eq(map_size(&maps), without, "no cgroup has any");
	maps.hot_cgroups = 3;
	cr_expect_eq(map_size(&maps) - without, 3 * (6ULL * 15 * KIB + 2 * KIB), "whole pages");
	maps.hot_cgroups = 0;
	maps.offcore_cpus = 2;
	/* Two more rows of dirty bytes need one more page. */
	cr_expect_eq(map_size(&maps) - without, 94ULL * 4 * KIB + 4 * KIB + 4 * KIB);
}

/* One more block of slots would not fit. Maps that are created at their greatest size are included. */
Test(map_size, slots_fit_the_given_memory)
{
	static const u64 mebibytes[] = {2, 12, 64, 256, 768};

	for (size_t i = 0; i < sizeof(mebibytes) / sizeof(mebibytes[0]); i++) {
		const u64 bytes = mebibytes[i] << 20;
		struct map_size_case maps = machine(0, 16, 256);
		u32 slots;

		maps.with_latency = 1;
		slots = map_size_slots(&maps, bytes);
		cr_expect_eq(slots % SLOT_BLOCK, 0);
		cr_expect_geq(slots, SLOT_BLOCK);
		maps.slots = maps.slots_max = slots;
		cr_expect(slots == SLOT_BLOCK || map_size(&maps) <= bytes, "%u slots", slots);
		maps.slots = maps.slots_max = slots + SLOT_BLOCK;
		cr_expect_gt(map_size(&maps), bytes, "%u slots", slots);
		/* If the maps are created for twice as many slots, no more slots fit than before. */
		maps.slots_max = 2 * slots;
		cr_expect_leq(map_size_slots_of(&maps, bytes), slots);
		maps.slots = map_size_slots_of(&maps, bytes);
		cr_expect(maps.slots == SLOT_BLOCK || map_size(&maps) <= bytes);
	}
}

Test(map_size, slots_stay_below_the_maximum)
{
	struct map_size_case maps = machine(0, 1, 2);

	maps.without = 1;
	cr_expect_eq(map_size_slots(&maps, 1ULL << 40), SLOTS_MAX);
	maps.slots_max = 1024;
	cr_expect_eq(map_size_slots_of(&maps, 1ULL << 40), 1024);
}
