// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "recorded.h"
#include "replayed.h"

TestSuite(replay, .fini = replayed_clear);

Test(replay, samples_are_delivered_as_recorded)
{
	struct writer_event event = recorded_event;
	struct writer_sample sample = recorded_sample(5, 100);
	struct writer *writer;

	event.sample_type |= PERF_SAMPLE_PERIOD;
	writer = recorded_writer("GenuineIntel,6,85,4", &event);
	sample.period = 313;
	writer_sample(writer, 0, &sample);
	sample.time = 200;
	sample.weight = 0; /* no latency */
	writer_sample(writer, 0, &sample);
	writer_lost(writer, 0, 201, 12);
	replayed.replay = recorded_open(writer);
	cr_assert_eq(replayed_all(1), 0);
	cr_assert_eq(replayed.n, 2);
	cr_expect_eq(replayed.samples[0].latency, 77);
	cr_expect_eq(replayed.samples[0].address, 0x1000);
	cr_expect_eq(replayed.samples[0].data_source, RECORDED_L1_HIT);
	cr_expect_eq(replayed.samples[0].period, 313);
	cr_expect_eq(replayed.samples[0].event, 0);
	cr_expect_eq(replayed.samples[0].fields, SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	cr_expect_eq(replayed.samples[1].fields, SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.report.samples, 2);
	cr_expect_eq(replayed.report.records, 3);
	cr_expect_eq(replayed.report.left_out.lost, 12);
	cr_expect(replayed.report.time_known);
	cr_expect_eq(replayed.report.first_time, 100);
	cr_expect_eq(replayed.report.last_time, 200);
	cr_expect_null(replayed.report.cut);
	replayed_expect_note(0, "12 records are missing (samples or others)");
	replayed_expect_note(1, NULL);
}

/* The LOST records of this recording report 15 lost records. perf's totals include these, and two later ones. */
Test(replay, totals_of_lost_samples_include_the_lost_records)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	recorded_load(writer, 0, 1, 200);
	writer_lost(writer, 0, 201, 12);
	writer_lost(writer, 0, 202, 3);
	writer_lost_samples(writer, 0, 203, 5); /* of the kernel: not in the totals */
	writer_lost_samples(writer, 0, 0, 13);
	writer_lost_samples(writer, 0, 0, 4);
	replayed.replay = recorded_open(writer);
	cr_assert_eq(replayed_all(1), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.report.left_out.lost, 22);
	replayed_expect_note(0, "22 records are missing");
}

Test(replay, samples_dropped_by_a_filter_are_not_lost)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	recorded_load(writer, 0, 1, 200);
	writer_filtered(writer, 0, 1000);
	replayed.replay = recorded_open(writer);
	cr_assert_eq(replayed_all(1), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.report.left_out.lost, 0);
	replayed_expect_note(0, NULL);
}

Test(replay, the_instruction_address_is_delivered_if_recorded)
{
	for (int recorded = 0; recorded < 2; recorded++) {
		struct writer_event event = recorded_event;
		struct writer_sample sample = recorded_sample(5, 100);
		struct writer *writer;
		size_t n;

		if (recorded)
			event.sample_type |= PERF_SAMPLE_IP;
		writer = recorded_writer("GenuineIntel,6,85,4", &event);
		sample.code_address = 0xffffffff81234567;
		writer_sample(writer, 0, &sample);
		replayed.replay = recorded_open(writer);
		cr_assert_eq(replayed_all(1), 0);
		cr_assert_eq(replayed.n, 1);
		cr_expect_eq(replay_events(replayed.replay, &n)[0].settings.has_code_address, recorded);
		cr_expect_eq((replayed.samples[0].fields & SAMPLE_CODE_ADDRESS) != 0, recorded);
		cr_expect_eq(replayed.samples[0].code_address, recorded ? 0xffffffff81234567 : 0);
		cr_expect_eq(replayed.samples[0].address, 0x1000);
		replayed_clear();
	}
}

Test(replay, the_period_is_that_of_the_sample_or_the_event_or_unknown)
{
	struct writer_event events[] = {recorded_event, recorded_event};
	static const u64 expected[] = {1009, 0};

	events[1].freq = true;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &events[i]);
		size_t n;

		recorded_load(writer, 0, 1, 1);
		replayed_run(recorded_open(writer));
		cr_assert_eq(replayed.n, 1);
		cr_expect_eq(replayed.samples[0].period, expected[i]);
		cr_expect_eq(replay_events(replayed.replay, &n)[0].period, expected[i]);
		replayed_clear();
	}
}

Test(replay, weight_struct_is_read_in_parts)
{
	struct writer_event event = recorded_event;
	struct writer_sample sample = recorded_sample(1, 1);
	const struct event *events;
	struct writer *writer;
	size_t n;

	event.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
	event.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
	writer = recorded_writer("GenuineIntel,6,151,2", &event);
	sample.weight = 0x2100000005; /* Alder Lake: 5 cycles of cache access, 33 since dispatch */
	writer_sample(writer, 0, &sample);
	replayed.replay = recorded_open(writer);
	events = replay_events(replayed.replay, &n);
	cr_assert_eq(n, 1);
	cr_expect_eq(events[0].latency_kind, LATENCY_CACHE);
	cr_expect(events[0].settings.has_instruction_latency);
	cr_expect(events[0].settings.weight_struct);
	cr_assert_eq(replayed_all(100), 0);
	cr_expect_eq(replayed.samples[0].latency, 5);
	cr_expect_eq(replayed.samples[0].instruction_latency, 33);
	cr_expect(replayed.samples[0].fields & SAMPLE_INSTRUCTION_LATENCY);
}
