// SPDX-License-Identifier: GPL-2.0
/* The path of a sample in the running kernel: dirty bytes, cached slots, stripes, times. */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "account.h"
#include "base/monotonic.h"
#include "kernel/kernel.h"
#include "random_numbers.h"
#include "slot_blocks.h"
#include "software_event.h"
#include "some_stripes.h"

#include "made_up_samples.skel.h" /* uses the types above */

#define SLOTS 200
#define PAGE  4096UL

enum { LOADS, STORES, EVENTS };

static const struct kernel_settings ordinary = {
	.slots = SLOTS,
	.n_events = EVENTS,
	.events = {{.has_latency = 1, .has_source = 1, .weight_struct = 1}, {.has_source = 1}},
};

static struct kernel *kernel;

static void open_kernel(const struct kernel_settings *settings, const struct stripes *stripes)
{
	struct kernel_settings with = *settings;
	_cleanup_free_ char *message = NULL;
	int r;

	with.stripes = stripes;
	r = kernel_open(&with, &kernel, &message);
	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
}

static void teardown(void)
{
	kernel_free(kernel);
}

TestSuite(sample_path, .fini = teardown);

static void stay_on(size_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static void inject(u64 cgroup_id, u16 event)
{
	const struct sample sample = {
		.cgroup_id = cgroup_id, .event = event, .latency = 9, .period = 1, .fields = SAMPLE_LATENCY};

	cr_assert_eq(kernel_inject(kernel, &sample, 1), 0);
}

static u64 loads_of(u32 slot)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++) {
		const struct latency_record *record = kernel_latency_record(kernel, LOADS, stripe, slot);

		for (unsigned i = 0; i < FINE_BUCKETS; i++)
			sum += __atomic_load_n(&record->latency[i], __ATOMIC_RELAXED);
	}
	return sum;
}

static u64 stores_of(u32 slot)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++) {
		const struct plain_record *record = kernel_plain_record(kernel, STORES, stripe, slot);

		for (unsigned i = 0; i < SOURCE_SLOTS; i++)
			sum += __atomic_load_n(&record->samples[i], __ATOMIC_RELAXED);
	}
	return sum;
}

static u32 dirty_set(const u8 *row)
{
	u32 n = 0;

	for (u32 i = 0; i < dirty_row(SLOTS); i++)
		n += row[i] != 0;
	return n;
}

static u32 all_dirty(void)
{
	u32 n = 0;

	for (unsigned event = 0; event < EVENTS; event++)
		for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
			n += dirty_set(kernel_dirty(kernel, event, stripe));
	return n;
}

static u32 adopt(u64 cgroup_id)
{
	int slot = kernel_adopt(kernel, cgroup_id, 0, "adopted");

	cr_assert_gt(slot, 0);
	return (u32)slot;
}

static void let_go(u64 cgroup_id, u32 slot)
{
	cr_assert_eq(kernel_mark_dead(kernel, cgroup_id), 0);
	cr_assert_eq(kernel_retire(kernel, slot, kernel_owner(kernel, slot)->generation), 0);
	cr_assert_eq(kernel_release(kernel, slot, kernel_owner(kernel, slot)->generation), 0);
}

Test(sample_path, a_sample_makes_only_its_record_dirty)
{
	u32 slot, other, stripe;

	stay_on(0);
	open_kernel(&ordinary, machine_stripes());
	stripe = kernel_stripe_of(kernel, 0);
	for (u64 id = 1000; id < 1000 + 80; id++)
		slot = adopt(id);
	other = adopt(7);
	cr_expect_eq(all_dirty(), 0);

	inject(7, STORES);
	cr_expect_eq(kernel_dirty(kernel, STORES, stripe)[other], 1);
	cr_expect_eq(all_dirty(), 1);
	kernel_dirty(kernel, STORES, stripe)[other] = 0;

	inject(1000 + 79, LOADS);
	cr_expect_eq(kernel_dirty(kernel, LOADS, stripe)[slot], 1);
	cr_expect_eq(all_dirty(), 1);
	inject(4444, LOADS);
	cr_expect_eq(kernel_dirty(kernel, LOADS, stripe)[SLOT_UNATTRIBUTED], 1);
	cr_expect_eq(all_dirty(), 2);
}

