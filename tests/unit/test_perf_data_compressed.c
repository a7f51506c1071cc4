// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "numbered.h"
#include "offer.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

Test(perf_data, compressed_records_are_read)
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
		size_t event = writer_event(writer, &numbered_event);
		struct perf_data *data;

		numbered_write(writer, event, 0);
		writer_begin_compressed(writer);
		for (u64 n = 1; n < 9000; n++)
			numbered_write(writer, event, n);
		writer_end_compressed(writer, cases[i].type, cases[i].piece);
		writer_round(writer);
		/* The stream continues. So may a record that the last piece of the stream left incomplete. */
		writer_begin_compressed(writer);
		for (u64 n = 9000; n < 9100; n++)
			numbered_write(writer, event, n);
		writer_end_compressed(writer, cases[i].type, cases[i].piece);
		numbered_write(writer, event, 9100);
		data = offer_written(writer, OFFER_FILE);
		numbered_expect_all(data, NUMBERED_FIELDS, 9101);
		perf_data_free(data);
	}
}

Test(perf_data, a_record_can_span_two_compressed_ones)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &numbered_event);
	struct writer *scratch = writer_new(WRITER_PIPE, 0);
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t whole;
	const u8 *sample;
	size_t size;

	/* The bytes of one sample are the difference between two recordings, with and without it. */
	(void)writer_event(scratch, &numbered_event);
	free(writer_finish(scratch, &whole));
	numbered_write(scratch, 0, 0);
	bytes = writer_finish(scratch, &size);
	writer_free(scratch);
	sample = bytes + whole;
	size -= whole;

	writer_begin_compressed(writer);
	writer_bytes(writer, sample, 5);
	writer_end_compressed(writer, WRITER_COMPRESSED, 1000);
	writer_begin_compressed(writer);
	writer_bytes(writer, sample + 5, size - 5);
	numbered_write(writer, event, 1);
	writer_end_compressed(writer, WRITER_COMPRESSED2, 1000);
	data = offer_written(writer, OFFER_FILE);
	numbered_expect_all(data, NUMBERED_FIELDS, 2);
	perf_data_free(data);
}

Test(perf_data, damaged_compression_is_an_error)
{
	static const u8 garbage[64] = {0xde, 0xad};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct perf_data_record record;
	struct perf_data *data;

	(void)writer_event(writer, &numbered_event);
	writer_record(writer, WRITER_COMPRESSED, garbage, sizeof(garbage));
	data = offer_written(writer, OFFER_FILE);
	cr_expect_eq(perf_data_next(data, &record), -EBADMSG);
	cr_expect_not_null(strstr(perf_data_message(data), "compressed"));
	perf_data_free(data);
}
