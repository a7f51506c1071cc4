// SPDX-License-Identifier: GPL-2.0
/* The collection, with a kernel side in plain memory (tests/lib/fake_kernel.h). */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "collect/collect_internal.h"
#include "collect/dirty.h"
#include "fake_kernel.h"
#include "heap.h"
#include "random_numbers.h"
#include "scarce_memory.h"
#include "state/state_kinds.h"

#define SLOTS   256
#define STRIPES 4
#define GRACE   (2 * NSEC_PER_SEC)
#define REST    KERNEL_REST_NS
#define START   (1000 * NSEC_PER_SEC)

#define EXIT_TOUCHED 77

enum { LOADS, STORES, EVENTS };

static struct kernel *kernel;
static struct names *names;
static struct totals *totals;
static struct collect *collect;
static u64 now;
static u64 state;
static unsigned born, gone;

static void on_birth(void *userdata, const char *path, u64 id)
{
	(void)userdata, (void)path, (void)id;
	born++;
}

static void on_death(void *userdata, const char *path, u64 id)
{
	(void)userdata, (void)path, (void)id;
	gone++;
}

/* The configuration's choice of hot tables from the start; NULL: none. */
static bool (*hot)(const char *path, void *userdata);

static void open_collection(struct state *saved)
{
	cr_assert_eq(names_new(2 * (size_t)kernel_slots_max(kernel), &names), 0);
	cr_assert_eq(totals_new(&totals), 0);
	if (saved)
		cr_assert_eq(totals_restore(totals, saved), 0);
	cr_assert_eq(collect_new(
			     &(struct collect_settings){
				     .kernel = kernel,
				     .names = names,
				     .totals = totals,
				     .names_from_slots = true,
				     .grace_ns = GRACE,
				     .state = saved,
				     .hot = hot,
				     .listener = {.born = on_birth, .gone = on_death},
			     },
			     &collect),
		     0);
}

#define HOT_CGROUPS 2

static struct kernel *new_kernel(u32 slots, u32 n_stripes)
{
	const struct stripes stripes = {.n = n_stripes};
	const struct kernel_settings settings = {
		.slots = slots,
		.hot_max = HOT_CGROUPS,
		.stripes = &stripes,
		.n_events = EVENTS,
		.events = {[LOADS] = {.has_latency = 1, .has_source = 1}, [STORES] = {.has_source = 1}},
	};

	return fake_kernel_new(&settings);
}

static void open_slots(u32 slots, u32 n_stripes)
{
	kernel = new_kernel(slots, n_stripes);
	open_collection(NULL);
	now = START;
	state = XORSHIFT_SEED;
	born = gone = 0;
}

static void close_collection(void)
{
	collect_free(collect);
	totals_free(totals);
	names_free(names);
}

static void close_slots(void)
{
	close_collection();
	kernel_free(kernel);
}

static void setup(void)
{
	open_slots(SLOTS, STRIPES);
	(void)fake_kernel_born(kernel, 1, 0, "");
}

TestSuite(collect, .init = setup, .fini = close_slots);

static u64 random_below(u64 n)
{
	return xorshift(&state) % n;
}

static void run(u64 later_ns)
{
	now += later_ns;
	cr_assert_eq(collect_run(collect, now), 0);
}

static void sample(u32 slot, u32 stripe)
{
	fake_kernel_count(kernel, slot, LOADS, stripe, SOURCE_L3, 60, 100);
}

static u64 total(const char *path, unsigned event)
{
	const struct totals_entry *entry = totals_find(totals, path);
	struct counters counters;

	if (!entry)
		return 0;
	totals_counters(entry, event, &counters);
	return counters_samples(&counters);
}

static u64 delta_of(const struct totals_entry *entry, unsigned event)
{
	u64 samples = 0;
	size_t n;
	const struct delta *list = deltas_list(collect_deltas(collect), &n);

	for (size_t i = 0; i < n; i++)
		if (list[i].entry == entry && list[i].event == event)
			samples += packed_samples(list[i].packed, list[i].size);
	return samples;
}

static u64 delta(const char *path, unsigned event)
{
	const struct totals_entry *entry = totals_find(totals, path);

	return entry ? delta_of(entry, event) : 0;
}

static size_t n_deltas(void)
{
	size_t n;

	(void)deltas_list(collect_deltas(collect), &n);
	return n;
}

