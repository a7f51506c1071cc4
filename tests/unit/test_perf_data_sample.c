// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "numbered.h"
#include "offer.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

/*
 * Each bit is tested with only the fields that identify a sample, and with all others, so that a field in the
 * wrong place or of the wrong length is noticed.
 */
Test(perf_data, every_field_of_a_sample_is_read)
{
	for (unsigned int bit = 0; bit <= 25; bit++) {
		struct writer_event event = numbered_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type = NUMBERED_FIELDS | PERF_SAMPLE_CGROUP | PERF_SAMPLE_PERIOD;
		/* `bit` 25 stands for all bits together. */
		event.sample_type |= bit == 25 ? (1ULL << 25) - 1 : 1ULL << bit;
		if (event.sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
			event.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
		event.registers_user = 0xff0fff;
		event.registers_intr = 0x3;
		event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		(void)writer_event(writer, &event);
		for (u64 n = 0; n < 3; n++) {
			struct writer_sample sample = numbered_sample(n);

			sample.branches = n;
			writer_sample(writer, 0, &sample);
		}
		data = offer_written(writer, OFFER_FILE);
		numbered_expect_all(data, event.sample_type, 3);
		perf_data_free(data);
	}
}

Test(perf_data, every_read_format_is_read)
{
	for (u64 format = 0; format < PERF_FORMAT_MAX; format++) {
		struct writer_event event = numbered_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type |= PERF_SAMPLE_READ;
		event.read_format = format;
		numbered_write(writer, writer_event(writer, &event), 0);
		data = offer_written(writer, OFFER_FILE);
		numbered_expect_all(data, event.sample_type, 1);
		perf_data_free(data);
	}
}

Test(perf_data, branch_stacks_with_index_and_counters_are_skipped)
{
	static const struct {
		u64 branches;
		bool no_stack;
	} cases[] = {{3, false}, {0, false}, {0, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct writer_sample sample = numbered_sample(0);
		struct writer_event event = numbered_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		event.branch_sample_type =
			PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX | WRITER_BRANCH_COUNTERS;
		sample.branches = cases[i].branches;
		sample.no_branch_stack = cases[i].no_stack;
		writer_sample(writer, writer_event(writer, &event), &sample);
		data = offer_written(writer, OFFER_FILE);
		numbered_expect_all(data, event.sample_type, 1);
		perf_data_free(data);
	}
}

/*
 * An empty branch stack is followed by fields of unknown length. It cannot be known whether the stack has an
 * index.
 */
Test(perf_data, an_ambiguous_sample_is_refused)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
						      PERF_SAMPLE_BRANCH_STACK,
				       .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX};
	static const u64 empty[] = {0, 77, 0x142, 5};
	static const u64 one_branch[] = {1, 99, 1, 2, 3, 77, 0x142, 5};
	static const u64 alike[] = {0, 77, 77, 77};
	struct perf_data_sample sample;

	/* If all fields are known, the length decides. */
	cr_expect_eq(perf_data_sample_decode(&attr, (const u8 *)empty, 24, &sample), 0);
	cr_expect_eq(sample.weight, 77);
	cr_expect_eq(perf_data_sample_decode(&attr, (const u8 *)empty, 32, &sample), 0);
	cr_expect_eq(sample.weight, 0x142);

	attr.sample_type |= 1ULL << 40;
	cr_expect_eq(perf_data_sample_decode(&attr, (const u8 *)empty, sizeof(empty), &sample), -ENOTUNIQ);
	cr_expect_eq(perf_data_sample_decode(&attr, (const u8 *)one_branch, sizeof(one_branch), &sample), 0);
	cr_expect_eq(sample.weight, 77);
	cr_expect_eq(sample.data_source, 0x142);
	cr_expect_eq(perf_data_sample_decode(&attr, (const u8 *)alike, sizeof(alike), &sample), 0);
	cr_expect_eq(sample.weight, 77);
}

Test(perf_data, lengths_beyond_the_sample_are_refused)
{
	struct writer_event event = numbered_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;
	u64 words[12] = {};

	event.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT;
	(void)writer_event(writer, &event);
	words[0] = 1ULL << 61; /* times 8 wraps around to 0 */
	writer_record(writer, PERF_RECORD_SAMPLE, words, sizeof(words));
	data = offer_written(writer, OFFER_FILE);
	cr_expect_eq(perf_data_next(data, &record), -EBADMSG);
	cr_expect_not_null(strstr(perf_data_message(data), "not have the length that its event requires"));
	perf_data_free(data);
}
