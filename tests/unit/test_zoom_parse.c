// SPDX-License-Identifier: GPL-2.0
/* Records of a zoom's ring, byte for byte as the kernel writes them, complete and cut. */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "zoom/zoom_parse.h"

#define OF_ALL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define SAMPLE                                                                                     \
	(OF_ALL | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
	 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP)

static const struct event loads = {
	.role = EVENT_LOADS,
	.settings = {.has_latency = 1,
		     .has_instruction_latency = 1,
		     .has_source = 1,
		     .has_address = 1,
		     .weight_struct = 1},
};

static struct perf_event_attr attr_of(u64 sample_type)
{
	return (struct perf_event_attr){
		.sample_type = sample_type,
		.sample_id_all = 1,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
	};
}

struct bytes {
	u8 at[4096];
	size_t n;
};

static void put(struct bytes *bytes, u64 value)
{
	memcpy(bytes->at + bytes->n, &value, sizeof(value));
	bytes->n += sizeof(value);
}

static void put2(struct bytes *bytes, u32 first, u32 second)
{
	put(bytes, first | (u64)second << 32);
}

static void put_text(struct bytes *bytes, const char *text, size_t padded)
{
	memset(bytes->at + bytes->n, 0, padded);
	memcpy(bytes->at + bytes->n, text, strlen(text));
	bytes->n += padded;
}

static struct bytes begin(u32 type, u16 misc)
{
	struct bytes bytes = {0};

	put2(&bytes, type, misc);
	return bytes;
}

static void finish(struct bytes *bytes)
{
	u16 size = (u16)bytes->n;

	memcpy(bytes->at + 6, &size, sizeof(size));
}

static void put_trailer(struct bytes *bytes)
{
	put2(bytes, 20, 21); /* pid, tid */
	put(bytes, 5000);
	put2(bytes, 3, 0);
	put(bytes, 77);
	finish(bytes);
}

static const u64 chain_of_user[] = {(u64)PERF_CONTEXT_USER, 0x401000, 0x402000, 0x403000};

static struct bytes sample_of(u16 misc, u64 ip, const u64 *chain, size_t n, const u64 *branches,
			      size_t n_branches, bool with_branches)
{
	struct bytes bytes = begin(PERF_RECORD_SAMPLE, misc);

	put(&bytes, 77);
	put(&bytes, ip);
	put2(&bytes, 10, 11);
	put(&bytes, 123456789);
	put(&bytes, 0x7f0000001040);
	put2(&bytes, 5, 0);
	put(&bytes, 10007);
	put(&bytes, n);
	for (size_t i = 0; i < n; i++)
		put(&bytes, chain[i]);
	if (with_branches) {
		put(&bytes, n_branches);
		for (size_t i = 0; i < n_branches; i++) {
			put(&bytes, branches[i]);
			put(&bytes, branches[i] + 0x800);
			put(&bytes, 0);
		}
	}
	put(&bytes, 321 | (u64)44 << 32 | (u64)7 << 48);
	put(&bytes, 0x68100142);
	put(&bytes, 0x1234040);
	put(&bytes, 99);
	finish(&bytes);
	return bytes;
}

static int parse(u64 sample_type, const struct event *event, const struct bytes *bytes,
		 struct zoom_record *ret)
{
	static struct zoom_stacks stacks;
	const struct perf_event_attr attr = attr_of(sample_type);

	memset(&stacks, 0xaa, sizeof(stacks));
	return zoom_parse(&attr, event, bytes->at, bytes->n, &stacks, ret);
}

Test(zoom_parse, a_sample_of_a_process_is_parsed)
{
	struct bytes bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, chain_of_user,
				       ARRAY_SIZE(chain_of_user), NULL, 0, false);
	struct zoom_record record;
	const struct zoom_sample *sample = &record.sample;

	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.kind, ZOOM_RECORD_SAMPLE);
	cr_expect_eq(record.time_ns, 123456789);
	cr_expect_eq(record.pid, 10);
	cr_expect_eq(record.tid, 11);
	cr_expect_eq(sample->time_ns, 123456789);
	cr_expect_eq(sample->pid, 10);
	cr_expect_eq(sample->tid, 11);
	cr_expect_eq(sample->cpu, 5);
	cr_expect_eq(sample->physical, 0x1234040);
	cr_expect_eq(sample->of.code_address, 0x401008);
	cr_expect_eq(sample->of.address, 0x7f0000001040);
	cr_expect_eq(sample->of.period, 10007);
	cr_expect_eq(sample->of.latency, 321);
	cr_expect_eq(sample->of.instruction_latency, 44);
	cr_expect_eq(sample->of.data_source, 0x68100142);
	cr_expect_eq(sample->of.cgroup_id, 99);
	cr_expect_eq(sample->of.fields, SAMPLE_LATENCY | SAMPLE_INSTRUCTION_LATENCY | SAMPLE_DATA_SOURCE |
						SAMPLE_ADDRESS | SAMPLE_CODE_ADDRESS);
	/* The first address of the chain is that of the sampled instruction. */
	cr_expect_eq(sample->n_kernel, 0);
	cr_assert_eq(sample->n_user, 2);
	cr_expect_eq(sample->user[0], 0x402000);
	cr_expect_eq(sample->user[1], 0x403000);
	cr_expect_not(sample->user_of_lbr);
}