Test(collect, a_slot_of_a_removed_cgroup_is_reclaimed)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");

	run(1ULL << 40);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_ALIVE);
	/* The cgroup dies after `now` was read. */
	fake_kernel_died(kernel, slot, now + 1000);
	run(0);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_DEAD);
	run(1000 + GRACE - 1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_DEAD);
	run(1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	run(REST - 1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	run(1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_FREE);
}

Test(collect, each_dirty_byte_of_a_line_is_one_bit)
{
	u8 line[DIRTY_LINE] __attribute__((aligned(DIRTY_LINE))) = {0};

	cr_expect_eq(dirty_take(line), 0);
	for (unsigned i = 0; i < DIRTY_LINE; i++) {
		line[i] = (u8)(1U << i % 8);
		cr_expect_eq(dirty_take(line), 1ULL << i, "byte %u", i);
		cr_expect_eq(line[i], 0);
	}
	memset(line, 1, sizeof(line));
	cr_expect_eq(dirty_take(line), ~0ULL);
	cr_expect_eq(dirty_take(line), 0);
	dirty_put_back(&line[5]);
	cr_expect(dirty_take_one(&line[5]));
	cr_expect_not(dirty_take_one(&line[5]));
}

Test(collect, deltas_and_totals_equal_the_samples)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");
	size_t n;
	const struct delta *list;

	sample(slot, 0);
	sample(slot, 3);
	fake_kernel_count(kernel, slot, STORES, 1, SOURCE_L1, 0, 7);
	sample(SLOT_UNATTRIBUTED, 2);
	run(0);
	cr_expect_eq(total("/a", LOADS), 2);
	cr_expect_eq(total("/a", STORES), 1);
	cr_expect_eq(delta_of(totals_unattributed(totals), LOADS), 1);
	list = deltas_list(collect_deltas(collect), &n);
	cr_assert_eq(n, 3);
	cr_expect_eq(list[1].entry, list[2].entry, "an entry's come one after another");
	cr_expect_eq(list[1].event, LOADS);
	cr_expect_eq(list[2].event, STORES);
	cr_expect_eq(collect_seen_by_stripe(collect, LOADS)[2], 1);
	cr_expect_eq(collect_seen_by_stripe(collect, LOADS)[3], 1);
	cr_expect_eq(born, 2);
	cr_expect_eq(collect_cgroups_alive(collect), 2);
	cr_expect_eq(collect_slots_free(collect), SLOTS - 3);

	sample(slot, 0);
	run(1);
	cr_expect_eq(total("/a", LOADS), 3);
	cr_expect_eq(delta("/a", LOADS), 1);
	run(1);
	cr_expect_eq(n_deltas(), 0);
	cr_expect_eq(total("/a", LOADS), 3);
}

/* Clean records are made inaccessible, so that touching one kills the test. */
Test(collect, clean_slots_are_not_touched)
{
	u32 slots[100];
	u64 visits;

	for (unsigned i = 0; i < 100; i++) {
		slots[i] = fake_kernel_born(kernel, 2 + i, 1, "c");
		sample(slots[i], i % STRIPES);
	}
	run(0);
	fake_kernel_guard(kernel);
	visits = fake_kernel_visits(kernel);
	run(1);
	cr_expect_eq(fake_kernel_visits(kernel), visits);
	sample(slots[17], 1);
	run(1);
	cr_expect_eq(n_deltas(), 1);
	cr_expect_eq(fake_kernel_visits(kernel), visits + 1);
}

static void end_touched(int number)
{
	(void)number;
	_exit(EXIT_TOUCHED);
}

Test(collect, an_access_to_a_guarded_record_is_noticed, .exit_code = EXIT_TOUCHED)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");

	(void)signal(SIGSEGV, end_touched);
	sample(slot, 0);
	run(0);
	fake_kernel_guard(kernel);
	fake_kernel_set_dirty(kernel, LOADS, 0, slot);
	run(1);
}

/*
 * A sample is added to a slot while a collection reads it, because another sample had made it dirty. The
 * collection sees only the first half of the sample.
 */
Test(collect, half_of_a_sample_is_completed_by_the_next_collection)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");
	struct latency_record *record = fake_kernel_record(kernel, LOADS, 1, slot);

	sample(slot, 1);
	record->sums[SOURCE_L1].weight = 1000;
	record->sums[SOURCE_L1].latency = 5;
	run(0);
	cr_expect_eq(total("/a", LOADS), 1);
	record->source_latency[SOURCE_L1][3] = 1;
	record->latency[4] = 1;
	fake_kernel_set_dirty(kernel, LOADS, 1, slot);
	run(1);
	cr_expect_eq(delta("/a", LOADS), 1);
	cr_expect_eq(total("/a", LOADS), 2);
}

/* Paths are built after all names are known, so the order of the slots does not matter. */
Test(collect, a_child_may_have_a_lower_slot_than_its_parent)
{
	fake_kernel_born_in(kernel, 200, 3, 1, "parent");
	fake_kernel_born_in(kernel, 100, 4, 3, "child");
	sample(100, 0);
	sample(200, 0);
	run(0);
	cr_expect_eq(total("/parent/child", LOADS), 1);
	cr_expect_eq(total("/parent", LOADS), 1);
}

