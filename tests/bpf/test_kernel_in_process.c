// SPDX-License-Identifier: GPL-2.0
/*
 * Samples are accounted by the BPF programs and in the process, side by side: both have the same bytes in their
 * records, owners, dirty bytes and losses. This is tested with random samples and with those of the model.
 */
#include <criterion/criterion.h>

#include <string.h>

#include "counting.h"
#include "random_numbers.h"
#include "sampling/model_setup.h"
#include "some_stripes.h"

#define SLOTS   8
#define CGROUPS 10
#define SAMPLES 20000
#define EVENTS  5 /* as many as the model has */

static struct kernel *opened(enum kernel_account account)
{
	struct kernel_settings settings = counting_settings(true);
	struct kernel *kernel = NULL;
	char *message = NULL;

	settings.account = account;
	settings.stripes = one_stripe();
	settings.slots = SLOTS;
	settings.n_events = EVENTS;
	settings.hot_max = 1;
	settings.events[0].has_address = settings.events[0].has_code_address = 1;
	settings.events[0].operations = 2;
	settings.events[1] = (struct event_settings){.has_source = 1};
	for (unsigned event = 2; event < EVENTS; event++)
		settings.events[event] = (struct event_settings){};
	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message ? message : "");
	return kernel;
}

/* Some samples are malformed, filtered, or of a cgroup without a slot. */
static void inject(struct kernel *kernel, u64 state)
{
	static struct sample samples[SAMPLES];

	for (unsigned i = 0; i < SAMPLES; i++) {
		(void)xorshift(&state);
		samples[i] = (struct sample){
			.cgroup_id = 100 + state % (CGROUPS + 2),
			.latency = state % 64 ? state % (1U << 21) + 1 : SAMPLE_LATENCY_MAX + 1,
			.instruction_latency = (u32)(state >> 21) & 0xffff,
			.data_source = state,
			.address = state >> 40,
			.code_address = state >> 58,
			.period = state >> 50,
			.event = (u16)(i % EVENTS),
			.fields = (u16)(state >> 59),
		};
	}
	cr_assert_eq(kernel_inject(kernel, samples, SAMPLES), 0);
}

/* The same steps on either: adopts more cgroups than slots, gives one back, and adopts another. */
static void run(struct kernel *kernel)
{
	u32 slot, generation;

	for (u64 id = 100; id < 100 + CGROUPS; id++)
		(void)kernel_adopt(kernel, id, id - 1, "some");
	slot = (u32)kernel_adopt(kernel, 103, 0, "some");
	cr_assert_eq(kernel_hot_choose(kernel, slot, 0), 0);
	inject(kernel, 1);
	generation = kernel_owner(kernel, slot)->generation;
	cr_assert_eq(kernel_mark_dead(kernel, 103), 0);
	cr_assert_eq(kernel_retire(kernel, slot, generation), 0);
	inject(kernel, 2);
	cr_assert_eq(kernel_release(kernel, slot, generation), 0);
	(void)kernel_adopt(kernel, 109, 108, "other");
	inject(kernel, 3);
}

static void expect_same_owner(const struct kernel *bpf, const struct kernel *own, u32 slot)
{
	struct slot_owner a = *kernel_owner(bpf, slot), b = *kernel_owner(own, slot);

	cr_expect_eq(a.died_ns == 0, b.died_ns == 0);
	a.died_ns = b.died_ns = 0;
	cr_expect_eq(memcmp(&a, &b, sizeof(a)), 0, "the owner of slot %u", slot);
}

static u64 hot_sum(const struct kernel *kernel, unsigned event, enum hot_kind kind)
{
	const struct hot_sets *sets = &kernel_hot_table(kernel, 0, event, 0)->kinds[kind];
	u64 sum = 0;

	for (unsigned i = 0; i < HOT_SETS; i++)
		sum += sets->sets[i].weight + sets->sets[i].samples;
	return sum;
}