Test(sample_path, a_slot_that_changes_state_makes_its_owner_dirty)
{
	u8 *owners;
	u32 slot;

	open_kernel(&ordinary, machine_stripes());
	owners = kernel_owner_dirty(kernel);
	cr_expect_eq(dirty_set(owners), 0);
	slot = adopt(7);
	cr_expect_eq(owners[slot], 1);
	cr_expect_eq(dirty_set(owners), 1);
	owners[slot] = 0;
	cr_assert_eq(kernel_mark_dead(kernel, 7), 0);
	cr_expect_eq(owners[slot], 1);
	owners[slot] = 0;
	cr_assert_eq(kernel_retire(kernel, slot, kernel_owner(kernel, slot)->generation), 0);
	cr_expect_eq(owners[slot], 1);
	owners[slot] = 0;
	cr_assert_eq(kernel_release(kernel, slot, kernel_owner(kernel, slot)->generation), 0);
	cr_expect_eq(owners[slot], 1);
	cr_expect_eq(dirty_set(owners), 1);
	cr_expect_eq(all_dirty(), 0);
}

/* Samples of a cgroup cache its slot. The cached slot must not be used once it belongs to another cgroup. */
Test(sample_path, a_cached_slot_is_forgotten_when_it_is_reclaimed)
{
	struct kernel_settings settings = ordinary;
	u32 slot;

	settings.slots = 2;
	open_kernel(&settings, machine_stripes());
	slot = adopt(7);
	inject(7, LOADS);
	inject(7, LOADS);
	cr_expect_eq(loads_of(slot), 2);
	let_go(7, slot);
	inject(7, LOADS);
	cr_expect_eq(loads_of(slot), 2, "who has no slot any more was counted in it");
	cr_expect_eq(loads_of(SLOT_UNATTRIBUTED), 1);
	cr_assert_eq(adopt(8), slot, "there is no other");
	inject(7, LOADS);
	cr_expect_eq(loads_of(slot), 2, "counted in another's slot");
	inject(8, LOADS);
	cr_expect_eq(loads_of(slot), 3);
	cr_expect_eq(loads_of(SLOT_UNATTRIBUTED), 2);
}

/* An adoption is not announced, so a missing slot must be looked up again for each sample. */
Test(sample_path, a_missing_slot_is_not_cached)
{
	u32 slot;

	open_kernel(&ordinary, machine_stripes());
	inject(7, LOADS);
	inject(7, LOADS);
	slot = adopt(7);
	inject(7, LOADS);
	cr_expect_eq(loads_of(SLOT_UNATTRIBUTED), 2);
	cr_expect_eq(loads_of(slot), 1);
	/* A cgroup with the id 0 is looked up again as well. */
	inject(0, LOADS);
	cr_expect_eq(loads_of(SLOT_UNATTRIBUTED), 3);
	slot = adopt(0);
	inject(0, LOADS);
	cr_expect_eq(loads_of(slot), 1);
}