/* A slot without a known owner keeps its samples until the owner is known. */
Test(collect, samples_wait_for_their_owner)
{
	sample(7, 0);
	run(0);
	cr_expect_eq(n_deltas(), 0);
	fake_kernel_born_in(kernel, 7, 9, 1, "late");
	run(1);
	cr_expect_eq(delta("/late", LOADS), 1);
}

static void expect_free(u32 slot)
{
	static const struct latency_record zero;

	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_FREE);
	for (u32 stripe = 0; stripe < STRIPES; stripe++)
		cr_expect_eq(memcmp(fake_kernel_record(kernel, LOADS, stripe, slot), &zero, sizeof(zero)), 0);
}

/* A late sample still counts for the cgroup that had the slot. The next cgroup begins at zero. */
Test(collect, a_slot_can_be_reused_by_another_cgroup)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "old");

	sample(slot, 0);
	run(0);
	fake_kernel_died(kernel, slot, now);
	sample(slot, 1);
	run(GRACE - 1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_DEAD);
	cr_expect_eq(gone, 1);
	cr_expect_eq(collect_cgroups_alive(collect), 1);
	run(1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	sample(slot, 2); /* this sample was under way when the index was cleared */
	run(REST - 1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	sample(slot, 2);
	run(1);
	expect_free(slot);
	cr_expect_eq(total("/old", LOADS), 4);
	cr_expect_eq(totals_find(totals, "/old")->holders, 0);
	cr_expect_eq(collect_slots_free(collect), SLOTS - 2);

	cr_assert_eq(fake_kernel_born(kernel, 3, 1, "new"), slot);
	sample(slot, 1);
	run(1);
	cr_expect_eq(delta("/new", LOADS), 1);
	cr_expect_eq(total("/old", LOADS), 4);
	cr_expect_eq(names_count(names), 2);
}

/* A service is restarted within one collection: the path has two slots for a time. */
Test(collect, two_slots_of_a_path_are_added)
{
	u32 first = fake_kernel_born(kernel, 2, 1, "service"), second;

	sample(first, 0);
	run(0);
	fake_kernel_died(kernel, first, now);
	second = fake_kernel_born(kernel, 3, 1, "service");
	sample(first, 0);
	sample(second, 0);
	sample(second, 1);
	run(1);
	cr_expect_eq(delta("/service", LOADS), 3);
	cr_expect_eq(total("/service", LOADS), 4);
	cr_expect_eq(totals_find(totals, "/service")->holders, 2);
	cr_expect_eq(totals_find(totals, "/service")->living, 1);
	run(GRACE);
	run(REST);
	expect_free(first);
	sample(second, 1);
	run(1);
	cr_expect_eq(total("/service", LOADS), 5);
	cr_expect_eq(totals_find(totals, "/service")->holders, 1);
	cr_expect_eq(totals_find(totals, "/service")->id, 3);
}

/* The first sample of this path is from the later cgroup. A sample from the earlier one follows. */
Test(collect, a_path_has_the_id_of_the_live_cgroup)
{
	u32 first = fake_kernel_born(kernel, 2, 1, "service"), second;

	run(0);
	fake_kernel_died(kernel, first, now);
	second = fake_kernel_born(kernel, 3, 1, "service");
	sample(second, 0);
	run(1);
	cr_expect_eq(totals_find(totals, "/service")->id, 3);
	sample(first, 0);
	run(1);
	cr_expect_eq(total("/service", LOADS), 2);
	cr_expect_eq(totals_find(totals, "/service")->id, 3);
}

static u64 clock_ns;

static u64 now_by_clock(void)
{
	return clock_ns;
}

/* A collection may take long or be delayed. A slot rests from the time when it was retired. */
Test(collect, the_grace_period_starts_when_the_slot_is_retired)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");

	collect->settings.clock_ns = now_by_clock;
	run(0);
	fake_kernel_died(kernel, slot, now);
	clock_ns = now + GRACE + REST - 1;
	run(GRACE);
	cr_assert_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	run(REST);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	run(REST - 2);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	run(1);
	expect_free(slot);
}

/* If the kernel refuses a step, the next collection takes it, and nothing is counted twice. */
Test(collect, a_step_that_the_kernel_refuses_is_retried)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");

	sample(slot, 0);
	run(0);
	fake_kernel_died(kernel, slot, now);
	run(1);
	fake_kernel_refuse(kernel, 1);
	run(GRACE);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_DEAD);
	run(1);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	fake_kernel_refuse(kernel, 1);
	run(REST);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	cr_expect_eq(total("/a", LOADS), 1);
	run(1);
	expect_free(slot);
	cr_expect_eq(total("/a", LOADS), 1);
}

