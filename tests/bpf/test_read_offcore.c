// SPDX-License-Identifier: GPL-2.0
/*
 * Off-core counts of a slot are read only from CPUs that have counted for it. The CPUs need not exist: the test
 * writes the records through a mapping of its own, as settle() of the BPF program does.
 */
#include <criterion/criterion.h>

#include <sys/mman.h>

#include "base/cleanup.h"
#include "collect/collect.h"
#include "collect/read_offcore.h"
#include "kernel/kernel_internal.h"
#include "kernel/kernel_offcore.h"

#define CPUS 130 /* three words of a set of CPUs, the last one not full */
#define ID   1000

static struct kernel *kernel;
static struct names *names;
static struct totals *totals;
static struct collect *collect;
static struct offcore_record *records;

static void open_all(void)
{
	u8 of_cpu[1] = {0};
	const struct stripes stripes = {.n = 1, .cpus = 1, .of_cpu = of_cpu};
	const struct kernel_settings settings = {
		.slots = 8,
		.stripes = &stripes,
		.n_events = 1,
		.events[0] = {.has_latency = 1, .has_source = 1},
		.offcore_cpus = CPUS,
	};
	_cleanup_free_ char *message = NULL;
	struct mapping written;

	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		kernel_offcore_know(kernel_offcore(kernel), cpu, 0);
	cr_assert_eq(kernel->blocks.n, 1);
	cr_assert_eq(kernel_map_memory(kernel->blocks.list[0].fds[BLOCK_OFFCORE],
				       kernel->blocks.entries[BLOCK_OFFCORE] * sizeof(struct offcore_record),
				       PROT_READ | PROT_WRITE, &written),
		     0);
	records = written.memory;
	cr_assert_eq(names_new(16, &names), 0);
	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(names_add_path(names, ID, "/a"), 0);
	cr_assert_geq(kernel_adopt(kernel, ID, 0, "/a"), 0);
	cr_assert_eq(
		collect_new(&(struct collect_settings){.kernel = kernel, .names = names, .totals = totals},
			    &collect),
		0);
}

/* Counts `n` responses for the cgroup on the CPU. */
static void count(u32 cpu, u64 n)
{
	const u32 slot = 1;
	struct offcore_record *record =
		&records[(size_t)cpu * kernel->blocks.slots + kernel_slot_in_block(&kernel->blocks, slot)];

	record->counts[OFFCORE_L3].count += n;
	__atomic_store_n(&record->settles, record->settles + 1, __ATOMIC_RELEASE);
	kernel_offcore_dirty(kernel, cpu)[slot] = 1;
}

static u64 total(void)
{
	struct totals_entry *const *entries;
	u64 sum = 0;
	size_t n;

	entries = totals_entries(totals, &n);
	for (size_t i = 0; i < n; i++)
		if (entries[i]->offcore_total)
			sum += entries[i]->offcore_total->of[0][OFFCORE_L3].count;
	return sum;
}

static u64 collected(bool all)
{
	static u64 now_ns;

	cr_assert_eq(all ? collect_last(collect, ++now_ns) : collect_run(collect, ++now_ns), 0);
	return total();
}

Test(read_offcore, cpus_that_count_later_are_added)
{
	open_all();
	cr_expect_eq(collected(false), 0);
	count(0, 1);
	cr_expect_eq(collected(false), 1);
	count(129, 10);
	cr_expect_eq(collected(false), 11);
	count(0, 100);
	count(63, 1000);
	count(64, 10000);
	cr_expect_eq(collected(false), 11111);
	cr_expect_eq(collected(false), 11111, "nothing is counted twice");
	count(129, 100000);
	cr_expect_eq(collected(true), 111111);
	count(128, 1000000);
	cr_expect_eq(collected(false), 1111111);
}

Test(read_offcore, a_reading_of_all_slots_needs_no_dirty_bytes)
{
	open_all();
	count(5, 1);
	kernel_offcore_dirty(kernel, 5)[1] = 0;
	count(77, 10);
	cr_expect_eq(collected(false), 10);
	cr_expect_eq(collected(true), 11, "a process that ended had taken a dirty byte");
	count(5, 100);
	cr_expect_eq(collected(false), 111);
}

Test(read_offcore, cpus_without_counts_are_forgotten)
{
	u64 cpus[3] = {~0ULL, ~0ULL, 3};
	struct offcore_base *base = NULL;
	struct offcore_counts delta;

	open_all();
	cr_expect_eq(offcore_cpus_words(kernel_offcore(kernel)), 3);
	count(64, 7);
	cr_expect(read_offcore_moved(kernel_offcore(kernel), 1, cpus, NULL));
	cr_expect_eq(cpus[0], 0);
	cr_expect_eq(cpus[1], 1);
	cr_expect_eq(cpus[2], 0);
	cr_assert_eq(read_offcore(kernel_offcore(kernel), 1, cpus, &base, &delta), 0);
	cr_expect_eq(delta.of[0][OFFCORE_L3].count, 7);
	cr_expect_not(read_offcore_moved(kernel_offcore(kernel), 1, cpus, base));
	offcore_cpus_add(cpus, 129);
	count(129, 8);
	cr_expect(read_offcore_moved(kernel_offcore(kernel), 1, cpus, base));
	cr_assert_eq(read_offcore(kernel_offcore(kernel), 1, cpus, &base, &delta), 0);
	cr_expect_eq(delta.of[0][OFFCORE_L3].count, 8);
	free(base);
}