Test(sample_path, a_cleared_slot_starts_at_zero)
{
	static const struct latency_record nothing;
	static const struct plain_record nothing_plain;
	u32 slot, other, stripe;

	stay_on(0);
	open_kernel(&ordinary, machine_stripes());
	stripe = kernel_stripe_of(kernel, 0);
	slot = adopt(7);
	other = adopt(8);
	for (unsigned i = 0; i < 3; i++) {
		inject(7, LOADS);
		inject(7, STORES);
		inject(8, LOADS);
	}
	kernel_clear_records(kernel, slot, LOADS, ~(1U << stripe));
	cr_expect_eq(loads_of(slot), 3, "of other stripes");
	kernel_clear_records(kernel, slot, LOADS, 1U << stripe);
	cr_expect_eq(memcmp(kernel_latency_record(kernel, LOADS, stripe, slot), &nothing, sizeof(nothing)),
		     0);
	cr_expect_eq(stores_of(slot), 3, "of another event");
	cr_expect_eq(loads_of(other), 3, "of another slot");
	kernel_clear_records(kernel, slot, STORES, 1U << stripe);
	cr_expect_eq(memcmp(kernel_plain_record(kernel, STORES, stripe, slot), &nothing_plain,
			    sizeof(nothing_plain)),
		     0);
	inject(7, LOADS);
	cr_expect_eq(loads_of(slot), 1);
}

static void touch_pages(size_t n)
{
	char *pages = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(pages, MAP_FAILED);
	(void)madvise(pages, n * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		*(volatile char *)(pages + i * PAGE) = 1;
	(void)munmap(pages, n * PAGE);
}

static int page_faults(unsigned event)
{
	return software_event_open(
		&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .cpu = -1},
		kernel_program_fd(kernel, event));
}

/*
 * Causes page faults and returns their number. The cgroup of this program has no slot here, so all of them are
 * unattributed.
 */
static u64 count_faults(unsigned event, size_t pages)
{
	int fd = page_faults(event);
	u64 n;

	software_event_enable(fd);
	touch_pages(pages);
	software_event_disable(fd);
	n = software_event_count(fd);
	(void)close(fd);
	return n;
}

Test(sample_path, a_cpu_writes_to_its_stripe_and_times_some_runs)
{
	struct kernel_settings settings = ordinary;
	struct kernel_body_time time;
	u64 n;

	settings.hardware = true;
	settings.timed_log2 = 2;
	stay_on(0);
	open_kernel(&settings, machine_stripes());
	time = kernel_body_time(kernel, 0);
	cr_expect_eq(time.timed, 0);
	cr_expect_eq(time.timed_ns, 0);
	n = count_faults(STORES, 1000);
	cr_expect_eq(stores_of(SLOT_UNATTRIBUTED), n);
	n += count_faults(LOADS, 1000);
	cr_expect_geq(n, 2000);
	time = kernel_body_time(kernel, 0);
	cr_expect_eq(time.timed, n / 4, "one in four of %llu: %llu", (unsigned long long)n,
		     (unsigned long long)time.timed);
	cr_expect_gt(time.timed_ns, 0);
	for (u32 cpu = 1; cpu < 8; cpu++)
		cr_expect_eq(kernel_body_time(kernel, cpu).timed, 0);
	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
		cr_expect_eq(kernel_dirty(kernel, STORES, stripe)[SLOT_UNATTRIBUTED],
			     stripe == kernel_stripe_of(kernel, 0));
}

/* What a sample of a count costs depends on it: two counters, in two cache lines. */
Test(sample_path, a_count_writes_only_samples_and_weight)
{
	struct kernel_settings settings = ordinary;
	struct plain_record expected = {0};
	u64 n;

	settings.hardware = true;
	settings.n_events = 3;
	stay_on(0);
	open_kernel(&settings, machine_stripes());
	n = count_faults(2, 100);
	expected.samples[SOURCE_UNKNOWN] = (u32)n;
	expected.weight[SOURCE_UNKNOWN] = n;
	cr_expect_eq(memcmp(kernel_plain_record(kernel, 2, kernel_stripe_of(kernel, 0), SLOT_UNATTRIBUTED),
			    &expected, sizeof(expected)),
		     0);
}

Test(sample_path, the_empty_program_counts_nothing)
{
	struct kernel_settings settings = ordinary;
	int fd;

	settings.hardware = true;
	open_kernel(&settings, machine_stripes());
	fd = software_event_open(
		&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1, .cpu = -1},
		kernel_empty_program_fd(kernel));
	software_event_enable(fd);
	touch_pages(10);
	software_event_disable(fd);
	cr_expect_geq(software_event_count(fd), 10);
	(void)close(fd);
	cr_expect_eq(all_dirty(), 0);
}