Test(collect, wrapped_32_bit_counters_are_read_right)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");
	struct latency_record *record = fake_kernel_record(kernel, LOADS, 0, slot);

	record->without_latency[SOURCE_L1] = 0xfffffff0;
	fake_kernel_set_dirty(kernel, LOADS, 0, slot);
	run(0);
	record->without_latency[SOURCE_L1] += 0x20;
	fake_kernel_set_dirty(kernel, LOADS, 0, slot);
	run(1);
	cr_expect_eq(delta("/a", LOADS), 0x20);
	cr_expect_eq(total("/a", LOADS), 0x100000010);
	fake_kernel_died(kernel, slot, now);
	run(GRACE);
	run(REST);
	expect_free(slot);
	cr_expect_eq(total("/a", LOADS), 0x100000010, "also when the slot is gone");
}

Test(collect, the_last_collection_reads_clean_records_too)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");

	(void)fake_kernel_born(kernel, 3, 1, "idle");
	sample(slot, 0);
	run(0);
	fake_kernel_record(kernel, LOADS, 2, slot)->without_latency[SOURCE_L1] = 3;
	fake_kernel_record(kernel, LOADS, 0, slot)->without_latency[SOURCE_L1] = 4;
	run(1);
	cr_expect_eq(total("/a", LOADS), 1);
	cr_assert_eq(collect_last(collect, ++now), 0);
	cr_expect_eq(delta("/a", LOADS), 7);
	cr_expect_eq(total("/a", LOADS), 8);
	cr_expect_null(totals_find(totals, "/idle"));
}

/*
 * Slots are reclaimed between collections. Dead slots then get a shorter grace, even if no collection has
 * seen them yet. The next collection reports their samples.
 */
Test(collect, slots_are_reclaimed_between_collections)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "seen"), unseen;
	u64 again_ns;

	sample(slot, 0);
	run(0);
	unseen = fake_kernel_born(kernel, 3, 1, "unseen");
	sample(slot, 0);
	sample(unseen, 0);
	fake_kernel_died(kernel, slot, now);
	fake_kernel_died(kernel, unseen, now + 1);
	now += 2;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_expect_eq(again_ns, START + COLLECT_SHORT_GRACE_NS);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_DEAD);
	now = START + COLLECT_SHORT_GRACE_NS + 1;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_expect_eq(again_ns, now + REST);
	cr_expect_eq(kernel_owner(kernel, unseen)->state, SLOT_RETIRED);
	sample(unseen, 3);
	now = again_ns;
	cr_expect_eq(delta("/seen", LOADS), 1, "the present deltas stand");
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_expect_eq(again_ns, 0);
	expect_free(slot);
	expect_free(unseen);
	cr_expect_eq(delta("/seen", LOADS), 1);
	cr_expect_eq(n_deltas(), 1);

	/* Two other cgroups get these slots before the next collection. */
	cr_assert_eq(fake_kernel_born(kernel, 4, 1, "third"), unseen);
	cr_assert_eq(fake_kernel_born(kernel, 5, 1, "seen"), slot);
	sample(slot, 0);
	sample(unseen, 0);
	run(1);
	cr_expect_eq(delta("/seen", LOADS), 2);
	cr_expect_eq(delta("/unseen", LOADS), 2);
	cr_expect_eq(delta("/third", LOADS), 1);
	cr_expect_eq(total("/seen", LOADS), 3);
	cr_expect_eq(total("/unseen", LOADS), 2);
	run(1);
	cr_expect_eq(n_deltas(), 0);
}

Test(collect, a_refused_reclaim_is_retried_shortly_after)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");
	u64 again_ns;

	fake_kernel_died(kernel, slot, now);
	fake_kernel_refuse(kernel, 1);
	now += COLLECT_SHORT_GRACE_NS;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_expect_gt(again_ns, now);
	cr_expect_leq(again_ns, now + COLLECT_SHORT_GRACE_NS);
	now = again_ns;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_expect_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
}

/*
 * The entry of a reclaimed slot is in the next deltas. It must not be folded before the next collection
 * reports them.
 */
Test(collect, entries_in_deltas_are_not_folded)
{
	u32 slot = fake_kernel_born(kernel, 2, 1, "a");
	u64 again_ns;

	sample(slot, 0);
	fake_kernel_died(kernel, slot, now);
	now += COLLECT_SHORT_GRACE_NS;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	now = again_ns;
	cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
	cr_assert_eq(totals_fold(totals, now + 1, 0), 0);
	run(1);
	cr_assert_eq(totals_fold(totals, now + 1, 0), 0);
	cr_expect_eq(delta("/a", LOADS), 1);
	for (int i = 0; i < 2; i++)
		run(1);
	cr_assert_eq(totals_fold(totals, now + 1, 0), 0);
	cr_expect_null(totals_find(totals, "/a"));
}

