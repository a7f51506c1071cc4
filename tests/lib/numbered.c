// SPDX-License-Identifier: GPL-2.0
#include "numbered.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

static const u64 load_ids[] = {11, 12};

const struct writer_event numbered_event = {
	.type = PERF_TYPE_RAW,
	.config = 0x1cd,
	.config1 = 30,
	.period = 1009,
	.sample_type = NUMBERED_FIELDS,
	.name = "cpu/mem-loads/P",
	.ids = load_ids,
	.n_ids = ARRAY_SIZE(load_ids),
};

struct writer_sample numbered_sample(u64 n)
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

void numbered_write(struct writer *writer, size_t event, u64 n)
{
	struct writer_sample sample = numbered_sample(n);

	writer_sample(writer, event, &sample);
}

bool numbered_next(struct perf_data *data, struct perf_data_record *ret)
{
	int r;

	while ((r = perf_data_next(data, ret)) > 0)
		if (ret->kind == PERF_DATA_SAMPLE)
			return true;
	cr_assert_eq(r, 0, "%s", perf_data_message(data));
	return false;
}

void numbered_expect(const struct perf_data_record *record, u64 sample_type, u64 n)
{
	struct writer_sample sample = numbered_sample(n);

	cr_expect_eq(record->sample.sample_type, sample_type);
	cr_expect_eq(record->sample.tid, sample_type & PERF_SAMPLE_TID ? sample.tid : 0);
	cr_expect_eq(record->time, sample_type & PERF_SAMPLE_TIME ? sample.time : 0);
	cr_expect_eq(record->sample.address, sample_type & PERF_SAMPLE_ADDR ? sample.address : 0);
	cr_expect_eq(record->sample.period, sample_type & PERF_SAMPLE_PERIOD ? sample.period : 0);
	cr_expect_eq(record->sample.weight, sample_type & PERF_SAMPLE_WEIGHT_TYPE ? sample.weight : 0);
	cr_expect_eq(record->sample.data_source, sample_type & PERF_SAMPLE_DATA_SRC ? sample.data_source : 0);
	cr_expect_eq(record->sample.cgroup_id, sample_type & PERF_SAMPLE_CGROUP ? sample.cgroup_id : 0);
}

void numbered_expect_all(struct perf_data *data, u64 sample_type, u64 n)
{
	struct perf_data_record record;
	u64 position;

	for (u64 i = 0; i < n; i++) {
		cr_assert(numbered_next(data, &record), "sample %llu of %llu", (unsigned long long)i,
			  (unsigned long long)n);
		cr_expect_eq(record.event, 0);
		numbered_expect(&record, sample_type, i);
	}
	cr_expect_not(numbered_next(data, &record));
	cr_expect_not(perf_data_cut(data, &position));
}
