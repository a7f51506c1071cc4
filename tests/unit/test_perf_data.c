// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

#define MEMORY_FIELDS                                                                              \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

static const u64 load_ids[] = {11, 12};
static const u64 store_ids[] = {21};

static const struct writer_event load_event = {
	.type = PERF_TYPE_RAW,
	.config = 0x1cd,
	.config1 = 30,
	.period = 1009,
	.sample_type = MEMORY_FIELDS,
	.name = "cpu/mem-loads/P",
	.ids = load_ids,
	.n_ids = ARRAY_SIZE(load_ids),
};

/* Where the bytes come from: a file, or a pipe that another process fills. */
enum way { BY_FILE, BY_PIPE };

static int offer(const u8 *bytes, size_t size, enum way way)
{
	int ends[2];
	pid_t child;

	if (way == BY_FILE)
		return writer_memfd(bytes, size);
	cr_assert_eq(pipe(ends), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		(void)close(ends[0]);
		while (size) {
			/* In odd pieces, so that no record is there at once. */
			ssize_t n = write(ends[1], bytes, size < 1021 ? size : 1021);

			if (n <= 0)
				break;
			bytes += n;
			size -= (size_t)n;
		}
		_exit(0);
	}
	(void)close(ends[1]);
	return ends[0];
}

/* Opens what the writer has and frees the writer. */
static struct perf_data *open_written(struct writer *writer, enum way way)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data = NULL;
	size_t size;

	bytes = writer_finish(writer, &size);
	writer_free(writer);
	cr_assert_eq(perf_data_open(offer(bytes, size, way), &data, &message), 0, "%s", message);
	return data;
}

/* The next sample; false at the end. */
static bool next_sample(struct perf_data *data, struct perf_data_record *ret)
{
	int r;

	while ((r = perf_data_next(data, ret)) > 0)
		if (ret->kind == PERF_DATA_SAMPLE)
			return true;
	cr_assert_eq(r, 0, "%s", perf_data_message(data));
	return false;
}

static struct writer_sample numbered(u64 n)
{
	return (struct writer_sample){
		.pid = 100,
		.tid = (u32)(100 + n),
		.time = 1000 + n,
		.address = 0x1000 + n,
		.period = 7 + n,
		.weight = 50 + n,
		.data_source = 0x10268100142,
		.cgroup_id = 4000 + n,
	};
}

static void write_numbered(struct writer *writer, size_t event, u64 n)
{
	struct writer_sample sample = numbered(n);

	writer_sample(writer, event, &sample);
}

static void expect_numbered(const struct perf_data_record *record, u64 sample_type, u64 n)
{
	struct writer_sample sample = numbered(n);

	cr_expect_eq(record->sample.sample_type, sample_type);
	cr_expect_eq(record->sample.tid, sample_type & PERF_SAMPLE_TID ? sample.tid : 0);
	cr_expect_eq(record->time, sample_type & PERF_SAMPLE_TIME ? sample.time : 0);
	cr_expect_eq(record->sample.address, sample_type & PERF_SAMPLE_ADDR ? sample.address : 0);
	cr_expect_eq(record->sample.period, sample_type & PERF_SAMPLE_PERIOD ? sample.period : 0);
	cr_expect_eq(record->sample.weight, sample_type & PERF_SAMPLE_WEIGHT_TYPE ? sample.weight : 0);
	cr_expect_eq(record->sample.data_source, sample_type & PERF_SAMPLE_DATA_SRC ? sample.data_source : 0);
	cr_expect_eq(record->sample.cgroup_id, sample_type & PERF_SAMPLE_CGROUP ? sample.cgroup_id : 0);
}

static void expect_samples(struct perf_data *data, u64 sample_type, u64 n)
{
	struct perf_data_record record;
	u64 position;

	for (u64 i = 0; i < n; i++) {
		cr_assert(next_sample(data, &record), "sample %llu of %llu", (unsigned long long)i,
			  (unsigned long long)n);
		cr_expect_eq(record.event, 0);
		expect_numbered(&record, sample_type, i);
	}
	cr_expect_not(next_sample(data, &record));
	cr_expect_not(perf_data_cut(data, &position));
}