static u64 n_of(u64 n, const char *format, unsigned event)
{
	u64 sum = 0;
	char path[32];

	for (u64 i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), format, (unsigned)i);
		sum += total(path, event);
	}
	return sum;
}

/* Any allocation may fail, in any step: the next collections report every sample exactly once. */
Test(collect, without_memory_nothing_is_lost)
{
	bool failed = true;
	u64 gained = 0;

	close_slots();
	for (size_t after = 0; failed; after++) {
		u32 slots[8];
		u64 sum = 0;

		open_slots(SLOTS, STRIPES);
		(void)fake_kernel_born(kernel, 1, 0, "");
		scarce_memory_after(after);
		for (int step = 0; step < 6; step++) {
			for (unsigned i = 0; step == 0 && i < 8; i++) {
				char name[] = {'c', (char)('0' + i), 0};

				slots[i] = fake_kernel_born(kernel, 2 + i, 1, name);
			}
			for (unsigned i = 0; step < 3 && i < 8; i++) {
				fake_kernel_count(kernel, slots[i], LOADS, i % STRIPES, (unsigned)step,
						  10U << 3 * step, 100);
				fake_kernel_count(kernel, slots[i], STORES, i % STRIPES, (unsigned)step, 0,
						  100);
			}
			for (unsigned i = 0; step == 2 && i < 4; i++)
				fake_kernel_died(kernel, slots[i], now);
			now += step < 3 ? 1 : GRACE;
			(void)collect_run(collect, now);
			for (unsigned i = 0; i < 8; i++) {
				char path[] = {'/', 'c', (char)('0' + i), 0};

				gained += delta(path, LOADS) + delta(path, STORES);
			}
		}
		failed = scarce_memory_end();
		for (int i = 0; i < 3; i++) {
			run(GRACE);
			for (unsigned j = 0; j < 8; j++) {
				char path[] = {'/', 'c', (char)('0' + j), 0};

				gained += delta(path, LOADS) + delta(path, STORES);
			}
		}
		cr_expect_eq(gained, 48, "%llu after %zu", (unsigned long long)gained, after);
		gained = 0;
		sum = n_of(8, "/c%u", LOADS) + n_of(8, "/c%u", STORES);
		cr_expect_eq(sum, 48, "%llu after %zu", (unsigned long long)sum, after);
		for (unsigned i = 0; i < 4; i++)
			expect_free(slots[i]);
		cr_expect_eq(collect_cgroups_alive(collect), 5);
		cr_expect_eq(collect_slots_free(collect), SLOTS - 6);
		cr_assert_lt(after, 1000);
		close_slots();
	}
	open_slots(SLOTS, STRIPES);
}

/*
 * The counts of one event are added to the path, and memory is short for those of the next event. The last
 * collection reads clean records, too: it must not read the records of the first event again.
 */
Test(collect, last_collection_counts_once_after_a_slot_was_left_in_part)
{
	bool failed = true;

	close_slots();
	for (size_t after = 0; failed; after++) {
		u64 gained = 0;
		u32 slot;

		open_slots(SLOTS, STRIPES);
		(void)fake_kernel_born(kernel, 1, 0, "");
		slot = fake_kernel_born(kernel, 2, 1, "c");
		sample(slot, 0);
		fake_kernel_count(kernel, slot, STORES, 1, SOURCE_L1, 0, 100);
		run(1);
		fake_kernel_died(kernel, slot, now);
		run(GRACE);
		scarce_memory_after(after);
		now += REST;
		(void)collect_run(collect, now);
		failed = scarce_memory_end();
		gained += delta("/c", LOADS) + delta("/c", STORES);
		cr_assert_eq(collect_last(collect, ++now), 0);
		gained += delta("/c", LOADS) + delta("/c", STORES);
		cr_expect_eq(gained, 0, "%llu after %zu", (unsigned long long)gained, after);
		cr_expect_eq(total("/c", LOADS), 1, "after %zu", after);
		cr_expect_eq(total("/c", STORES), 1, "after %zu", after);
		cr_assert_lt(after, 100);
		close_slots();
	}
	open_slots(SLOTS, STRIPES);
}

static int save(struct state *saved)
{
	collect_save(collect);
	return state_commit(saved);
}

/* Kills the process, and begins the next one with what was committed. */
static struct state *kill_process(struct state *saved)
{
	struct state *inherited;
	const char *wrong;

	close_collection();
	cr_assert_eq(state_inherit(state_fd(saved), STATE_RECORDS, &inherited, &wrong), 0);
	state_free(saved);
	open_collection(inherited);
	cr_assert_eq(collect_restore(collect, true, now), 0);
	state_take(inherited, state_find(inherited, STATE_HEAD, 0), &(struct state_ref){0});
	state_settle(inherited);
	return inherited;
}

/*
 * The same after a restart, whose first collection reads all records. If the state itself lacked memory, the next
 * process does not use it.
 */
