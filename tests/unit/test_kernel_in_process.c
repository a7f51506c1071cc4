// SPDX-License-Identifier: GPL-2.0
/* Samples are accounted in this process, without BPF and without privileges. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "account.h"
#include "counting.h"
#include "random_numbers.h"
#include "some_stripes.h"

#define MEMORY_FIELDS (SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS)

static struct counting counting;

static struct kernel_settings own_settings(void)
{
	struct kernel_settings settings = counting_settings(true);

	settings.account = KERNEL_ACCOUNT_IN_PROCESS;
	settings.stripes = one_stripe();
	settings.slots = 4;
	settings.hot_max = 2;
	settings.n_events = 3;
	settings.events[0].has_address = settings.events[0].has_code_address = 1;
	settings.events[1] = (struct event_settings){.has_source = 1};
	settings.events[2] = (struct event_settings){};
	return settings;
}

static void setup(void)
{
	const struct kernel_settings settings = own_settings();

	counting_open(&counting, &settings, COLLECT_GRACE_NS);
}

static void teardown(void)
{
	counting_close(&counting);
}

static u32 adopt(u64 id, const char *path)
{
	int slot = kernel_adopt(counting.kernel, id, 0, path);

	cr_assert_eq(names_add_path(counting.names, id, path), 0);
	cr_assert_gt(slot, 0);
	return (u32)slot;
}

TestSuite(kernel_in_process, .init = setup, .fini = teardown);

Test(kernel_in_process, records_equal_those_of_the_accounting_function)
{
	struct latency_record latency = {0};
	struct plain_record plain = {0}, count = {0};
	const u32 slot = adopt(7, "seven");
	u64 state = 1;

	for (unsigned i = 0; i < 3000; i++) {
		struct sample sample;

		(void)xorshift(&state);
		sample = (struct sample){
			.cgroup_id = 7,
			.latency = state % (1U << 21) + 1,
			.instruction_latency = (u32)(state >> 21) & 0xffff,
			.data_source = state,
			.period = state >> 50,
			.event = (u16)(i % 3),
			.fields = (u16)(state >> 60) & 0xf,
		};
		if (sample.event == 0)
			account_latency(&latency, &sample, false);
		else if (sample.event == 1)
			account_plain(&plain, &sample, false);
		else
			account_count(&count, &sample, false);
		cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	}
	cr_expect(kernel_in_process(counting.kernel));
	cr_expect_eq(memcmp(&latency, kernel_latency_record(counting.kernel, 0, 0, slot), sizeof(latency)),
		     0);
	cr_expect_eq(memcmp(&plain, kernel_plain_record(counting.kernel, 1, 0, slot), sizeof(plain)), 0);
	cr_expect_eq(memcmp(&count, kernel_plain_record(counting.kernel, 2, 0, slot), sizeof(count)), 0);
}

Test(kernel_in_process, the_collector_reads_records_and_losses)
{
	const struct sample samples[] = {
		{.cgroup_id = 7, .latency = 100, .period = 1, .fields = MEMORY_FIELDS},
		{.cgroup_id = 8, .latency = 100, .period = 1, .fields = MEMORY_FIELDS}, /* no slot */
		{.cgroup_id = 7, .latency = SAMPLE_LATENCY_MAX + 1, .period = 1, .fields = MEMORY_FIELDS},
		{.cgroup_id = 7, .period = 1, .event = 3}, /* no such event */
		{.cgroup_id = 7, .period = 1, .event = 2},
	};

	(void)adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, samples, ARRAY_SIZE(samples)), 0);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", 0), 1);
	cr_expect_eq(counting_samples(&counting, "seven", 2), 1);
	cr_expect_eq(counting_unattributed(&counting, 0), 1);
	cr_expect_eq(counting_rejected(&counting, 0).malformed, 2);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", 0), 1);
}

Test(kernel_in_process, a_slot_is_reused_as_in_the_kernel)
{
	const u32 slot = adopt(7, "seven");
	const struct slot_owner *owner = kernel_owner(counting.kernel, slot);
	const u32 generation = owner->generation;

	cr_expect_eq(kernel_adopt(counting.kernel, 7, 0, "again"), (int)slot);
	(void)adopt(8, "eight");
	(void)adopt(9, "nine");
	cr_expect_eq(kernel_slots_free(counting.kernel), 0);
	cr_expect_eq(kernel_adopt(counting.kernel, 10, 0, "ten"), -ENOSPC);

	cr_expect_eq(kernel_retire(counting.kernel, slot, generation), -ESTALE);
	cr_expect_eq(kernel_mark_dead(counting.kernel, 10), -ENOENT);
	cr_expect_eq(kernel_mark_dead(counting.kernel, 7), 0);
	cr_expect_eq(owner->state, SLOT_DEAD);
	cr_expect_gt(owner->died_ns, 0);
	cr_expect_eq(kernel_mark_dead(counting.kernel, 7), -ENOENT);
	cr_expect_eq(kernel_retire(counting.kernel, slot, generation), 0);
	cr_expect_eq(kernel_release(counting.kernel, slot, generation), 0);
	cr_expect_eq(kernel_release(counting.kernel, slot, generation), -ESTALE);
	cr_expect_eq(kernel_slots_free(counting.kernel), 1);
	cr_expect_eq(kernel_adopt(counting.kernel, 10, 9, "ten"), (int)slot);
	cr_expect_eq(owner->generation, generation + 2);
	cr_expect_eq(owner->parent_id, 9);
	cr_expect_str_eq(owner->name, "ten");
	cr_expect_eq(kernel_retire(counting.kernel, 4, 0), -EINVAL);
}