Test(perf_data, both_layouts_by_file_and_by_pipe)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE, WRITER_FILE_UNFINISHED};

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		for (enum way way = BY_FILE; way <= BY_PIPE; way++) {
			struct writer *writer = writer_new(layouts[i], 0);
			size_t event = writer_event(writer, &load_event);
			struct perf_data *data;

			for (u64 n = 0; n < 5000; n++)
				write_numbered(writer, event, n);
			data = open_written(writer, way);
			cr_expect_eq(perf_data_unfinished(data), layouts[i] == WRITER_FILE_UNFINISHED);
			expect_samples(data, MEMORY_FIELDS, 5000);
			perf_data_free(data);
		}
}

Test(perf_data, names_and_machine_come_from_features)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct writer *writer = writer_new(layouts[i], 0);
		struct writer_event updated = load_event;
		struct perf_data_record record;
		const struct perf_data_events *events;
		struct perf_data *data;
		size_t event;

		updated.name = "cpu_atom/mem-stores/P";
		updated.name_by_update = true;
		updated.ids = store_ids;
		updated.n_ids = 1;
		writer_cpuid(writer, "GenuineIntel,6,85,4");
		writer_pmu(writer, 4, "cpu_core");
		writer_pmu(writer, 10, "cpu_atom");
		event = writer_event(writer, &load_event);
		(void)writer_event(writer, &updated);
		write_numbered(writer, event, 0);
		data = open_written(writer, BY_FILE);
		cr_assert(next_sample(data, &record));
		events = perf_data_events(data);
		cr_assert_eq(events->n, 2);
		cr_expect_str_eq(events->cpuid, "GenuineIntel,6,85,4");
		cr_expect_str_eq(events->list[0].name, "cpu/mem-loads/P");
		cr_expect_str_eq(events->list[1].name, "cpu_atom/mem-stores/P");
		cr_expect_str_eq(perf_data_events_pmu(events, 4), "cpu_core");
		cr_expect_str_eq(perf_data_events_pmu(events, 10), "cpu_atom");
		cr_expect_null(perf_data_events_pmu(events, 8));
		cr_expect_eq(events->list[0].attr.config1, 30);
		perf_data_free(data);
	}
}

Test(perf_data, features_behind_the_data_of_a_pipe_are_done_without)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &load_event);
	struct perf_data_record record;
	struct perf_data *data;

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	write_numbered(writer, event, 0);
	data = open_written(writer, BY_PIPE);
	cr_assert(next_sample(data, &record));
	cr_expect_null(perf_data_events(data)->cpuid);
	cr_expect_null(perf_data_events(data)->list[0].name);
	cr_expect_not(next_sample(data, &record));
	perf_data_free(data);
}

Test(perf_data, attributes_of_other_perfs_are_shorter_or_longer)
{
	static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 1024};
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(layouts); j++) {
			struct writer *writer = writer_new(layouts[j], sizes[i]);
			size_t event = writer_event(writer, &load_event);
			struct perf_data *data;

			write_numbered(writer, event, 0);
			write_numbered(writer, event, 1);
			data = open_written(writer, BY_FILE);
			expect_samples(data, MEMORY_FIELDS, 2);
			perf_data_free(data);
		}
}