Test(collect, restart_counts_once_after_a_slot_was_left_in_part)
{
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		struct state_ref head = {0};
		struct state *saved, *inherited;
		u32 slot;

		close_slots();
		open_slots(SLOTS, STRIPES);
		close_collection();
		cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
		state_put(saved, &head, STATE_HEAD, 0, "", 0);
		open_collection(saved);
		(void)fake_kernel_born(kernel, 1, 0, "");
		slot = fake_kernel_born(kernel, 2, 1, "c");
		sample(slot, 0);
		fake_kernel_count(kernel, slot, STORES, 1, SOURCE_L1, 0, 100);
		run(1);
		cr_assert_eq(save(saved), 0);
		fake_kernel_died(kernel, slot, now);
		run(GRACE);
		cr_assert_eq(save(saved), 0);
		scarce_memory_after(after);
		now += REST;
		(void)collect_run(collect, now);
		failed = scarce_memory_end();
		if (save(saved) < 0) {
			state_free(saved);
			continue;
		}
		inherited = kill_process(saved);
		for (int i = 0; i < 3; i++) {
			run(REST);
			cr_expect_eq(delta("/c", LOADS) + delta("/c", STORES), 0, "after %zu", after);
			cr_assert_eq(save(inherited), 0);
		}
		cr_expect_eq(total("/c", LOADS), 1, "after %zu", after);
		cr_expect_eq(total("/c", STORES), 1, "after %zu", after);
		expect_free(slot);
		cr_assert_lt(after, 100);
		state_free(inherited);
	}
	close_slots();
	open_slots(SLOTS, STRIPES);
}

/*
 * The previous process took the dirty byte of a record and was killed before it read the record. If memory is short
 * when the next process notices the slot's owner, a later collection still reads the record.
 */
Test(collect, restart_without_memory_reads_clean_records_later)
{
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		struct state_ref head = {0};
		struct state *saved, *inherited;
		u32 slot;

		close_slots();
		open_slots(SLOTS, STRIPES);
		cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
		state_put(saved, &head, STATE_HEAD, 0, "", 0);
		cr_assert_eq(state_commit(saved), 0);
		(void)fake_kernel_born(kernel, 1, 0, "");
		slot = fake_kernel_born(kernel, 2, 1, "c");
		sample(slot, 0);
		cr_assert_eq(dirty_take_one(&kernel_dirty(kernel, LOADS, 0)[slot]), 1);
		inherited = kill_process(saved);
		scarce_memory_after(after);
		(void)collect_run(collect, ++now);
		failed = scarce_memory_end();
		run(1);
		cr_expect_eq(total("/c", LOADS), 1, "after %zu", after);
		cr_assert_lt(after, 100);
		close_collection();
		state_free(inherited);
		open_collection(NULL);
	}
}

static bool is_not_root(const char *path, void *userdata)
{
	(void)userdata;
	return strcmp(path, "/") != 0;
}

static bool has_hot(const char *path)
{
	struct hot_choice choice;

	return hot_choices_find(collect_hot(collect), path, &choice);
}

/* The birth of another cgroup finds that both tables have rested, and takes only one of them. */
Test(collect, a_hot_table_that_a_birth_leaves_is_for_waiting_cgroups)
{
	u32 a = fake_kernel_born(kernel, 2, 1, "a"), b = fake_kernel_born(kernel, 3, 1, "b");

	collect_set_hot(collect, is_not_root, NULL);
	run(1);
	(void)fake_kernel_born(kernel, 4, 1, "c");
	run(1);
	cr_expect(has_hot("/a"));
	cr_expect(has_hot("/b"));
	cr_expect(!has_hot("/c"), "%u are all", HOT_CGROUPS);
	fake_kernel_died(kernel, a, now);
	fake_kernel_died(kernel, b, now);
	run(GRACE);
	(void)fake_kernel_born(kernel, 5, 1, "d");
	run(REST);
	cr_expect(has_hot("/d"));
	cr_expect(has_hot("/c"));
}

Test(collect, configured_cgroups_have_hot_tables_after_a_restart)
{
	struct state_ref head = {0};
	struct state *saved, *inherited;
	const char *wrong;

	close_collection();
	hot = is_not_root;
	cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
	state_put(saved, &head, STATE_HEAD, 0, "", 0);
	open_collection(saved);
	sample(fake_kernel_born(kernel, 2, 1, "a"), 0);
	run(1);
	cr_expect(has_hot("/a"));
	cr_assert_eq(save(saved), 0);
	close_collection();

	cr_assert_eq(state_inherit(state_fd(saved), STATE_RECORDS, &inherited, &wrong), 0);
	state_free(saved);
	open_collection(inherited);
	cr_assert_eq(collect_restore(collect, true, now), 0);
	run(1);
	cr_expect(has_hot("/a"));
	close_collection();
	state_free(inherited);
	open_collection(NULL);
}

