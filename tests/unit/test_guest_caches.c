// SPDX-License-Identifier: GPL-2.0
/*
 * The caches of the emulated PMU's CPUs (tests/guest/pmu/): which CPU has a line, and which accesses need no
 * look at the caches.
 */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/machine.h"

/* Include the source: it belongs to a plugin for QEMU, and no program here links it. */
#include "../guest/pmu/caches.c" /* NOLINT(bugprone-suspicious-include) */

#define NODE_BYTES (1ULL << 29)
/* After this time, no earlier access is still in progress. */
#define LONG 100000U

struct fixture {
	struct caches *caches;
	u64 now;
};

static void fixture_open(struct fixture *ret, u64 node_bytes)
{
	const struct machine *machine = machine_find("skylake-server");

	*ret = (struct fixture){.caches = caches_open(2, node_bytes)};
	cr_assert(ret->caches);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		cr_assert_eq(caches_add_cpu(ret->caches, cpu, &machine->memory), 0);
}

static void fixture_close(struct fixture *fixture)
{
	/* The plugin never frees its memory, which it needs as long as QEMU runs. */
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		free(fixture->caches->memory[cpu]);
	free(fixture->caches->directory);
	free(fixture->caches);
}

/*
 * Accesses memory as the plugin does. Returns true if the access took the short cut. If not, `ret` says where
 * the data was.
 */
static bool touch(struct fixture *fixture, unsigned int cpu, u64 linear, u64 physical, bool store,
		  struct retired *ret)
{
	struct caches_access access = {
		.linear = linear, .physical = physical, .store = store, .now = fixture->now += LONG};

	*ret = (struct retired){0};
	if (caches_is_recent(caches_recent(fixture->caches, cpu), linear, store))
		return true;
	caches_access(fixture->caches, cpu, &access, ret);
	return false;
}

static bool load(struct fixture *fixture, unsigned int cpu, u64 address, struct retired *ret)
{
	return touch(fixture, cpu, address, address, false, ret);
}

static bool store(struct fixture *fixture, unsigned int cpu, u64 address, struct retired *ret)
{
	return touch(fixture, cpu, address, address, true, ret);
}

Test(guest_caches, a_line_written_by_two_cpus_in_turn_is_modified_in_the_other_each_time)
{
	static const struct {
		u64 node_bytes;
		enum place place;
	} facts[] = {{0, PLACE_L3}, {NODE_BYTES, PLACE_REMOTE_CACHE}};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		_cleanup_(fixture_close) struct fixture fixture;
		struct retired found;

		fixture_open(&fixture, facts[i].node_bytes);
		/* Each CPU adds to a word of its own in the same line. */
		load(&fixture, 0, 0x1000, &found);
		store(&fixture, 0, 0x1000, &found);
		for (unsigned int turn = 1; turn < 100; turn++) {
			u64 address = 0x1000 + turn % 2 * 40;

			cr_assert(!load(&fixture, turn % 2, address, &found), "turn %u", turn);
			cr_assert_eq(found.snoop, SNOOPED_MODIFIED, "turn %u: %d", turn, found.snoop);
			cr_assert_eq(found.place, facts[i].place, "turn %u: %d", turn, found.place);
			cr_assert(!store(&fixture, turn % 2, address, &found), "turn %u", turn);
		}
	}
}

Test(guest_caches, a_line_owned_by_one_cpu_takes_the_fast_path)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct retired found;

	fixture_open(&fixture, 0);
	cr_assert(!store(&fixture, 0, 0x1000, &found));
	for (int i = 0; i < 10; i++) {
		cr_assert(load(&fixture, 0, 0x1000, &found));
		cr_assert(store(&fixture, 0, 0x1008, &found));
	}
}

Test(guest_caches, a_line_that_both_cpus_read_is_not_modified)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct retired found;

	fixture_open(&fixture, 0);
	for (unsigned int i = 0; i < 10; i++) {
		cr_assert_eq(load(&fixture, i % 2, 0x1000, &found), i >= 2);
		cr_assert_neq(found.snoop, SNOOPED_MODIFIED);
	}
	/* A shared copy is sufficient for a load, but not for a store. */
	cr_assert(!store(&fixture, 0, 0x1000, &found));
	cr_assert(!load(&fixture, 1, 0x1000, &found));
	cr_assert_eq(found.snoop, SNOOPED_MODIFIED);
}

Test(guest_caches, a_line_with_two_addresses_is_invalidated_for_both)
{
	_cleanup_(fixture_close) struct fixture fixture;
	const u64 other_address = DIRECT_MAP_START + 0x1040;
	struct retired found;

	fixture_open(&fixture, 0);
	store(&fixture, 0, 0x2000, &found);
	/* The kernel writes the same memory through another virtual address. */
	touch(&fixture, 0, other_address, 0x2000, true, &found);
	store(&fixture, 1, 0x2000, &found);
	cr_assert(!touch(&fixture, 0, other_address, 0x2000, false, &found));
	store(&fixture, 1, 0x2000, &found);
	cr_assert(!load(&fixture, 0, 0x2000, &found), "a line that another CPU wrote is still a recent one");
	cr_assert_eq(found.snoop, SNOOPED_MODIFIED);
}

Test(guest_caches, a_page_of_the_other_node_is_remote)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct retired found;

	fixture_open(&fixture, NODE_BYTES);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		load(&fixture, cpu, 0x10000 + cpu * 0x1000, &found);
		cr_expect_eq(found.place, cpu == 0 ? PLACE_LOCAL_DRAM : PLACE_REMOTE_DRAM, "CPU %u: %d", cpu,
			     found.place);
		load(&fixture, cpu, NODE_BYTES + cpu * 0x1000ULL, &found);
		cr_expect_eq(found.place, cpu == 1 ? PLACE_LOCAL_DRAM : PLACE_REMOTE_DRAM, "CPU %u: %d", cpu,
			     found.place);
	}
}