/* Each bit alone and in company, so that a field in the wrong place or of the wrong length shows. */
Test(perf_data, every_field_of_a_sample_has_its_place)
{
	for (unsigned int bit = 0; bit <= 25; bit++) {
		struct writer_event event = load_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type = MEMORY_FIELDS | PERF_SAMPLE_CGROUP | PERF_SAMPLE_PERIOD;
		/* 25: all of them. */
		event.sample_type |= bit == 25 ? (1ULL << 25) - 1 : 1ULL << bit;
		if (event.sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
			event.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
		event.registers_user = 0xff0fff;
		event.registers_intr = 0x3;
		event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		(void)writer_event(writer, &event);
		for (u64 n = 0; n < 3; n++) {
			struct writer_sample sample = numbered(n);

			sample.branches = n;
			writer_sample(writer, 0, &sample);
		}
		data = open_written(writer, BY_FILE);
		expect_samples(data, event.sample_type, 3);
		perf_data_free(data);
	}
}

Test(perf_data, every_read_format)
{
	for (u64 format = 0; format < PERF_FORMAT_MAX; format++) {
		struct writer_event event = load_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type |= PERF_SAMPLE_READ;
		event.read_format = format;
		write_numbered(writer, writer_event(writer, &event), 0);
		data = open_written(writer, BY_FILE);
		expect_samples(data, event.sample_type, 1);
		perf_data_free(data);
	}
}

Test(perf_data, branch_stacks_with_index_and_counters)
{
	static const struct {
		u64 branches;
		bool no_stack;
	} cases[] = {{3, false}, {0, false}, {0, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct writer_sample sample = numbered(0);
		struct writer_event event = load_event;
		struct writer *writer = writer_new(WRITER_FILE, 0);
		struct perf_data *data;

		event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		event.branch_sample_type =
			PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX | WRITER_BRANCH_COUNTERS;
		sample.branches = cases[i].branches;
		sample.no_branch_stack = cases[i].no_stack;
		writer_sample(writer, writer_event(writer, &event), &sample);
		data = open_written(writer, BY_FILE);
		expect_samples(data, event.sample_type, 1);
		perf_data_free(data);
	}
}

/* With fields behind it whose length is not known, an empty branch stack may or may not have had an index. */
Test(perf_data, a_sample_that_can_be_read_in_two_ways_is_refused)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
						      PERF_SAMPLE_BRANCH_STACK,
				       .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX};
	static const u64 empty[] = {0, 77, 0x142, 5};
	static const u64 one_branch[] = {1, 99, 1, 2, 3, 77, 0x142, 5};
	static const u64 alike[] = {0, 77, 77, 77};
	struct perf_data_sample sample;

	/* All fields known: the length tells. */
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

/* A second event with another layout: only the id says which a sample is of. */
static void expect_told_apart(u64 id_field)
{
	const u64 plain_fields =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | id_field;
	struct writer_event loads = load_event;
	struct writer_event other = {.type = PERF_TYPE_SOFTWARE, .config = 3, .ids = store_ids, .n_ids = 1};
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct writer_sample second = numbered(1);
	struct writer_sample stranger = numbered(2);
	struct perf_data_record record;
	struct perf_data *data;

	loads.sample_type = (MEMORY_FIELDS & ~(u64)PERF_SAMPLE_ID) | id_field;
	other.sample_type = plain_fields;
	(void)writer_event(writer, &loads);
	(void)writer_event(writer, &other);
	write_numbered(writer, 0, 0);
	write_numbered(writer, 1, 0);
	second.id = load_ids[1];
	writer_sample(writer, 0, &second);
	stranger.id = 99;
	writer_sample(writer, 0, &stranger);

	data = open_written(writer, BY_FILE);
	cr_assert(next_sample(data, &record));
	cr_expect_eq(record.event, 0);
	expect_numbered(&record, loads.sample_type, 0);
	cr_assert(next_sample(data, &record));
	cr_expect_eq(record.event, 1);
	expect_numbered(&record, plain_fields, 0);
	cr_assert(next_sample(data, &record));
	cr_expect_eq(record.event, 0);
	expect_numbered(&record, loads.sample_type, 1);
	cr_assert(next_sample(data, &record));
	cr_expect_eq(record.event, -1);
	cr_expect_eq(record.sample.sample_type, 0);
	perf_data_free(data);
}

Test(perf_data, ids_tell_events_apart)
{
	expect_told_apart(PERF_SAMPLE_ID);
	expect_told_apart(PERF_SAMPLE_IDENTIFIER);
}

Test(perf_data, events_without_ids_are_not_guessed)
{
	struct writer_event event = load_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	event.sample_type &= ~(u64)PERF_SAMPLE_ID;
	(void)writer_event(writer, &event);
	(void)writer_event(writer, &event);
	write_numbered(writer, 0, 0);
	data = open_written(writer, BY_FILE);
	cr_assert(next_sample(data, &record));
	cr_expect_eq(record.event, -1);
	perf_data_free(data);
}

Test(perf_data, records_of_tasks_and_cgroups)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &load_event);
	struct perf_data_record record;
	struct perf_data *data;

	writer_comm(writer, event, 501, 10, 11, "postgres");
	writer_fork(writer, event, 502, 12, 11);
	writer_cgroup(writer, event, 0, 77, "/system.slice");
	writer_lost(writer, event, 503, 9);
	writer_round(writer);
	writer_exit(writer, event, 504, 12);
	data = open_written(writer, BY_FILE);

	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_COMM);
	cr_expect(record.timed);
	cr_expect_eq(record.time, 501);
	cr_expect_eq(record.comm.tid, 11);
	cr_expect_eq(record.comm.length, strlen("postgres"));
	cr_expect_eq(memcmp(record.comm.name, "postgres", record.comm.length), 0);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_FORK);
	cr_expect_eq(record.time, 502);
	cr_expect_eq(record.fork.tid, 12);
	cr_expect_eq(record.fork.parent_tid, 11);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_CGROUP);
	cr_expect_not(record.timed); /* perf made it up */
	cr_expect_eq(record.cgroup.id, 77);
	cr_expect_eq(record.cgroup.length, strlen("/system.slice"));
	cr_expect_eq(memcmp(record.cgroup.path, "/system.slice", record.cgroup.length), 0);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_LOST);
	cr_expect_eq(record.lost, 9);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_ROUND);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_OTHER);
	cr_expect_eq(perf_data_next(data, &record), 0);
	perf_data_free(data);
}