/*
 * The maps of the previous process do not fit. A cgroup whose path had an older life, and which has had no sample since
 * it was created again, is not folded: it lived until the restart.
 */
Test(collect, restart_with_new_maps_keeps_paths_of_live_cgroups)
{
	struct state_ref head = {0};
	struct state *saved, *inherited;
	const char *wrong;
	u32 slot;

	close_collection();
	cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
	state_put(saved, &head, STATE_HEAD, 0, "", 0);
	open_collection(saved);
	slot = fake_kernel_born(kernel, 2, 1, "a");
	sample(slot, 0);
	run(1);
	fake_kernel_died(kernel, slot, now);
	for (int i = 0; i < 4; i++)
		run(GRACE);
	cr_assert_eq(kernel_owner(kernel, slot)->state, SLOT_FREE);
	(void)fake_kernel_born(kernel, 3, 1, "a");
	run(100 * NSEC_PER_SEC);
	/* The counts of a slot were added to its path, among them those of a stripe that the new maps lack. */
	slot = fake_kernel_born(kernel, 4, 1, "b");
	sample(slot, STRIPES - 1);
	run(1);
	fake_kernel_died(kernel, slot, now);
	run(1);
	run(GRACE);
	run(REST);
	cr_assert_eq(kernel_owner(kernel, slot)->state, SLOT_RETIRED);
	cr_assert_eq(save(saved), 0);
	close_collection();
	kernel_free(kernel);

	cr_assert_eq(state_inherit(state_fd(saved), STATE_RECORDS, &inherited, &wrong), 0);
	state_free(saved);
	kernel = new_kernel(SLOTS, 1);
	open_collection(inherited);
	cr_assert_eq(collect_restore(collect, false, now), 0);
	cr_expect_eq(total("/b", LOADS), 1);
	/* The first collection folds before it notices any slot. */
	cr_assert_eq(totals_fold(totals, now - 50 * NSEC_PER_SEC, 0), 0);
	cr_expect_eq(total("/a", LOADS), 1);
	close_collection();
	state_free(inherited);
	open_collection(NULL);
}

/* Returns the samples in the deltas of the last collection. */
static u64 samples_in_deltas(void)
{
	size_t n;
	const struct delta *list = deltas_list(collect_deltas(collect), &n);
	u64 samples = 0;

	for (size_t i = 0; i < n; i++)
		samples += packed_samples(list[i].packed, list[i].size);
	return samples;
}

static u64 samples_of(const struct totals_entry *entry)
{
	struct counters counters;
	u64 samples = 0;

	for (unsigned event = 0; event < EVENTS; event++) {
		totals_counters(entry, event, &counters);
		samples += counters_samples(&counters);
	}
	return samples;
}

static u64 samples_in_totals(void)
{
	u64 samples = samples_of(totals_other(totals)) + samples_of(totals_unattributed(totals));
	size_t n;
	struct totals_entry *const *entries = totals_entries(totals, &n);

	for (size_t i = 0; i < n; i++)
		samples += samples_of(entries[i]);
	return samples;
}

/* A birth, a sample or a death, in any slot. Returns the number of samples that were added. */
static u64 change_a_slot(u64 *next_id)
{
	u32 slot = (u32)(2 + random_below(SLOTS - 2)), is = kernel_owner(kernel, slot)->state;
	u64 draw = random_below(17);
	char name[32];

	if (draw < 3) {
		(void)snprintf(name, sizeof(name), "c%llu", (unsigned long long)(*next_id % 97));
		*next_id += fake_kernel_born(kernel, *next_id, 1, name) > 0;
	} else if (draw < 14 && (is == SLOT_ALIVE || is == SLOT_DEAD)) {
		fake_kernel_count(kernel, slot, (unsigned)random_below(EVENTS), (u32)random_below(STRIPES),
				  (unsigned)random_below(9), (u32)random_below(500), 100);
		return 1;
	} else if (draw >= 14 && is == SLOT_ALIVE) {
		fake_kernel_died(kernel, slot, now);
	}
	return 0;
}

/*
 * A process may be killed before or after it commits what a collection or a reclaim changed. Each sample is in the
 * totals once, and in the deltas of the committed collections once.
 */
