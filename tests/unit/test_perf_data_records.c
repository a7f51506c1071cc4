// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <string.h>

#include "numbered.h"
#include "offer.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

static const u64 store_ids[] = {21};

/* The second event has another layout, and only the id says to which event a sample belongs. */
static void expect_told_apart(u64 id_field)
{
	const u64 plain_fields =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | id_field;
	struct writer_event loads = numbered_event;
	struct writer_event other = {.type = PERF_TYPE_SOFTWARE, .config = 3, .ids = store_ids, .n_ids = 1};
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct writer_sample second = numbered_sample(1);
	struct writer_sample stranger = numbered_sample(2);
	struct perf_data_record record;
	struct perf_data *data;

	loads.sample_type = (NUMBERED_FIELDS & ~(u64)PERF_SAMPLE_ID) | id_field;
	other.sample_type = plain_fields;
	(void)writer_event(writer, &loads);
	(void)writer_event(writer, &other);
	numbered_write(writer, 0, 0);
	numbered_write(writer, 1, 0);
	second.id = numbered_event.ids[1];
	writer_sample(writer, 0, &second);
	stranger.id = 99;
	writer_sample(writer, 0, &stranger);

	data = offer_written(writer, OFFER_FILE);
	cr_assert(numbered_next(data, &record));
	cr_expect_eq(record.event, 0);
	numbered_expect(&record, loads.sample_type, 0);
	cr_assert(numbered_next(data, &record));
	cr_expect_eq(record.event, 1);
	numbered_expect(&record, plain_fields, 0);
	cr_assert(numbered_next(data, &record));
	cr_expect_eq(record.event, 0);
	numbered_expect(&record, loads.sample_type, 1);
	cr_assert(numbered_next(data, &record));
	cr_expect_eq(record.event, -1);
	cr_expect_eq(record.sample.sample_type, 0);
	perf_data_free(data);
}

Test(perf_data, ids_distinguish_events)
{
	expect_told_apart(PERF_SAMPLE_ID);
	expect_told_apart(PERF_SAMPLE_IDENTIFIER);
}

Test(perf_data, without_ids_the_event_is_not_guessed)
{
	struct writer_event event = numbered_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	event.sample_type &= ~(u64)PERF_SAMPLE_ID;
	(void)writer_event(writer, &event);
	(void)writer_event(writer, &event);
	numbered_write(writer, 0, 0);
	data = offer_written(writer, OFFER_FILE);
	cr_assert(numbered_next(data, &record));
	cr_expect_eq(record.event, -1);
	perf_data_free(data);
}

Test(perf_data, records_of_tasks_and_cgroups_are_read)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &numbered_event);
	struct perf_data_record record;
	struct perf_data *data;

	writer_comm(writer, event, 501, 10, 11, "postgres");
	writer_fork(writer, event, 502, 12, 11);
	writer_cgroup(writer, event, 0, 77, "/system.slice");
	writer_lost(writer, event, 503, 9);
	writer_lost_samples(writer, event, 503, 5);
	writer_lost_samples(writer, event, 0, 10);
	writer_filtered(writer, event, 1);
	writer_round(writer);
	writer_exit(writer, event, 504, 12);
	data = offer_written(writer, OFFER_FILE);

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
	cr_expect_not(record.timed); /* perf synthesized it */
	cr_expect_eq(record.cgroup.id, 77);
	cr_expect_eq(record.cgroup.length, strlen("/system.slice"));
	cr_expect_eq(memcmp(record.cgroup.path, "/system.slice", record.cgroup.length), 0);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_LOST);
	cr_expect_eq(record.lost, 9);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_LOST_SAMPLES);
	cr_expect_eq(record.lost, 5);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_LOST_TOTAL); /* perf synthesized it */
	cr_expect_eq(record.lost, 10);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_OTHER);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_ROUND);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.kind, PERF_DATA_OTHER);
	cr_expect_eq(perf_data_next(data, &record), 0);
	perf_data_free(data);
}

Test(perf_data, trailers_of_several_events_are_distinguished_by_id)
{
	struct writer_event other = numbered_event;
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	other.ids = store_ids;
	other.n_ids = 1;
	other.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IP;
	(void)writer_event(writer, &numbered_event);
	(void)writer_event(writer, &other);
	writer_comm(writer, 0, 601, 1, 1, "a");
	writer_comm(writer, 1, 602, 1, 1, "a");
	data = offer_written(writer, OFFER_FILE);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.time, 601);
	cr_assert_eq(perf_data_next(data, &record), 1);
	cr_expect_eq(record.time, 602);
	perf_data_free(data);
}

/* The payload after a record is not a record. A reader that does not skip it takes its bytes for samples. */
Test(perf_data, payloads_after_records_are_skipped)
{
	for (enum offer_way way = OFFER_FILE; way <= OFFER_PIPE; way++) {
		struct writer *writer = writer_new(WRITER_PIPE, 0);
		size_t event = writer_event(writer, &numbered_event);
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
		numbered_write(writer, event, 0);
		writer_record(writer, WRITER_AUXTRACE, &auxtrace, sizeof(auxtrace));
		writer_bytes(writer, payload, 4096);
		numbered_write(writer, event, 1);
		writer_record(writer, WRITER_TRACING_DATA, &tracing_data, sizeof(tracing_data));
		writer_bytes(writer, payload, 1024);
		numbered_write(writer, event, 2);
		writer_record(writer, WRITER_BUILD_ID, payload, 64);
		numbered_write(writer, event, 3);
		data = offer_written(writer, way);
		numbered_expect_all(data, NUMBERED_FIELDS, 4);
		perf_data_free(data);
	}
}