Test(kernel_in_process, a_retired_slot_takes_no_samples)
{
	const struct sample sample = {.cgroup_id = 7, .latency = 5, .period = 1, .fields = SAMPLE_LATENCY};
	const u32 slot = adopt(7, "seven");

	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_assert_eq(kernel_mark_dead(counting.kernel, 7), 0);
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_assert_eq(kernel_retire(counting.kernel, slot, kernel_owner(counting.kernel, slot)->generation),
		     0);
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_expect_eq(kernel_latency_record(counting.kernel, 0, 0, slot)->latency[histogram_fine_index(5)], 2);
	cr_expect_eq(kernel_latency_record(counting.kernel, 0, 0, SLOT_UNATTRIBUTED)
			     ->latency[histogram_fine_index(5)],
		     1);
}

Test(kernel_in_process, hot_tables_have_the_places_of_a_chosen_cgroup)
{
	const struct sample sample = {.cgroup_id = 7,
				      .latency = 50,
				      .data_source = (u64)SNOOP_BIT_HITM << 19,
				      .address = 0x1234,
				      .code_address = 0x400,
				      .period = 1,
				      .fields = MEMORY_FIELDS};
	const u32 slot = adopt(7, "seven");
	const struct hot_table *table;
	const struct hot_set *set;
	u64 hash;

	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_expect_null(kernel_hot_table(counting.kernel, 1, 0, 0));
	cr_assert_eq(kernel_hot_choose(counting.kernel, slot, 1), 0);
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	table = kernel_hot_table(counting.kernel, 1, 0, 0);
	cr_assert_not_null(table);
	hash = hot_hash(hot_code_item(0x400), kernel_hot_seed(counting.kernel));
	set = &table->kinds[HOT_CODE].sets[HOT_HASH_SET(hash)];
	cr_expect_eq(set->counters[0].item, hot_code_item(0x400));
	cr_expect_eq(set->counters[0].samples, 1);
	cr_expect_eq(set->weight, 50);
	hash = hot_hash(hot_line_item(0x1234), kernel_hot_seed(counting.kernel));
	set = &table->kinds[HOT_LINES].sets[HOT_HASH_SET(hash)];
	cr_expect_eq(set->counters[0].item, hot_line_item(0x1234));
	kernel_hot_release(counting.kernel, slot);
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_expect_eq(set->samples, 1);
	kernel_hot_clear(counting.kernel, 1);
	cr_expect_eq(set->samples, 0);
}

Test(kernel_in_process_opening, growing_slots_moves_no_record, .fini = teardown)
{
	const struct sample sample = {.cgroup_id = 7, .latency = 5, .period = 1, .fields = SAMPLE_LATENCY};
	struct kernel_settings settings = own_settings();
	u32 slot;

	settings.slots = SLOT_BLOCK;
	settings.memory_max = 64ULL << 20;
	counting_open(&counting, &settings, COLLECT_GRACE_NS);
	cr_expect_eq(kernel_slots(counting.kernel), SLOT_BLOCK);
	slot = adopt(7, "seven");
	cr_assert_eq(kernel_inject(counting.kernel, &sample, 1), 0);
	cr_assert_eq(kernel_grow(counting.kernel, SLOT_BLOCK + 1), SLOT_BLOCK);
	for (u64 id = 100; id < 100 + SLOT_BLOCK; id++)
		cr_assert_gt(kernel_adopt(counting.kernel, id, 0, "more"), 0);
	cr_expect_eq(kernel_adopt(counting.kernel, 7, 0, "seven"), (int)slot);
	counting_collect(&counting);
	cr_expect_eq(counting_samples(&counting, "seven", 0), 1);
}

Test(kernel_in_process_opening, without_bpf_this_machine_is_not_measured)
{
	struct kernel_settings settings = own_settings();
	struct kernel *kernel = NULL;
	char *message = NULL;

	settings.births = true;
	cr_expect_eq(kernel_open(&settings, &kernel, &message), -EINVAL);
	settings.births = false;
	settings.hardware = true;
	cr_expect_eq(kernel_open(&settings, &kernel, &message), -EINVAL);
	cr_expect_null(kernel);
}