Test(collect, kills_lose_no_sample_and_double_none)
{
	struct state_ref head = {0};
	struct state *saved;
	u64 next_id = 2, samples = 0, committed = 0;

	close_collection();
	cr_assert_eq(state_new(STATE_RECORDS, &saved), 0);
	state_put(saved, &head, STATE_HEAD, 0, "", 0);
	cr_assert_eq(state_commit(saved), 0);
	open_collection(saved);
	for (unsigned step = 0; step < 20000; step++) {
		u64 draw = random_below(100), collected = 0, again_ns;

		if (draw < 85) {
			samples += change_a_slot(&next_id);
			continue;
		}
		if (draw < 90) {
			now += random_below(200 * NSEC_PER_MSEC);
			cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
		} else {
			cr_assert_eq(totals_fold(totals, now - 5 * NSEC_PER_SEC, 60), 0);
			run(random_below(3 * NSEC_PER_SEC));
			collected = samples_in_deltas();
		}
		if (draw % 4 == 0) {
			saved = kill_process(saved);
			continue;
		}
		cr_assert_eq(save(saved), 0);
		committed += collected;
		if (draw % 4 == 1)
			saved = kill_process(saved);
	}
	for (int i = 0; i < 4; i++) {
		run(GRACE);
		committed += samples_in_deltas();
		cr_assert_eq(save(saved), 0);
	}
	cr_expect_gt(samples, 5000);
	cr_expect_eq(samples_in_totals(), samples);
	cr_expect_eq(committed, samples);
	close_collection();
	state_free(saved);
	open_collection(NULL);
}

/*
 * Random births, samples on any stripe, deaths and reclaims. Each sample must be counted for its own cgroup.
 */
Test(collect, churn_does_not_mix_cgroups)
{
	enum { CGROUPS = 3000 };
	static u64 expected[CGROUPS];
	u32 living[64];
	unsigned ids[64], n = 0, next = 0;
	u64 seen = 0;

	while (next < CGROUPS || n > 0) {
		u64 draw = random_below(100);

		if (draw < 20 && n < 64 && next < CGROUPS) {
			char name[32];

			(void)snprintf(name, sizeof(name), "c%u", next);
			living[n] = fake_kernel_born(kernel, 2 + next, 1, name);
			if (living[n])
				ids[n++] = next++;
		} else if (draw < 75 && n > 0) {
			u64 i = random_below(n);

			fake_kernel_count(kernel, living[i], (unsigned)random_below(EVENTS),
					  (u32)random_below(STRIPES), (unsigned)random_below(9),
					  (u32)random_below(500), 100);
			expected[ids[i]]++;
		} else if (draw < 92 && n > 0) {
			u64 i = random_below(n);

			fake_kernel_died(kernel, living[i], now);
			living[i] = living[--n];
			ids[i] = ids[n];
		} else if (draw < 95) {
			u64 again_ns;

			now += random_below(200 * NSEC_PER_MSEC);
			cr_assert_eq(collect_reclaim_now(collect, now, &again_ns), 0);
		} else {
			run(random_below(3 * NSEC_PER_SEC));
			seen += samples_in_deltas();
		}
	}
	for (int i = 0; i < 4; i++) {
		run(GRACE);
		seen += samples_in_deltas();
	}
	for (unsigned i = 0; i < CGROUPS; i++) {
		char path[32];
		u64 sum;

		(void)snprintf(path, sizeof(path), "/c%u", i);
		sum = total(path, LOADS) + total(path, STORES);
		cr_expect_eq(sum, expected[i], "%s: %llu", path, (unsigned long long)sum);
		seen -= expected[i];
	}
	cr_expect_eq(seen, 0, "deltas come to the totals");
	cr_expect_eq(collect_slots_free(collect), SLOTS - 2);
	cr_expect_eq(names_count(names), 1);
}

/*
 * 12,000 cgroups are created, have one sample each, and are removed. Folding their entries frees their
 * memory: the last 10,000 must add at most 10 % to the memory in use after the first 2,000. That is 4 to 9 bytes for
 * each, of some 400. 7 to 11 KB were seen, while the memory in use depends on the machine (450 or 920 KB).
 */
Test(collect, memory_returns_to_its_first_size)
{
	size_t before = 0, after = 0;

	close_slots();
	open_slots(2048, 1);
	(void)fake_kernel_born(kernel, 1, 0, "");
	for (unsigned round = 0; round < 12; round++) {
		u32 slots[1000];

		for (unsigned i = 0; i < 1000; i++) {
			char name[64];

			(void)snprintf(name, sizeof(name), "a-service-with-a-long-name-%u-%u", round, i);
			slots[i] = fake_kernel_born(kernel, 2 + 1000 * round + i, 1, name);
			cr_assert_neq(slots[i], 0);
			sample(slots[i], 0);
		}
		run(1);
		for (unsigned i = 0; i < 1000; i++)
			fake_kernel_died(kernel, slots[i], now);
		run(GRACE);
		run(REST);
		for (unsigned i = 0; i < 4; i++)
			run(1);
		cr_assert_eq(totals_fold(totals, now, 0), 0);
		if (round == 1)
			before = heap_bytes();
	}
	after = heap_bytes();
	cr_expect_leq(after, before + before / 10, "%zu bytes, then %zu", before, after);
	close_slots();
	setup();
}