Test(perf_data, trailers_of_several_events_are_told_apart_by_id)
{
	struct writer_event other = load_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	other.ids = store_ids;
	other.n_ids = 1;
	other.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IP;
	(void)writer_event(writer, &load_event);
	(void)writer_event(writer, &other);
	writer_comm(writer, 0, 601, 1, 1, "a");
	writer_comm(writer, 1, 602, 1, 1, "a");
	data = open_written(writer, BY_FILE);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.time, 601);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.time, 602);
	perf_data_free(data);
}

/* What follows a record without being one would be read as records, and here as samples. */
Test(perf_data, payloads_behind_records_are_left_out)
{
	for (enum way way = BY_FILE; way <= BY_PIPE; way++) {
		struct writer *writer = writer_new(WRITER_PIPE, 0);
		size_t event = writer_event(writer, &load_event);
		struct {
			u64 size;
			u64 offset;
			u64 reference;
			u32 numbers[4];
		} auxtrace = {.size = 4096};
		u32 tracing_data = 1021; /* padded to 1024 */
		u8 payload[4096];
		struct perf_data *data;

		memset(payload, 9, sizeof(payload));
		write_numbered(writer, event, 0);
		writer_record(writer, WRITER_AUXTRACE, &auxtrace, sizeof(auxtrace));
		writer_bytes(writer, payload, 4096);
		write_numbered(writer, event, 1);
		writer_record(writer, WRITER_TRACING_DATA, &tracing_data, sizeof(tracing_data));
		writer_bytes(writer, payload, 1024);
		write_numbered(writer, event, 2);
		writer_record(writer, WRITER_BUILD_ID, payload, 64);
		write_numbered(writer, event, 3);
		data = open_written(writer, way);
		expect_samples(data, MEMORY_FIELDS, 4);
		perf_data_free(data);
	}
}

Test(perf_data, compressed_records)
{
	static const struct {
		u32 type;
		size_t piece;
	} cases[] = {{WRITER_COMPRESSED, 60000},
		     {WRITER_COMPRESSED, 13},
		     {WRITER_COMPRESSED2, 60000},
		     {WRITER_COMPRESSED2, 13}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct writer *writer = writer_new(WRITER_FILE, 0);
		size_t event = writer_event(writer, &load_event);
		struct perf_data *data;

		write_numbered(writer, event, 0);
		writer_begin_compressed(writer);
		for (u64 n = 1; n < 9000; n++)
			write_numbered(writer, event, n);
		writer_end_compressed(writer, cases[i].type, cases[i].piece);
		writer_round(writer);
		/* The stream goes on, and so may a record that its last piece left unfinished. */
		writer_begin_compressed(writer);
		for (u64 n = 9000; n < 9100; n++)
			write_numbered(writer, event, n);
		writer_end_compressed(writer, cases[i].type, cases[i].piece);
		write_numbered(writer, event, 9100);
		data = open_written(writer, BY_FILE);
		expect_samples(data, MEMORY_FIELDS, 9101);
		perf_data_free(data);
	}
}

Test(perf_data, a_record_may_straddle_two_compressed_ones)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &load_event);
	struct writer *scratch = writer_new(WRITER_PIPE, 0);
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t whole;
	const u8 *sample;
	size_t size;

	/* One sample's bytes: what a recording has more than the same one without it. */
	(void)writer_event(scratch, &load_event);
	free(writer_finish(scratch, &whole));
	write_numbered(scratch, 0, 0);
	bytes = writer_finish(scratch, &size);
	writer_free(scratch);
	sample = bytes + whole;
	size -= whole;

	writer_begin_compressed(writer);
	writer_bytes(writer, sample, 5);
	writer_end_compressed(writer, WRITER_COMPRESSED, 1000);
	writer_begin_compressed(writer);
	writer_bytes(writer, sample + 5, size - 5);
	write_numbered(writer, event, 1);
	writer_end_compressed(writer, WRITER_COMPRESSED2, 1000);
	data = open_written(writer, BY_FILE);
	expect_samples(data, MEMORY_FIELDS, 2);
	perf_data_free(data);
}

