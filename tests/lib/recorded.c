// SPDX-License-Identifier: GPL-2.0
#include "recorded.h"

#include <criterion/criterion.h>

#include <stdio.h>

#include "base/cleanup.h"

static const u64 load_ids[] = {1, 2};

const struct writer_event recorded_event = {
	.type = PERF_TYPE_RAW,
	.config = 0x1cd,
	.config1 = 30,
	.period = 1009,
	.sample_type = RECORDED_FIELDS,
	.name = "cpu/mem-loads,ldlat=30/P",
	.ids = load_ids,
	.n_ids = ARRAY_SIZE(load_ids),
};

struct recorded recorded_finish(struct writer *writer)
{
	_cleanup_free_ u8 *bytes = NULL;
	struct recorded file;
	size_t size;

	bytes = writer_finish(writer, &size);
	writer_free(writer);
	file.fd = writer_memfd(bytes, size);
	(void)snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

struct replay *recorded_open_all(const struct recorded *files, size_t n)
{
	_cleanup_free_ char *message = NULL;
	struct replay *replay = NULL;
	const char *paths[4];

	for (size_t i = 0; i < n; i++)
		paths[i] = files[i].path;
	cr_assert_eq(replay_open(paths, n, &replay, &message), 0, "%s", message);
	return replay;
}

struct replay *recorded_open(struct writer *writer)
{
	struct recorded file = recorded_finish(writer);

	return recorded_open_all(&file, 1);
}

struct writer_sample recorded_sample(u32 tid, u64 time)
{
	return (struct writer_sample){.pid = tid,
				      .tid = tid,
				      .time = time,
				      .address = 0x1000,
				      .weight = 77,
				      .data_source = RECORDED_L1_HIT};
}

void recorded_load(struct writer *writer, size_t event, u32 tid, u64 time)
{
	struct writer_sample sample = recorded_sample(tid, time);

	writer_sample(writer, event, &sample);
}

struct writer *recorded_writer(const char *cpuid, const struct writer_event *event)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);

	writer_cpuid(writer, cpuid);
	(void)writer_event(writer, event);
	return writer;
}
