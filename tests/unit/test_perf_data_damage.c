// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "numbered.h"
#include "offer.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

/*
 * Opens `size` bytes. If that fails, the error must be about the content, and the message must say what to
 * do.
 */
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

Test(perf_data, a_file_cut_at_any_byte_is_read_or_refused)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++) {
		struct writer *writer = writer_new(layouts[l], 0);
		size_t event = writer_event(writer, &numbered_event);
		_cleanup_free_ u8 *bytes = NULL;
		u64 most = 0;
		size_t size;

		writer_cpuid(writer, "GenuineIntel,6,85,4");
		writer_comm(writer, event, 1, 1, 1, "comm");
		for (u64 n = 0; n < 4; n++)
			numbered_write(writer, event, n);
		writer_begin_compressed(writer);
		for (u64 n = 4; n < 8; n++)
			numbered_write(writer, event, n);
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
			while (numbered_next(data, &record))
				numbered_expect(&record, NUMBERED_FIELDS, n++);
			cr_expect_geq(n, most, "a longer piece has no fewer samples");
			most = n;
			/* In a pipe, a cut between two records looks like the end. */
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

Test(perf_data, other_files_are_refused_with_a_reason)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *says;
	} cases[] = {
		{"", 0, "is empty"},
		{"PERF", 4, "too short"},
		{"# comm: a text file, and long enough", 36, "is not a perf.data recording"},
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

Test(perf_data, the_oldest_header_is_read)
{
	struct writer *writer = writer_new(WRITER_FILE_UNFINISHED, 64);
	size_t event = writer_event(writer, &numbered_event);
	_cleanup_free_ char *message = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	struct perf_data *data;
	size_t size;

	numbered_write(writer, event, 0);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	memcpy(bytes, "PERFFILE", 8);
	data = try_bytes(bytes, size, &message);
	cr_assert_not_null(data, "%s", message);
	numbered_expect_all(data, NUMBERED_FIELDS, 1);
	perf_data_free(data);
}

/* Sets each word of the recording to extreme lengths and positions. */
Test(perf_data, hostile_values_are_refused_or_harmless)
{
	static const u64 hostile[] = {0,          1,          7,          0xffff,           0x7fffffff,
				      0xffffffff, 1ULL << 32, 1ULL << 40, (1ULL << 63) - 1, 1ULL << 63,
				      ~0ULL - 7,  ~0ULL};
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};
	size_t refused = 0;

	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++) {
		struct writer_event event = numbered_event;
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
		numbered_write(writer, 0, 0);
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

/*
 * The ids of the only event lie far after the data: beyond the end of the file, and out of reach in a pipe.
 */
Test(perf_data, a_header_that_points_beyond_the_file_is_refused)
{
	static const char *const says[] = {"ends within its header", "a pipe cannot reach"};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	const size_t place = 104 + numbered_event.n_ids * sizeof(u64) + sizeof(struct perf_event_attr);
	_cleanup_free_ u8 *bytes = NULL;
	u64 far;
	size_t size;

	(void)writer_event(writer, &numbered_event);
	numbered_write(writer, 0, 0);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	memcpy(&far, bytes + place, sizeof(far));
	cr_assert_eq(far, 104);
	far = 1 << 20;
	memcpy(bytes + place, &far, sizeof(far));
	for (enum offer_way way = OFFER_FILE; way <= OFFER_PIPE; way++) {
		_cleanup_free_ char *message = NULL;
		struct perf_data *data = NULL;

		cr_expect_eq(perf_data_open(offer_bytes(bytes, size, way), &data, &message), -EBADMSG);
		cr_assert_not_null(message);
		cr_expect_not_null(strstr(message, says[way]), "%s", message);
	}
}

Test(perf_data, directories_and_closed_descriptors_are_refused)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_free_ char *closed = NULL;
	struct perf_data *data = NULL;

	cr_expect_eq(perf_data_open(open("/", O_RDONLY | O_CLOEXEC), &data, &directory), -EBADMSG);
	cr_expect_not_null(strstr(directory, "is a directory"));
	cr_expect_eq(perf_data_open(-1, &data, &closed), -EBADF);
	cr_expect_not_null(strstr(closed, "Bad file descriptor"));
}