Test(perf_data, damaged_compression_is_an_error)
{
	static const u8 garbage[64] = {0xde, 0xad};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	(void)writer_event(writer, &load_event);
	writer_record(writer, WRITER_COMPRESSED, garbage, sizeof(garbage));
	data = open_written(writer, BY_FILE);
	cr_expect_eq(perf_data_next(data, &record), -EBADMSG);
	cr_expect_not_null(strstr(perf_data_message(data), "compressed"));
	perf_data_free(data);
}

/* Opens `size` bytes; where that fails, it must be for what is in them, and say so. */
static struct perf_data *try_bytes(const u8 *bytes, size_t size, char **ret_message)
{
	struct perf_data *data = NULL;
	int r = perf_data_open(writer_memfd(bytes, size), &data, ret_message);

	cr_assert(r == 0 || r == -EBADMSG, "%d", r);
	if (r < 0) {
		cr_assert_not_null(*ret_message);
		cr_expect_not_null(strchr(*ret_message, ';'), "what to do: %s", *ret_message);
	}
	return data;
}

Test(perf_data, cut_at_every_byte)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++) {
		struct writer *writer = writer_new(layouts[l], 0);
		size_t event = writer_event(writer, &load_event);
		_cleanup_free_ u8 *bytes = NULL;
		u64 most = 0;
		size_t size;

		writer_cpuid(writer, "GenuineIntel,6,85,4");
		writer_comm(writer, event, 1, 1, 1, "comm");
		for (u64 n = 0; n < 4; n++)
			write_numbered(writer, event, n);
		writer_begin_compressed(writer);
		for (u64 n = 4; n < 8; n++)
			write_numbered(writer, event, n);
		writer_end_compressed(writer, WRITER_COMPRESSED, 50);
		bytes = writer_finish(writer, &size);
		writer_free(writer);

		for (size_t cut = 0; cut <= size; cut++) {
			_cleanup_free_ char *message = NULL;
			struct perf_data *data = try_bytes(bytes, cut, &message);
			struct perf_data_record record;
			u64 position = 0;
			u64 n = 0;

			if (!data)
				continue;
			while (next_sample(data, &record))
				expect_numbered(&record, MEMORY_FIELDS, n++);
			cr_expect_geq(n, most, "a longer piece has no fewer samples");
			most = n;
			/* In a pipe a cut between two records can not be told from the end. */
			if (layouts[l] == WRITER_FILE)
				cr_expect_eq(perf_data_cut(data, &position), cut < size, "%zu of %zu", cut,
					     size);
			if (perf_data_cut(data, &position))
				cr_expect_eq(position, cut);
			perf_data_free(data);
		}
		cr_expect_eq(most, 8);
	}
}

Test(perf_data, what_is_no_recording)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *says;
	} cases[] = {
		{"", 0, "is empty"},
		{"PERF", 4, "too short"},
		{"# comm: a text file, and long enough", 36, "no perf.data"},
		{"2ELIFREP\0\0\0\0\0\0\0\x68", 16, "other byte order"},
		{"PERFFILE\0\0\0\0\0\0\0\x68", 16, "other byte order"},
		{"PERFILE2\x11\0\0\0\0\0\0\0", 16, "header of 17 bytes"},
		{"PERFILE2\x68\0\0\0\0\0\0\0", 16, "ends within its header"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		struct perf_data *data = try_bytes((const u8 *)cases[i].bytes, cases[i].size, &message);

		cr_assert_null(data);
		cr_expect_not_null(strstr(message, cases[i].says), "%s: %s", cases[i].says, message);
	}
}

Test(perf_data, the_oldest_header)
{
	struct writer *writer = writer_new(WRITER_FILE_UNFINISHED, 64);
	size_t event = writer_event(writer, &load_event);
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t size;

	write_numbered(writer, event, 0);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	memcpy(bytes, "PERFFILE", 8);
	data = try_bytes(bytes, size, &message);
	cr_assert_not_null(data, "%s", message);
	expect_samples(data, MEMORY_FIELDS, 1);
	perf_data_free(data);
}

