// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "numbered.h"
#include "offer.h"
#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

static const u64 store_ids[] = {21};

Test(perf_data, both_layouts_are_read_from_file_and_pipe)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE, WRITER_FILE_UNFINISHED};

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		for (enum offer_way way = OFFER_FILE; way <= OFFER_PIPE; way++) {
			struct writer *writer = writer_new(layouts[i], 0);
			size_t event = writer_event(writer, &numbered_event);
			struct perf_data *data;

			for (u64 n = 0; n < 5000; n++)
				numbered_write(writer, event, n);
			data = offer_written(writer, way);
			cr_expect_eq(perf_data_unfinished(data), layouts[i] == WRITER_FILE_UNFINISHED);
			numbered_expect_all(data, NUMBERED_FIELDS, 5000);
			perf_data_free(data);
		}
}

Test(perf_data, names_and_machine_come_from_features)
{
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct writer *writer = writer_new(layouts[i], 0);
		struct writer_event updated = numbered_event;
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
		event = writer_event(writer, &numbered_event);
		(void)writer_event(writer, &updated);
		numbered_write(writer, event, 0);
		data = offer_written(writer, OFFER_FILE);
		cr_assert(numbered_next(data, &record));
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

Test(perf_data, missing_features_of_a_pipe_are_accepted)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t event = writer_event(writer, &numbered_event);
	struct perf_data_record record;
	struct perf_data *data;

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	numbered_write(writer, event, 0);
	data = offer_written(writer, OFFER_PIPE);
	cr_assert(numbered_next(data, &record));
	cr_expect_null(perf_data_events(data)->cpuid);
	cr_expect_null(perf_data_events(data)->list[0].name);
	cr_expect_not(numbered_next(data, &record));
	perf_data_free(data);
}

Test(perf_data, shorter_and_longer_attributes_of_other_perfs_are_read)
{
	static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 1024};
	static const enum writer_layout layouts[] = {WRITER_FILE, WRITER_PIPE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(layouts); j++) {
			struct writer *writer = writer_new(layouts[j], sizes[i]);
			size_t event = writer_event(writer, &numbered_event);
			struct perf_data *data;

			numbered_write(writer, event, 0);
			numbered_write(writer, event, 1);
			data = offer_written(writer, OFFER_FILE);
			numbered_expect_all(data, NUMBERED_FIELDS, 2);
			perf_data_free(data);
		}
}