Test(zoom_parse, only_measured_fields_are_set)
{
	struct bytes bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, NULL, 0, NULL, 0, false);
	struct event event = loads;
	struct zoom_record record;

	event.settings.has_latency = 0;
	event.settings.has_source = 0;
	event.settings.has_address = 0;
	cr_assert_eq(parse(SAMPLE, &event, &bytes, &record), 0);
	cr_expect_eq(record.sample.of.fields, SAMPLE_CODE_ADDRESS);
	cr_expect_eq(record.sample.of.latency, 0);
	cr_expect_eq(record.sample.of.address, 0);
	cr_expect_eq(record.sample.of.data_source, 0);

	/* A weight that is not split is the latency as a whole. */
	event = loads;
	event.settings.weight_struct = 0;
	event.settings.has_instruction_latency = 0;
	cr_assert_eq(parse((SAMPLE & ~(u64)PERF_SAMPLE_WEIGHT_STRUCT) | PERF_SAMPLE_WEIGHT, &event, &bytes,
			   &record),
		     0);
	cr_expect_eq(record.sample.of.latency, 321 | (u64)44 << 32 | (u64)7 << 48);

	/* Values that no driver has filled in: PERF_MEM_NA, no address, no weight. */
	memset(bytes.at + bytes.n - 32, 0, 8);
	memcpy(bytes.at + bytes.n - 24, &(u64){0x1e05080021}, 8);
	memset(bytes.at + 40, 0, 8);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.sample.of.fields, SAMPLE_CODE_ADDRESS);
	cr_expect_eq(record.sample.of.data_source, 0);
}

Test(zoom_parse, stacks_of_kernel_and_user_space_are_split)
{
	static const u64 chain[] = {(u64)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
				    (u64)PERF_CONTEXT_USER,   0x401000,           0x402000};
	struct bytes bytes = sample_of(PERF_RECORD_MISC_KERNEL, 0xffffffff81000008, chain, ARRAY_SIZE(chain),
				       NULL, 0, false);
	struct zoom_record record;

	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.sample.n_kernel, 1);
	cr_expect_eq(record.sample.kernel[0], 0xffffffff81000020);
	/* The address at which the kernel was entered stays, because it is not the sampled instruction. */
	cr_assert_eq(record.sample.n_user, 2);
	cr_expect_eq(record.sample.user[0], 0x401000);

	/*
	 * The instruction was in user space, and the interrupt came after the process had entered the kernel.
	 */
	bytes = sample_of(PERF_RECORD_MISC_USER, 0x400ff8, chain, ARRAY_SIZE(chain), NULL, 0, false);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.sample.n_kernel, 0);
	cr_assert_eq(record.sample.n_user, 1);
	cr_expect_eq(record.sample.user[0], 0x402000);

	/* The instruction was in the kernel, and the interrupt came after the kernel had returned. */
	bytes = sample_of(PERF_RECORD_MISC_KERNEL, 0xffffffff81000008, chain_of_user,
			  ARRAY_SIZE(chain_of_user), NULL, 0, false);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.sample.n_kernel, 0);
	cr_assert_eq(record.sample.n_user, 3);
	cr_expect_eq(record.sample.user[0], 0x401000);

	/* Addresses after an unknown marker are left out. */
	static const u64 odd[] = {(u64)PERF_CONTEXT_GUEST, 0x1000,   0x2000,
				  (u64)PERF_CONTEXT_USER,  0x401000, 0x402000};

	bytes = sample_of(PERF_RECORD_MISC_USER, 0x401000, odd, ARRAY_SIZE(odd), NULL, 0, false);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.sample.n_user, 1);
	cr_expect_eq(record.sample.user[0], 0x402000);
}