/* Each word of the header, and each of the data, is set to what a length or a place must not be. */
Test(perf_data, hostile_words_are_errors_or_harmless)
{
	static const u64 hostile[] = {0,          1,          7,          0xffff,           0x7fffffff,
				      0xffffffff, 1ULL << 32, 1ULL << 40, (1ULL << 63) - 1, 1ULL << 63,
				      ~0ULL - 7,  ~0ULL};
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};
	size_t refused = 0;

	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++) {
		struct writer_event event = load_event;
		struct writer *writer = writer_new(layouts[l], 0);
		_cleanup_free_ u8 *bytes = NULL;
		size_t size;

		event.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK |
				     PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW | PERF_SAMPLE_AUX |
				     PERF_SAMPLE_READ;
		event.read_format = PERF_FORMAT_GROUP;
		writer_cpuid(writer, "GenuineIntel,6,85,4");
		writer_pmu(writer, 4, "cpu");
		(void)writer_event(writer, &event);
		writer_comm(writer, 0, 1, 1, 1, "comm");
		writer_cgroup(writer, 0, 1, 1, "/a");
		write_numbered(writer, 0, 0);
		bytes = writer_finish(writer, &size);
		writer_free(writer);

		for (size_t at = 0; at + sizeof(u64) <= size; at += 4)
			for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
				_cleanup_free_ char *message = NULL;
				struct perf_data_record record;
				struct perf_data *data;
				u64 before;
				size_t n = 0;
				int r = 0;

				memcpy(&before, bytes + at, sizeof(before));
				memcpy(bytes + at, &hostile[i], sizeof(u64));
				data = try_bytes(bytes, size, &message);
				while (data && (r = perf_data_next(data, &record)) > 0)
					cr_assert_lt(n++, 64, "more records than could be in it");
				cr_assert(r == 0 || r == -EBADMSG, "%d", r);
				refused += !data || r < 0;
				perf_data_free(data);
				memcpy(bytes + at, &before, sizeof(before));
			}
	}
	cr_expect_gt(refused, 100);
}

Test(perf_data, lengths_that_leave_a_sample_are_refused)
{
	struct writer_event event = load_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;
	u64 words[12] = {};

	event.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT;
	(void)writer_event(writer, &event);
	words[0] = 1ULL << 61; /* times 8 is 0 */
	writer_record(writer, PERF_RECORD_SAMPLE, words, sizeof(words));
	data = open_written(writer, BY_FILE);
	cr_expect_eq(perf_data_next(data, &record), -EBADMSG);
	cr_expect_not_null(strstr(perf_data_message(data), "not as long as its event says"));
	perf_data_free(data);
}

/* The ids of the one event lie where only a file can be read: far behind the data. */
Test(perf_data, a_head_that_is_out_of_reach)
{
	static const char *const says[] = {"ends within its header", "a pipe can not reach"};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	const size_t place = 104 + sizeof(load_ids) + sizeof(struct perf_event_attr);
	_cleanup_free_ u8 *bytes = NULL;
	u64 far;
	size_t size;

	(void)writer_event(writer, &load_event);
	write_numbered(writer, 0, 0);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	memcpy(&far, bytes + place, sizeof(far));
	cr_assert_eq(far, 104);
	far = 1 << 20;
	memcpy(bytes + place, &far, sizeof(far));
	for (enum way way = BY_FILE; way <= BY_PIPE; way++) {
		_cleanup_free_ char *message = NULL;
		struct perf_data *data = NULL;

		cr_expect_eq(perf_data_open(offer(bytes, size, way), &data, &message), -EBADMSG);
		cr_assert_not_null(message);
		cr_expect_not_null(strstr(message, says[way]), "%s", message);
	}
}

Test(perf_data, directories_and_closed_descriptors)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_free_ char *closed = NULL;
	struct perf_data *data = NULL;

	cr_expect_eq(perf_data_open(open("/", O_RDONLY | O_CLOEXEC), &data, &directory), -EBADMSG);
	cr_expect_not_null(strstr(directory, "is a directory"));
	cr_expect_eq(perf_data_open(-1, &data, &closed), -EBADF);
	cr_expect_not_null(strstr(closed, "Bad file descriptor"));
}
