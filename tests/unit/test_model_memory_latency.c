// SPDX-License-Identifier: GPL-2.0
/* The latency of accesses, apart from the place that serves them. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "memory_fixture.h"
#include "workload_fixture.h"

TestSuite(model_memory_latency, .fini = memory_fixture_close);

Test(model_memory_latency, a_locked_access_takes_longer)
{
	u32 least[2] = {~0U, ~0U};

	memory_fixture_open("skylake");
	memory_fixture_later(0);
	for (unsigned i = 0; i < 1000; i++) {
		struct access access = {.address = 0, .large_page = true, .kind = ACCESS_STORE};
		u32 latency;

		bench.now += LONG;
		access.locked = i % 2;
		latency = memory_fixture_access(access).latency;
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

Test(model_memory_latency, latencies_are_skewed_to_the_right)
{
	enum { LOADS = 20000 };
	static u32 latencies[LOADS];
	u64 sum = 0;
	u32 median;

	memory_fixture_open("skylake-server");
	memory_fixture_later(0);
	for (u64 i = 0; i < LOADS; i++) {
		latencies[i] = memory_fixture_later((i + 1) * 4 * LINE).latency;
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

/*
 * Each load of each workload takes at least the time of its place, and fits into the 16 bits of a record's
 * field.
 */
Test(model_memory_latency, latencies_are_within_the_bounds_of_their_place)
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

		for (unsigned kind = 0; kind < WORKLOAD_KINDS; kind++) {
			_cleanup_(workload_fixture_close) struct workload_fixture fixture;

			cr_assert_eq(workload_fixture_open(machine, kind, 3, &fixture), 0);
			for (unsigned i = 0; i < 20000; i++) {
				struct retired load;

				workload_next_load(&fixture.workload, &load);
				cr_assert_geq(load.latency, least[load.place], "%s, %s: place %u",
					      machine->name, workload_names[kind], load.place);
				cr_assert_geq(load.instruction_latency, load.latency);
				cr_assert_lt(load.instruction_latency, 65536);
			}
		}
	}
}

/* Returns the mean latency of loads from DRAM, each of another line. */
static double mean_of_dram(bool remote, u64 first)
{
	enum { LOADS = 20000 };
	u64 sum = 0;

	for (u64 i = 0; i < LOADS; i++) {
		struct access access = {.address = (first + i) * LINE,
					.large_page = true,
					.remote = remote,
					.kind = ACCESS_LOAD};

		bench.now += LONG;
		sum += memory_fixture_access(access).latency;
	}
	return (double)sum / LOADS;
}

Test(model_memory_latency, lines_from_dram_wait_for_other_traffic)
{
	struct memory_traffic traffic;
	double local, remote;

	memory_fixture_open("skylake");
	local = mean_of_dram(false, 0);
	remote = mean_of_dram(true, 1 << 20);
	memory_contend(bench.memory, 100, 300);
	cr_expect_float_eq(mean_of_dram(false, 2 << 20) - local, 100, 10);
	cr_expect_float_eq(mean_of_dram(true, 3 << 20) - remote, 300, 30);
	memory_contend(bench.memory, 0, ~0U);
	cr_expect_float_eq(mean_of_dram(false, 4 << 20) - local, 0, 10);
	cr_expect_float_eq(mean_of_dram(true, 5 << 20) - remote, MEMORY_WAIT_MAX, 40);
	traffic = memory_traffic(bench.memory);
	cr_expect_eq(traffic.local, 60000);
	cr_expect_eq(traffic.remote, 60000);
}

/* The longest wait of the longest latency fits the 16 bits of a record's field. */
Test(model_memory_latency, a_latency_with_a_wait_fits_a_record)
{
	for (const struct machine *machine = machines; machine < machines + machines_count; machine++) {
		const struct memory_shape *shape = &machine->memory;
		const u32 remote = shape->remote_dram_cycles, walk = shape->walk_cycles;

		cr_expect_lt(remote + ((remote / 6 + MEMORY_WAIT_MAX / 2) << 6) + walk + (walk / 4 << 4) +
				     shape->locked_cycles + 2 + (4 << 6),
			     65536, "%s", machine->name);
	}
}