Test(zoom_parse, a_user_stack_cannot_add_frames_of_the_kernel)
{
	static const u64 chain[] = {(u64)PERF_CONTEXT_KERNEL,
				    0xffffffff81000010,
				    0xffffffff81000020,
				    (u64)PERF_CONTEXT_USER,
				    0x401000,
				    (u64)PERF_CONTEXT_KERNEL,
				    0xffffffff81000030,
				    0xffffffff81000040,
				    (u64)PERF_CONTEXT_USER,
				    0x402000};
	struct bytes bytes = sample_of(PERF_RECORD_MISC_KERNEL, 0xffffffff81000008, chain, ARRAY_SIZE(chain),
				       NULL, 0, false);
	struct zoom_record record;

	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.sample.n_kernel, 1);
	cr_expect_eq(record.sample.kernel[0], 0xffffffff81000020);
	cr_assert_eq(record.sample.n_user, 1);
	cr_expect_eq(record.sample.user[0], 0x401000);
}

Test(zoom_parse, a_stack_that_is_too_deep_is_cut)
{
	u64 chain[ZOOM_STACK_MAX + 20];
	struct zoom_record record;
	struct bytes bytes;

	chain[0] = (u64)PERF_CONTEXT_USER;
	for (size_t i = 1; i < ARRAY_SIZE(chain); i++)
		chain[i] = 0x400000 + i;
	bytes = sample_of(PERF_RECORD_MISC_USER, 0x400001, chain, ARRAY_SIZE(chain), NULL, 0, false);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.sample.n_user, ZOOM_STACK_MAX);
	cr_expect_eq(record.sample.user[ZOOM_STACK_MAX - 1], 0x400000 + ZOOM_STACK_MAX + 1);
}

Test(zoom_parse, a_deeper_lbr_stack_is_used)
{
	static const u64 branches[] = {0x501000, 0x502000, 0x503000, 0, 0x505000};
	static const u64 chain[] = {(u64)PERF_CONTEXT_KERNEL, 0xffffffff81000010, (u64)PERF_CONTEXT_USER,
				    0x401000};
	struct zoom_record record;
	struct bytes bytes;

	/* The branch stack has three calls before the unused entry. The frame pointers have two. */
	bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, chain_of_user, ARRAY_SIZE(chain_of_user), branches,
			  ARRAY_SIZE(branches), true);
	cr_assert_eq(parse(SAMPLE | PERF_SAMPLE_BRANCH_STACK, &loads, &bytes, &record), 0);
	cr_expect(record.sample.user_of_lbr);
	cr_assert_eq(record.sample.n_user, 3);
	cr_expect_eq(record.sample.user[0], 0x501001);
	cr_expect_eq(record.sample.user[2], 0x503001);
	cr_expect_eq(record.sample.of.latency, 321, "what follows is where it is");
	cr_expect_eq(record.sample.of.cgroup_id, 99);

	/* With two entries, branch records reach as far as frame pointers, which are then preferred. */
	bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, chain_of_user, ARRAY_SIZE(chain_of_user), branches,
			  2, true);
	cr_assert_eq(parse(SAMPLE | PERF_SAMPLE_BRANCH_STACK, &loads, &bytes, &record), 0);
	cr_expect_not(record.sample.user_of_lbr);
	cr_expect_eq(record.sample.user[0], 0x402000);

	/* For an instruction in the kernel, the innermost user frame is where the kernel was entered. */
	bytes = sample_of(PERF_RECORD_MISC_KERNEL, 0xffffffff81000008, chain, ARRAY_SIZE(chain), branches, 2,
			  true);
	cr_assert_eq(parse(SAMPLE | PERF_SAMPLE_BRANCH_STACK, &loads, &bytes, &record), 0);
	cr_expect(record.sample.user_of_lbr);
	cr_assert_eq(record.sample.n_user, 3);
	cr_expect_eq(record.sample.user[0], 0x401000);
	cr_expect_eq(record.sample.user[1], 0x501001);

	/*
	 * A kernel thread has no user stack. The LBR still has the calls of another task, which must be
	 * ignored.
	 */
	bytes = sample_of(PERF_RECORD_MISC_KERNEL, 0xffffffff81000008, chain, 2, branches, 2, true);
	cr_assert_eq(parse(SAMPLE | PERF_SAMPLE_BRANCH_STACK, &loads, &bytes, &record), 0);
	cr_expect_not(record.sample.user_of_lbr);
	cr_expect_eq(record.sample.n_user, 0);
}

