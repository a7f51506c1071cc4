// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "recorded.h"
#include "replayed.h"

static const u64 first_ids[] = {1};
static const u64 second_ids[] = {3};

TestSuite(replay, .fini = replayed_clear);

Test(replay, other_events_are_left_out_and_counted)
{
	static const struct writer_event dummy = {.type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_DUMMY,
						  /* perf record -d -W sets these fields for every event */
						  .sample_type = RECORDED_FIELDS,
						  .ids = second_ids,
						  .n_ids = 1};
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	struct writer_sample stranger = recorded_sample(1, 5);

	(void)writer_event(writer, &dummy);
	recorded_load(writer, 0, 1, 1);
	recorded_load(writer, 1, 1, 2);
	recorded_load(writer, 1, 1, 3);
	stranger.id = 99;
	writer_sample(writer, 0, &stranger);
	replayed_run(recorded_open(writer));
	cr_expect_eq(replayed.n, 1);
	cr_expect_eq(replayed.report.samples, 1);
	cr_expect_eq(replayed.report.left_out.other_events, 2);
	cr_expect_eq(replayed.report.left_out.unknown_event, 1);
	replayed_expect_note(
		0,
		": 2 samples are left out: only events of loads, stores, cycles, instructions, stalls and misses count");
	replayed_expect_note(1, ": 1 sample is left out");
	replayed_expect_note(2, NULL);
}

Test(replay, figures_of_another_threshold_are_not_mixed_in)
{
	struct writer_event other = recorded_event;
	struct recorded files[3];
	size_t n;

	other.config1 = 64;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer =
			recorded_writer("GenuineIntel,6,85,4", i == 1 ? &other : &recorded_event);

		recorded_load(writer, 0, 1, 1);
		recorded_load(writer, 0, 1, 2);
		files[i] = recorded_finish(writer);
	}
	replayed.replay = recorded_open_all(files, ARRAY_SIZE(files));
	cr_expect_eq(replay_events(replayed.replay, &n)[0].ldlat, 30);
	cr_expect_eq(n, 1);
	cr_assert_eq(replayed_all(100), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.n, 4);
	cr_expect_eq(replayed.report.left_out.not_mixed, 2);
	replayed_expect_note(0, files[1].path);
	replayed_expect_note(0, "replay each separately");
	replayed_expect_note(1, NULL);
}

/* Anyone can choose the name, which appears on terminals and in logs. A file may have thousands of events. */
Test(replay, notes_of_events_are_visible_and_few)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	u64 ids[100];
	size_t n = 0;

	for (u64 i = 0; i < ARRAY_SIZE(ids); i++) {
		struct writer_event other = recorded_event;
		struct writer_sample sample = recorded_sample(1, i + 1);

		other.config1 = 64 + i;
		other.name = "evil\033]0;owned\a";
		ids[i] = 100 + i;
		other.ids = &ids[i];
		other.n_ids = 1;
		writer_sample(writer, writer_event(writer, &other), &sample);
	}
	replayed_run(recorded_open(writer));
	cr_expect_eq(replayed.report.left_out.not_mixed, 100);
	for (; replayed.report.notes[n]; n++)
		cr_expect_null(strchr(replayed.report.notes[n], '\033'), "%s", replayed.report.notes[n]);
	cr_expect_geq(n, 2);
	cr_expect_leq(n, 20);
	replayed_expect_note(0, "evil\\x1b]0;owned");
	replayed_expect_note(n - 1, "84 samples of further events");
}

Test(replay, pmus_without_names_are_not_mixed)
{
	struct writer_event events[] = {recorded_event, recorded_event};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	size_t n;

	events[0].type = 10;
	events[1].type = 11;
	events[1].ids = second_ids;
	events[1].n_ids = 1;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		(void)writer_event(writer, &events[i]);
	recorded_load(writer, 0, 1, 1);
	recorded_load(writer, 1, 1, 2);
	replayed.replay = recorded_open(writer);
	cr_expect_str_eq(replay_events(replayed.replay, &n)[0].pmu, "");
	cr_expect_eq(n, 1);
	cr_assert_eq(replayed_all(100), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_eq(replayed.report.left_out.not_mixed, 1);
}

Test(replay, ibs_samples_other_than_loads_are_left_out)
{
	static const struct writer_event ibs = {.type = 10,
						.period = 100000,
						.sample_type = RECORDED_FIELDS,
						.name = "ibs_op//",
						.ids = first_ids,
						.n_ids = 1};
	struct writer *writer = recorded_writer("AuthenticAMD,25,17,1", &ibs);
	static const u64 sources[] = {0x49080142, 0x229080144, 0x5080021};
	size_t n;

	writer_pmu(writer, 10, "ibs_op");
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct writer_sample sample = recorded_sample(1, i + 1);

		sample.data_source = sources[i];
		writer_sample(writer, 0, &sample);
	}
	replayed.replay = recorded_open(writer);
	cr_expect_eq(replay_events(replayed.replay, &n)[0].latency_kind, LATENCY_DC_MISS);
	cr_expect_str_eq(replay_events(replayed.replay, &n)[0].pmu, "ibs_op");
	cr_assert_eq(replayed_all(100), 0);
	replay_report(replayed.replay, &replayed.report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_eq(replayed.report.left_out.other_operations, 2);
}

Test(replay, an_event_described_after_the_first_sample_is_left_out)
{
	struct writer_event attrs = recorded_event;
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct perf_event_attr late = {.type = PERF_TYPE_RAW,
				       .size = sizeof(late),
				       .config = 0x2cd,
				       .sample_type = RECORDED_FIELDS,
				       .sample_id_all = 1};
	struct {
		struct perf_event_attr attr;
		u64 id;
	} body = {.attr = late, .id = 7};
	struct writer_sample sample = recorded_sample(1, 3);

	(void)writer_event(writer, &attrs);
	recorded_load(writer, 0, 1, 1);
	writer_record(writer, 64, &body, sizeof(body));
	recorded_load(writer, 0, 1, 2);
	sample.id = 7;
	writer_sample(writer, 0, &sample);
	replayed_run(recorded_open(writer));
	cr_expect_eq(replayed.n, 2);
	cr_expect_eq(replayed.report.left_out.late, 1);
	cr_expect_eq(replayed.report.left_out.unknown_event, 0);
	cr_expect_not_null(replayed.report.notes[0]);
}

Test(replay, an_ambiguous_sample_is_left_out_and_counted)
{
	struct writer_event event = recorded_event;
	struct writer_sample sample = recorded_sample(1, 1);
	struct writer *writer;
	u64 body[] = {1, 1, 1, 0x1000, 0, 77, RECORDED_L1_HIT, 5};

	event.sample_type |= PERF_SAMPLE_BRANCH_STACK | 1ULL << 40;
	event.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	writer = recorded_writer("GenuineIntel,6,85,4", &event);
	writer_record(writer, PERF_RECORD_SAMPLE, body, sizeof(body));
	sample.branches = 2;
	writer_sample(writer, 0, &sample);
	replayed_run(recorded_open(writer));
	cr_assert_eq(replayed.n, 1);
	cr_expect_eq(replayed.samples[0].latency, 77);
	cr_expect_eq(replayed.report.left_out.unreadable, 1);
}