Test(sample_path, without_hardware_there_is_no_empty_program)
{
	open_kernel(&ordinary, machine_stripes());
	cr_expect_eq(kernel_empty_program_fd(kernel), -ENOENT);
}

struct writer {
	size_t cpu;
	size_t steps;
	u64 known; /* samples that the reader has seen so far */
	u64 missed;
	bool done;
};

static u64 known(struct writer *writer)
{
	return __atomic_load_n(&writer->known, __ATOMIC_SEQ_CST);
}

/* Makes one sample at a time, and the next only after the reader has seen it. */
static void *write_samples(void *userdata)
{
	struct writer *writer = userdata;
	u64 deadline;
	int fd;

	stay_on(writer->cpu);
	fd = page_faults(STORES);
	software_event_enable(fd);
	for (size_t i = 0; i < writer->steps && !writer->missed; i++) {
		u64 n;

		touch_pages(1);
		n = software_event_count(fd);
		deadline = monotonic_ns() + 60 * NSEC_PER_SEC;
		while (known(writer) < n && monotonic_ns() < deadline)
			(void)sched_yield();
		writer->missed = n - known(writer);
	}
	software_event_disable(fd);
	(void)close(fd);
	__atomic_store_n(&writer->done, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * While another CPU writes, reads only dirty records, as fast as possible, as the collector does. A dirty byte
 * must be set after the counts that it stands for.
 */
static void dirty_bytes_lose_nothing(const struct stripes *stripes)
{
	struct kernel_settings settings = ordinary;
	struct writer writer = {.cpu = (size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, .steps = 2000};
	pthread_t thread;

	settings.hardware = true;
	stay_on(0);
	open_kernel(&settings, stripes);
	cr_assert_eq(pthread_create(&thread, NULL, write_samples, &writer), 0);
	while (!__atomic_load_n(&writer.done, __ATOMIC_SEQ_CST))
		for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++) {
			u8 *dirty = &kernel_dirty(kernel, STORES, stripe)[SLOT_UNATTRIBUTED];

			if (!__atomic_load_n(dirty, __ATOMIC_RELAXED))
				continue;
			__atomic_store_n(dirty, 0, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			__atomic_store_n(&writer.known, stores_of(SLOT_UNATTRIBUTED), __ATOMIC_SEQ_CST);
		}
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(writer.missed, 0);
}

Test(sample_path, dirty_bytes_miss_nothing_with_a_stripe_per_cpu)
{
	dirty_bytes_lose_nothing(machine_stripes());
}

Test(sample_path, dirty_bytes_miss_nothing_with_shared_stripes)
{
	dirty_bytes_lose_nothing(one_stripe());
}

#define ROWS 256

/* The maps with the records of the only block of slots that these programs count in. */
static int latency_fd, plain_fd;

/* Opens `count_many` of the test object, with a table of samples that no PMU here could give. */
static struct made_up_samples_bpf *open_made_up(bool alone)
{
	struct made_up_samples_bpf *skeleton = made_up_samples_bpf__open();
	u64 state = XORSHIFT_SEED;
	struct bpf_program *program;

	cr_assert_not_null(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, program == skeleton->progs.count_many);
	skeleton->rodata->stripes_alone = alone;
	skeleton->rodata->block_log2 = 1;
	skeleton->rodata->block_mask = 1;
	skeleton->rodata->block_slots = 2;
	skeleton->rodata->cpu_count = (u32)libbpf_num_possible_cpus();
	skeleton->rodata->events[LOADS] = (struct event_settings){
		.has_latency = 1, .has_instruction_latency = 1, .has_source = 1, .weight_struct = 1};
	skeleton->rodata->events[STORES] = (struct event_settings){.has_source = 1};
	decode_tables_fill((struct decode_tables *)&skeleton->rodata->decode_tables);
	latency_fd = slot_block_prepare(skeleton->obj, "latency_blocks", sizeof(struct latency_record), 2);
	plain_fd = slot_block_prepare(skeleton->obj, "plain_blocks", sizeof(struct plain_record), 2);
	cr_assert_eq(bpf_map__set_max_entries(skeleton->maps.dirty, 4), 0);
	cr_assert_eq(bpf_map__set_max_entries(skeleton->maps.cpu_states, skeleton->rodata->cpu_count + 1), 0);
	cr_assert_eq(made_up_samples_bpf__load(skeleton), 0);
	slot_block_enter(skeleton->obj, "latency_blocks", latency_fd);
	slot_block_enter(skeleton->obj, "plain_blocks", plain_fd);
	for (unsigned i = 0; i < ROWS; i++) {
		(void)xorshift(&state);
		skeleton->bss->made_up[i][0] = (state & 0xffff00000000) | state % (1U << (i % 22 + 1));
		skeleton->bss->made_up[i][1] = state * 0x9e3779b97f4a7c15ULL;
	}
	return skeleton;
}

static void run_made_up(struct made_up_samples_bpf *skeleton, u32 event, struct latency_record *ret,
			struct plain_record *ret_plain)
{
	struct inject_request request = {.count = 20 * ROWS, .done = event};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	const u32 none = SLOT_UNATTRIBUTED;

	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.count_many), &options), 0);
	cr_assert_eq(request.done, 20 * ROWS);
	cr_assert_eq(bpf_map_lookup_elem(latency_fd, &none, ret), 0);
	cr_assert_eq(bpf_map_lookup_elem(plain_fd, &none, ret_plain), 0);
}

