// SPDX-License-Identifier: GPL-2.0
/* A zoom's recording returns the records that were put in, in the same order, and stays within its memory. */
#include <criterion/criterion.h>

#include <string.h>

#include "zoom/zoom_recording.h"

static struct zoom_recording *recording_of(size_t bytes_max)
{
	const struct zoom_about about = {.cgroup = (char *)"/a", .rate = 1000, .n_events = 1};
	struct zoom_recording *recording;

	cr_assert_eq(zoom_recording_new(&about, bytes_max, &recording), 0);
	return recording;
}

static const u64 kernel_stack[] = {0xffffffff81000020};
static const u64 user_stack[] = {0x402000, 0x403000, 0x7fffffffffff};

static struct zoom_record sample_at(u64 time_ns, u32 pid)
{
	return (struct zoom_record){
		.kind = ZOOM_RECORD_SAMPLE,
		.time_ns = time_ns,
		.pid = pid,
		.tid = pid + 1,
		.sample = {.time_ns = time_ns,
			   .pid = pid,
			   .tid = pid + 1,
			   .cpu = 700,
			   .event = 1,
			   .of = {.cgroup_id = 1ULL << 40,
				  .latency = 4000,
				  .data_source = 0xfe68100142,
				  .address = 0xffff888000000040,
				  .code_address = 0x401008,
				  .period = 10007,
				  .instruction_latency = 44,
				  .event = 1,
				  .fields = SAMPLE_LATENCY | SAMPLE_ADDRESS},
			   .physical = ~0ULL,
			   .kernel = kernel_stack,
			   .n_kernel = 1,
			   .user = user_stack,
			   .n_user = 3,
			   .user_of_lbr = true},
	};
}

struct expected {
	const struct zoom_record *records;
	size_t n, at;
};

static void same_sample(const struct zoom_sample *got, const struct zoom_sample *want)
{
	cr_expect_eq(got->time_ns, want->time_ns);
	cr_expect_eq(got->pid, want->pid);
	cr_expect_eq(got->tid, want->tid);
	cr_expect_eq(got->cpu, want->cpu);
	cr_expect_eq(got->event, want->event);
	cr_expect_arr_eq(&got->of, &want->of, sizeof(got->of));
	cr_expect_eq(got->physical, want->physical);
	cr_assert_eq(got->n_kernel, want->n_kernel);
	cr_expect(got->n_kernel == 0 || memcmp(got->kernel, want->kernel, 8 * got->n_kernel) == 0);
	cr_assert_eq(got->n_user, want->n_user);
	cr_expect(got->n_user == 0 || memcmp(got->user, want->user, 8 * got->n_user) == 0);
	cr_expect_eq(got->user_of_lbr, want->user_of_lbr);
}

static int compare(void *userdata, const struct zoom_record *got)
{
	struct expected *expected = userdata;
	const struct zoom_record *want;

	cr_assert_lt(expected->at, expected->n);
	want = &expected->records[expected->at++];
	cr_assert_eq(got->kind, want->kind);
	cr_expect_eq(got->time_ns, want->time_ns);
	cr_expect_eq(got->pid, want->pid);
	cr_expect_eq(got->tid, want->tid);
	switch (got->kind) {
	case ZOOM_RECORD_SAMPLE:
		same_sample(&got->sample, &want->sample);
		break;
	case ZOOM_RECORD_MAPPED:
		cr_expect_eq(got->mapped.start, want->mapped.start);
		cr_expect_eq(got->mapped.size, want->mapped.size);
		cr_expect_eq(got->mapped.offset, want->mapped.offset);
		cr_expect_eq(got->mapped.major, want->mapped.major);
		cr_expect_eq(got->mapped.minor, want->mapped.minor);
		cr_expect_eq(got->mapped.inode, want->mapped.inode);
		cr_expect_eq(got->mapped.protection, want->mapped.protection);
		cr_expect_eq(got->mapped.build_id_size, want->mapped.build_id_size);
		cr_expect_arr_eq(got->mapped.build_id, want->mapped.build_id, 20);
		cr_expect_str_eq(got->mapped.path, want->mapped.path);
		break;
	case ZOOM_RECORD_NAMED:
		cr_expect_str_eq(got->named.name, want->named.name);
		cr_expect_eq(got->named.executed, want->named.executed);
		break;
	default:
		cr_expect_eq(got->forked.parent_pid, want->forked.parent_pid);
		cr_expect_eq(got->forked.parent_tid, want->forked.parent_tid);
	}
	return 0;
}