static void expect_same_records(const struct kernel *bpf, const struct kernel *own, u32 slot)
{
	cr_expect_eq(memcmp(kernel_latency_record(bpf, 0, 0, slot), kernel_latency_record(own, 0, 0, slot),
			    sizeof(struct latency_record)),
		     0, "loads of slot %u", slot);
	for (unsigned event = 1; event < EVENTS; event++)
		cr_expect_eq(memcmp(kernel_plain_record(bpf, event, 0, slot),
				    kernel_plain_record(own, event, 0, slot), sizeof(struct plain_record)),
			     0, "event %u of slot %u", event, slot);
}

Test(kernel_in_process_and_bpf, records_of_both_have_the_same_bytes)
{
	struct kernel *bpf = opened(KERNEL_ACCOUNT_EITHER), *own = opened(KERNEL_ACCOUNT_IN_PROCESS);

	cr_assert_not(kernel_in_process(bpf));
	cr_assert(kernel_in_process(own));
	run(bpf);
	run(own);
	for (u32 slot = 0; slot < SLOTS; slot++) {
		expect_same_owner(bpf, own, slot);
		expect_same_records(bpf, own, slot);
	}
	for (unsigned event = 0; event < EVENTS; event++) {
		struct rejected_record a = kernel_rejected(bpf, event, 0), b = kernel_rejected(own, event, 0);

		cr_expect_eq(memcmp(kernel_dirty(bpf, event, 0), kernel_dirty(own, event, 0), SLOTS), 0);
		cr_expect_eq(memcmp(&a, &b, sizeof(a)), 0, "losses of event %u", event);
		for (unsigned kind = 0; kind < HOT_KINDS; kind++)
			cr_expect_eq(hot_sum(bpf, event, kind), hot_sum(own, event, kind),
				     "hot table of event %u", event);
	}
	cr_expect_gt(kernel_rejected(bpf, 0, 0).filtered, 0);
	cr_expect_gt(kernel_rejected(bpf, 1, 0).malformed, 0);
	cr_expect_gt(hot_sum(bpf, 0, HOT_CODE), 0);
	cr_expect_eq(memcmp(kernel_owner_dirty(bpf), kernel_owner_dirty(own), SLOTS), 0);
	cr_expect_eq(kernel_slots_free(bpf), kernel_slots_free(own));
	kernel_free(bpf);
	kernel_free(own);
}

/* Takes a sample of the model for both. */
struct pair {
	struct kernel *bpf, *own;
	u64 samples;
};

static void take(void *userdata, const struct sample *sample)
{
	struct pair *pair = userdata;

	cr_assert_eq(kernel_inject(pair->bpf, sample, 1), 0);
	cr_assert_eq(kernel_inject(pair->own, sample, 1), 0);
	pair->samples++;
}

Test(kernel_in_process_and_bpf, records_of_the_model_have_the_same_bytes)
{
	struct pair pair = {opened(KERNEL_ACCOUNT_EITHER), opened(KERNEL_ACCOUNT_IN_PROCESS), 0};
	struct config *config = NULL;
	struct computer *computer = NULL;
	struct failure failure = {0};

	cr_assert_eq(config_new(&config), 0);
	cr_assert_eq(model_computer(config, &computer, &failure), 0);
	for (size_t core = 0; core < computer_cores(computer) && core < SLOTS - 1; core++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(computer, core, name);

		cr_assert_eq(kernel_adopt(pair.bpf, id, 0, name), kernel_adopt(pair.own, id, 0, name));
	}
	cr_assert_eq(computer_run(computer, NSEC_PER_SEC / 2, take, &pair), 0);
	cr_assert_eq(computer_drain(computer, take, &pair), 0);
	cr_expect_gt(pair.samples, 100);
	for (u32 slot = 0; slot < SLOTS; slot++)
		expect_same_records(pair.bpf, pair.own, slot);
	computer_free(computer);
	config_free(config);
	kernel_free(pair.bpf);
	kernel_free(pair.own);
}