Test(zoom_parse, branches_beyond_the_maximum_are_cut)
{
	struct perf_branch_entry entries[ZOOM_STACK_MAX + 9];
	u64 user[ZOOM_STACK_MAX] = {0x401000};
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		entries[i] = (struct perf_branch_entry){.from = 0x500000 + i};
	cr_expect(zoom_parse_lbr(entries, ARRAY_SIZE(entries), true, user, &n));
	cr_expect_eq(n, ZOOM_STACK_MAX);
	cr_expect_eq(user[0], 0x401000);
	cr_expect_eq(user[ZOOM_STACK_MAX - 1], 0x500000 + ZOOM_STACK_MAX - 2 + 1);
}

static struct bytes mapped(u16 misc)
{
	struct bytes bytes = begin(PERF_RECORD_MMAP2, misc);

	put2(&bytes, 10, 11);
	put(&bytes, 0x400000);
	put(&bytes, 0x2000);
	put(&bytes, 0x1000);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		bytes.at[bytes.n] = 20;
		for (u8 i = 0; i < 20; i++)
			bytes.at[bytes.n + 4 + i] = (u8)(i + 1);
		bytes.n += 24;
	} else {
		put2(&bytes, 8, 1);
		put(&bytes, 4711);
		put(&bytes, 3);
	}
	put2(&bytes, 5, 0x1002);
	put_text(&bytes, "/usr/bin/true", 16);
	put_trailer(&bytes);
	return bytes;
}

Test(zoom_parse, a_mapping_is_parsed)
{
	struct bytes bytes = mapped(PERF_RECORD_MISC_USER);
	struct zoom_record record;

	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.kind, ZOOM_RECORD_MAPPED);
	cr_expect_eq(record.pid, 10);
	cr_expect_eq(record.tid, 11);
	cr_expect_eq(record.time_ns, 5000);
	cr_expect_eq(record.mapped.start, 0x400000);
	cr_expect_eq(record.mapped.size, 0x2000);
	cr_expect_eq(record.mapped.offset, 0x1000);
	cr_expect_eq(record.mapped.major, 8);
	cr_expect_eq(record.mapped.minor, 1);
	cr_expect_eq(record.mapped.inode, 4711);
	cr_expect_eq(record.mapped.protection, 5);
	cr_expect_eq(record.mapped.build_id_size, 0);
	cr_expect_str_eq(record.mapped.path, "/usr/bin/true");

	bytes = mapped(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.mapped.build_id_size, 20);
	cr_expect_eq(record.mapped.build_id[0], 1);
	cr_expect_eq(record.mapped.build_id[19], 20);
	cr_expect_eq(record.mapped.inode, 0);
	cr_expect_eq(record.mapped.protection, 5);

	/* A size above that of a build ID counts as the greatest size. */
	bytes.at[40] = 200;
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.mapped.build_id_size, 20);

	/* A path without an end. */
	memset(bytes.at + bytes.n - 32 - 16, 'x', 16);
	cr_expect_eq(parse(SAMPLE, &loads, &bytes, &record), -EBADMSG);
}

Test(zoom_parse, records_of_tasks_are_parsed)
{
	struct bytes bytes = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct zoom_record record;

	put2(&bytes, 10, 11);
	put_text(&bytes, "sleep", 8);
	put_trailer(&bytes);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_assert_eq(record.kind, ZOOM_RECORD_NAMED);
	cr_expect_eq(record.pid, 10);
	cr_expect_str_eq(record.named.name, "sleep");
	cr_expect(record.named.executed);
	bytes.at[5] = 0; /* the high byte of `misc` */
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_not(record.named.executed);

	for (int i = 0; i < 2; i++) {
		bytes = begin(i ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
		put2(&bytes, 30, 10);
		put2(&bytes, 31, 11);
		put(&bytes, 6000);
		put_trailer(&bytes);
		cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
		cr_assert_eq(record.kind, i ? ZOOM_RECORD_EXITED : ZOOM_RECORD_FORKED);
		cr_expect_eq(record.pid, 30);
		cr_expect_eq(record.tid, 31);
		cr_expect_eq(record.forked.parent_pid, 10);
		cr_expect_eq(record.forked.parent_tid, 11);
		cr_expect_eq(record.time_ns, 6000);
	}
}

Test(zoom_parse, losses_and_throttling_are_parsed)
{
	struct bytes bytes = begin(PERF_RECORD_LOST, 0);
	struct zoom_record record;

	put(&bytes, 77);
	put(&bytes, 12);
	put_trailer(&bytes);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.kind, ZOOM_RECORD_LOST);
	cr_expect_eq(record.lost, 12);

	bytes = begin(PERF_RECORD_LOST_SAMPLES, 0);
	put(&bytes, 13);
	put_trailer(&bytes);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.kind, ZOOM_RECORD_LOST);
	cr_expect_eq(record.lost, 13);

	bytes = begin(PERF_RECORD_THROTTLE, 0);
	put(&bytes, 7000);
	put(&bytes, 77);
	put(&bytes, 77);
	put_trailer(&bytes);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.kind, ZOOM_RECORD_THROTTLED);
	cr_expect_eq(record.time_ns, 7000);

	bytes = begin(PERF_RECORD_UNTHROTTLE, 0);
	put_trailer(&bytes);
	cr_assert_eq(parse(SAMPLE, &loads, &bytes, &record), 0);
	cr_expect_eq(record.kind, ZOOM_RECORD_OTHER);
	cr_expect_eq(record.pid, 20);
	cr_expect_eq(record.tid, 21);
}