Test(zoom_recording, stored_records_are_read_unchanged)
{
	const struct zoom_record records[] = {
		sample_at(1ULL << 50, 10),
		{.kind = ZOOM_RECORD_MAPPED,
		 .time_ns = (1ULL << 50) - 7, /* from another CPU */
		 .pid = 10,
		 .tid = 11,
		 .mapped = {.start = 0x400000,
			    .size = 0x2000,
			    .offset = 0x1000,
			    .major = 8,
			    .minor = 1,
			    .inode = 4711,
			    .protection = 5,
			    .path = "/usr/bin/true"}},
		{.kind = ZOOM_RECORD_MAPPED,
		 .mapped = {.build_id = {1, 2, 3, [19] = 255}, .build_id_size = 20, .path = ""}},
		{.kind = ZOOM_RECORD_NAMED, .pid = 4000000000U, .named = {.name = "a b\n", .executed = true}},
		{.kind = ZOOM_RECORD_FORKED, .time_ns = 3, .forked = {.parent_pid = 1, .parent_tid = 2}},
		{.kind = ZOOM_RECORD_EXITED, .time_ns = ~0ULL, .pid = 12, .forked = {.parent_pid = 3}},
		sample_at(0, 11),
	};
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = recording_of(1 << 20);
	struct expected expected = {.records = records, .n = ARRAY_SIZE(records)};
	struct zoom_record lost = {.kind = ZOOM_RECORD_LOST, .lost = 3};

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		cr_assert_eq(zoom_recording_add(recording, &records[i]), 0);
		cr_assert_eq(zoom_recording_add(recording, &lost), 0);
	}
	cr_assert_eq(zoom_recording_each(recording, compare, &expected), 0);
	cr_expect_eq(expected.at, ARRAY_SIZE(records));
	cr_expect_eq(zoom_recording_samples(recording), 2);
	cr_expect_eq(zoom_recording_about_const(recording)->dropped, 0);
	cr_expect_str_eq(zoom_recording_about(recording)->cgroup, "/a");
}

static int count_samples(void *userdata, const struct zoom_record *record)
{
	u64 *state = userdata; /* the number so far, and the number to stop at */

	cr_expect_eq(record->sample.n_user, 3);
	cr_expect_eq(record->sample.user[0], state[0] % 1000);
	return ++state[0] == state[1] ? 42 : 0;
}

Test(zoom_recording, memory_is_bounded_and_each_stack_stored_once)
{
	const size_t most = 1 << 20;
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = recording_of(most);
	u64 state[2] = {0, ~0ULL};
	u64 kept;

	for (u64 i = 0; i < 50000; i++) {
		const u64 stack[] = {i % 1000, 2, 3};
		struct zoom_record record = sample_at(i * 1000000, 10);

		record.sample.user = stack;
		cr_assert_eq(zoom_recording_add(recording, &record), 0);
	}
	kept = zoom_recording_samples(recording);
	cr_expect_leq(zoom_recording_bytes(recording), most);
	/* About 60 bytes a sample, and each stack once. */
	cr_expect_gt(kept, most / 80);
	cr_expect_eq(kept + zoom_recording_about_const(recording)->dropped, 50000);
	cr_assert_eq(zoom_recording_each(recording, count_samples, state), 0);
	cr_expect_eq(state[0], kept);
	state[0] = 0;
	state[1] = 17;
	cr_expect_eq(zoom_recording_each(recording, count_samples, state), 42);
	cr_expect_eq(state[0], 17);
}

Test(zoom_recording, different_stacks_are_bounded_too)
{
	const size_t most = 1 << 20;
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = recording_of(most);

	for (u64 i = 0; i < 50000; i++) {
		const u64 stack[] = {i, i + 1, i + 2};
		struct zoom_record record = sample_at(i, 10);

		record.sample.user = stack;
		cr_assert_eq(zoom_recording_add(recording, &record), 0);
	}
	cr_expect_leq(zoom_recording_bytes(recording), most);
	cr_expect_gt(zoom_recording_samples(recording), 5000);
}

Test(zoom_recording, without_memory_only_samples_count_as_dropped)
{
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = recording_of(0);
	struct zoom_record record = sample_at(1, 2);
	struct zoom_record named = {.kind = ZOOM_RECORD_NAMED, .named = {.name = "x"}};

	cr_expect_eq(zoom_recording_add(recording, &record), 0);
	cr_expect_eq(zoom_recording_add(recording, &named), 0);
	cr_expect_eq(zoom_recording_samples(recording), 0);
	cr_expect_eq(zoom_recording_about(recording)->dropped, 1, "it counts samples");
}

/*
 * These stacks would collide in a table with an unkeyed hash. Each would then be compared with all before it, and
 * the test would exceed its time limit.
 */
Test(zoom_recording, colliding_stacks_do_not_exceed_the_time_limit)
{
	enum { STACKS = 400000 };
	struct zoom_recording *recording = recording_of(256UL << 20);
	struct zoom_record record = sample_at(1, 7);
	u64 stack[2];

	record.sample.n_kernel = 0;
	record.sample.user = stack;
	record.sample.n_user = 2;
	for (u64 i = 0; i < STACKS; i++) {
		u64 value = (2 ^ i) * 0x9e3779b97f4a7c15ULL;

		stack[0] = i;
		stack[1] = value ^ value >> 29;
		cr_assert_eq(zoom_recording_add(recording, &record), 0);
	}
	zoom_recording_free(recording);
}