/* Runs account.h over the same rows in user space. */
static void count_here(const struct made_up_samples_bpf *skeleton, u32 event, struct latency_record *record,
		       struct plain_record *plain)
{
	for (unsigned i = 0; i < 20 * ROWS; i++) {
		const u64 *row = (const u64 *)skeleton->bss->made_up[i % ROWS];
		struct sample sample = {.data_source = row[1], .period = 10007, .fields = SAMPLE_DATA_SOURCE};

		if (event == STORES) {
			account_plain(plain, &sample, false);
			continue;
		}
		sample.latency = (u32)row[0];
		sample.instruction_latency = (u16)(row[0] >> 32);
		sample.fields |= (sample.latency ? SAMPLE_LATENCY : 0) |
				 (sample.instruction_latency ? SAMPLE_INSTRUCTION_LATENCY : 0);
		account_latency(record, &sample, false);
	}
}

static void programs_count_as_plain_c(bool alone)
{
	static struct latency_record expected, record;
	static struct plain_record expected_plain, plain;
	struct made_up_samples_bpf *skeleton = open_made_up(alone);

	for (u32 event = 0; event < EVENTS; event++) {
		count_here(skeleton, event, &expected, &expected_plain);
		run_made_up(skeleton, event, &record, &plain);
		cr_expect_eq(memcmp(&record, &expected, sizeof(record)), 0, "event %u", event);
		cr_expect_eq(memcmp(&plain, &expected_plain, sizeof(plain)), 0, "event %u", event);
	}
	cr_expect_neq(record.latency[FINE_OVERFLOW], 0);
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cr_expect_neq(record.flags[i], 0, "flag %zu", i);
		cr_expect_neq(plain.flags[i], 0, "flag %zu", i);
	}
	made_up_samples_bpf__destroy(skeleton);
}

Test(sample_path, with_a_stripe_per_cpu_counts_equal_plain_c)
{
	programs_count_as_plain_c(true);
}

Test(sample_path, with_shared_stripes_counts_equal_plain_c)
{
	programs_count_as_plain_c(false);
}