Test(zoom_parse, the_event_id_of_a_record_is_found)
{
	struct bytes sample = sample_of(PERF_RECORD_MISC_USER, 0x401008, NULL, 0, NULL, 0, false);
	struct bytes other = mapped(0);
	u64 id = 0;

	memcpy(sample.at + 8, &(u64){1234}, 8);
	cr_expect_eq(zoom_parse_id(sample.at, sample.n, &id), 0);
	cr_expect_eq(id, 1234);
	cr_expect_eq(zoom_parse_id(other.at, other.n, &id), 0);
	cr_expect_eq(id, 77);
	for (size_t n = 0; n < other.n; n++)
		cr_expect_eq(zoom_parse_id(other.at, n, &id), -EBADMSG);
}

/*
 * Cuts the record at each byte, with the old size in its header and with the new one. The memory of each copy
 * ends with the copy, so that a sanitizer finds any read beyond it.
 */
static void cut_everywhere(u64 sample_type, const struct bytes *whole, size_t bytes_that_matter)
{
	const struct perf_event_attr attr = attr_of(sample_type);
	struct zoom_stacks stacks;
	struct zoom_record record;

	for (size_t n = 0; n < bytes_that_matter; n++) {
		_cleanup_free_ u8 *cut = malloc(n ? n : 1);
		u16 size = (u16)n;

		memcpy(cut, whole->at, n);
		cr_expect_eq(zoom_parse(&attr, &loads, cut, n, &stacks, &record), -EBADMSG,
			     "%zu of %zu bytes", n, whole->n);
		if (n < 8)
			continue;
		memcpy(cut + 6, &size, sizeof(size));
		cr_expect_eq(zoom_parse(&attr, &loads, cut, n, &stacks, &record), -EBADMSG,
			     "%zu of %zu bytes", n, whole->n);
	}
}

Test(zoom_parse, truncated_records_are_refused)
{
	static const u64 branches[] = {0x501000, 0x502000};
	struct bytes bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, chain_of_user,
				       ARRAY_SIZE(chain_of_user), branches, 2, true);

	cut_everywhere(SAMPLE | PERF_SAMPLE_BRANCH_STACK, &bytes, bytes.n);

	bytes = begin(PERF_RECORD_FORK, 0);
	put2(&bytes, 30, 10);
	put2(&bytes, 31, 11);
	put(&bytes, 6000);
	put_trailer(&bytes);
	cut_everywhere(SAMPLE, &bytes, bytes.n);

	bytes = begin(PERF_RECORD_LOST, 0);
	put(&bytes, 77);
	put(&bytes, 12);
	put_trailer(&bytes);
	cut_everywhere(SAMPLE, &bytes, bytes.n);

	/*
	 * A cut further back only shortens the text: the last 32 bytes then count as the trailer. So the cuts
	 * stop where the fields before the text and a trailer are complete.
	 */
	bytes = mapped(0);
	cut_everywhere(SAMPLE, &bytes, 8 + 64 + 32);
}

Test(zoom_parse, unrequested_fields_and_impossible_sizes_are_refused)
{
	struct bytes bytes = sample_of(PERF_RECORD_MISC_USER, 0x401008, NULL, 0, NULL, 0, false);
	struct zoom_record record;

	cr_expect_eq(parse(SAMPLE | PERF_SAMPLE_RAW, &loads, &bytes, &record), -EBADMSG);
	/* A number of frames whose size would wrap around. */
	memcpy(bytes.at + 64, &(u64){1ULL << 61}, 8);
	cr_expect_eq(parse(SAMPLE, &loads, &bytes, &record), -EBADMSG);
}
