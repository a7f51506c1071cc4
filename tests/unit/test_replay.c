// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "origin/replay/replay_event.h"
#include "origin/replay/replay_names.h"
#include "origin/replay/replay_queue.h"
#include "origin/replay/replay_sum.h"
#include "perf_data_writer.h"
#include "replayed.h"

#define L1_HIT 0x10268100142ULL

#define LOAD_FIELDS                                                                       \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

static const u64 first_ids[] = {1, 2};
static const u64 second_ids[] = {3};

static const struct writer_event load_event = {
	.type = PERF_TYPE_RAW,
	.config = 0x1cd,
	.config1 = 30,
	.period = 1009,
	.sample_type = LOAD_FIELDS,
	.name = "cpu/mem-loads,ldlat=30/P",
	.ids = first_ids,
	.n_ids = ARRAY_SIZE(first_ids),
};

/* A recording under a path, kept open for as long as the test runs. */
struct file {
	int fd;
	char path[64];
};

/* Frees the writer. */
static struct file finish(struct writer *writer)
{
	_cleanup_free_ u8 *bytes = NULL;
	struct file file;
	size_t size;

	bytes = writer_finish(writer, &size);
	writer_free(writer);
	file.fd = writer_memfd(bytes, size);
	(void)snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

static struct replay *open_files(const struct file *files, size_t n)
{
	_cleanup_free_ char *message = NULL;
	struct replay *replay = NULL;
	const char *paths[4];

	for (size_t i = 0; i < n; i++)
		paths[i] = files[i].path;
	cr_assert_eq(replay_open(paths, n, &replay, &message), 0, "%s", message);
	return replay;
}

static struct replay *open_file(struct writer *writer)
{
	struct file file = finish(writer);

	return open_files(&file, 1);
}

static struct writer_sample sample_of(u32 tid, u64 time)
{
	return (struct writer_sample){
		.pid = tid, .tid = tid, .time = time, .address = 0x1000, .weight = 77, .data_source = L1_HIT};
}

static void write_load(struct writer *writer, size_t event, u32 tid, u64 time)
{
	struct writer_sample sample = sample_of(tid, time);

	writer_sample(writer, event, &sample);
}

static struct writer *load_writer(const char *cpuid, const struct writer_event *event)
{
	struct writer *writer = writer_new(WRITER_FILE, 0);

	writer_cpuid(writer, cpuid);
	(void)writer_event(writer, event);
	return writer;
}

static const char *name_of(const struct replayed *replayed, size_t sample)
{
	cr_assert_lt(sample, replayed->n);
	return replayed_name(replayed, replayed->samples[sample].cgroup_id);
}

Test(replay, samples_as_they_were_recorded)
{
	struct writer_event event = load_event;
	struct writer_sample sample = sample_of(5, 100);
	struct replayed replayed = {};
	struct replay_report report;
	struct writer *writer;
	struct replay *replay;

	event.sample_type |= PERF_SAMPLE_PERIOD;
	writer = load_writer("GenuineIntel,6,85,4", &event);
	sample.period = 313;
	writer_sample(writer, 0, &sample);
	sample.time = 200;
	sample.weight = 0; /* no latency */
	writer_sample(writer, 0, &sample);
	writer_lost(writer, 0, 201, 12);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 1), 0);
	cr_assert_eq(replayed.n, 2);
	cr_expect_eq(replayed.samples[0].latency, 77);
	cr_expect_eq(replayed.samples[0].address, 0x1000);
	cr_expect_eq(replayed.samples[0].data_source, L1_HIT);
	cr_expect_eq(replayed.samples[0].period, 313);
	cr_expect_eq(replayed.samples[0].event, 0);
	cr_expect_eq(replayed.samples[0].fields, SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	cr_expect_eq(replayed.samples[1].fields, SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	replay_report(replay, &report);
	cr_expect_eq(report.samples, 2);
	cr_expect_eq(report.records, 3);
	cr_expect_eq(report.left_out.lost, 12);
	cr_expect(report.time_known);
	cr_expect_eq(report.first_time, 100);
	cr_expect_eq(report.last_time, 200);
	cr_expect_null(report.cut);
	cr_assert_not_null(report.notes[0]);
	cr_expect_not_null(strstr(report.notes[0], "12 samples or other records are not in it"));
	cr_expect_null(report.notes[1]);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, the_period_is_the_samples_or_the_fixed_one_or_not_known)
{
	struct writer_event events[] = {load_event, load_event};
	static const u64 expected[] = {1009, 0};

	events[1].freq = true;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct writer *writer = load_writer("GenuineIntel,6,85,4", &events[i]);
		struct replayed replayed = {};
		struct replay *replay;
		size_t n;

		write_load(writer, 0, 1, 1);
		replay = open_file(writer);
		cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
		cr_assert_eq(replayed.n, 1);
		cr_expect_eq(replayed.samples[0].period, expected[i]);
		cr_expect_eq(replay_events(replay, &n)[0].period, expected[i]);
		replayed_clear(&replayed);
		replay_free(replay);
	}
}

Test(replay, weight_struct_is_not_one_number)
{
	struct writer_event event = load_event;
	struct writer_sample sample = sample_of(1, 1);
	struct replayed replayed = {};
	const struct event *events;
	struct writer *writer;
	struct replay *replay;
	size_t n;

	event.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
	event.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
	writer = load_writer("GenuineIntel,6,151,2", &event);
	sample.weight = 0x2100000005; /* Alder Lake: 5 cycles of cache access, 33 from dispatch on */
	writer_sample(writer, 0, &sample);
	replay = open_file(writer);
	events = replay_events(replay, &n);
	cr_assert_eq(n, 1);
	cr_expect_eq(events[0].latency_kind, LATENCY_CACHE);
	cr_expect(events[0].settings.has_instruction_latency);
	cr_expect(events[0].settings.weight_struct);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_eq(replayed.samples[0].latency, 5);
	cr_expect_eq(replayed.samples[0].instruction_latency, 33);
	cr_expect(replayed.samples[0].fields & SAMPLE_INSTRUCTION_LATENCY);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, a_task_goes_by_its_comm_of_that_time)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	static const char *const expected[] = {"comm:swapper", "comm:unknown", "comm:bash", "comm:bash",
					       "comm:cc1",     "comm:bash",    "comm:cc1",  "comm:unknown"};
	struct replayed replayed = {};
	struct replay *replay;

	writer_comm(writer, 0, 0, 10, 10, "bash");
	write_load(writer, 0, 0, 100);
	write_load(writer, 0, 99, 101);
	write_load(writer, 0, 10, 102);
	writer_fork(writer, 0, 103, 11, 10);
	write_load(writer, 0, 11, 104);
	writer_comm(writer, 0, 105, 11, 11, "cc1");
	write_load(writer, 0, 11, 106);
	write_load(writer, 0, 10, 107);
	writer_exit(writer, 0, 108, 11);
	write_load(writer, 0, 11, 109); /* still on its way out */
	writer_fork(writer, 0, 110, 11, 99);
	write_load(writer, 0, 11, 111); /* another task of that number, its parent not known */
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cr_expect_str_eq(name_of(&replayed, i), expected[i], "sample %zu", i);
		cr_expect(replay_synthetic_id(replayed.samples[i].cgroup_id));
	}
	/* Two tasks of one comm are one cgroup, named once. */
	cr_expect_eq(replayed.samples[2].cgroup_id, replayed.samples[3].cgroup_id);
	cr_expect_eq(replayed.n_names, 4);
	replayed_clear(&replayed);
	replay_free(replay);
}

/* Two CPUs' buffers, one written after the other: the comm is behind the sample in the file, and before it in
 * time. What a round has passed is handed over without waiting for the end. */
Test(replay, records_are_put_in_the_order_of_time)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	struct replay_target target = replayed_target(&replayed);
	struct replay *replay;

	writer_comm(writer, 0, 0, 10, 10, "before");
	write_load(writer, 0, 10, 300);
	write_load(writer, 0, 10, 500);
	writer_comm(writer, 0, 400, 10, 10, "after");
	writer_round(writer);
	write_load(writer, 0, 10, 450);
	writer_round(writer);
	write_load(writer, 0, 10, 900);
	replay = open_file(writer);
	cr_assert_eq(replay_step(replay, &target, 4), 1); /* up to the first round */
	cr_expect_eq(replayed.n, 0);
	cr_assert_eq(replay_step(replay, &target, 2), 1);
	cr_expect_eq(replayed.n, 3);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, 4);
	cr_expect_str_eq(name_of(&replayed, 0), "comm:before");
	cr_expect_str_eq(name_of(&replayed, 1), "comm:after");
	cr_expect_str_eq(name_of(&replayed, 2), "comm:after");
	cr_expect_str_eq(name_of(&replayed, 3), "comm:after");
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, without_time_the_order_is_the_files)
{
	struct writer_event event = load_event;
	struct replayed replayed = {};
	struct replay_report report;
	struct writer *writer;
	struct replay *replay;

	event.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	writer = load_writer("GenuineIntel,6,85,4", &event);
	write_load(writer, 0, 10, 0);
	writer_comm(writer, 0, 1, 10, 10, "late");
	write_load(writer, 0, 10, 0);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_str_eq(name_of(&replayed, 0), "comm:unknown");
	cr_expect_str_eq(name_of(&replayed, 1), "comm:late");
	replay_report(replay, &report);
	cr_expect_not(report.time_known);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, recorded_cgroups_by_path_or_by_id)
{
	struct writer_event event = load_event;
	struct replayed replayed = {};
	struct writer *writer;
	struct replay *replay;

	event.sample_type |= PERF_SAMPLE_CGROUP;
	writer = load_writer("GenuineIntel,6,85,4", &event);
	writer_cgroup(writer, 0, 0, 41, "/system.slice/a.service");
	writer_cgroup(writer, 0, 0, 43, "comm:forged");
	for (u64 id = 41; id <= 43; id++) {
		struct writer_sample sample = sample_of(10, 100 + id);

		sample.cgroup_id = id;
		writer_sample(writer, 0, &sample);
	}
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, 3);
	cr_expect_eq(replayed.samples[0].cgroup_id, 41);
	cr_expect_str_eq(name_of(&replayed, 0), "/system.slice/a.service");
	cr_expect_str_eq(name_of(&replayed, 1), "cgroup:42");
	cr_expect_str_eq(name_of(&replayed, 2), "cgroup:43");
	cr_expect_not(replay_synthetic_id(replayed.samples[1].cgroup_id));
	replayed_clear(&replayed);
	replay_free(replay);
}

/* Two machines: 41 is one cgroup here and another there; /b is one, by two numbers. */
Test(replay, ids_of_two_machines_are_kept_apart)
{
	struct writer_event event = load_event;
	struct replayed replayed = {};
	struct file files[2];
	struct replay *replay;

	event.sample_type |= PERF_SAMPLE_CGROUP;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer = load_writer("GenuineIntel,6,85,4", &event);
		struct writer_sample sample = sample_of(10, 100);

		writer_cgroup(writer, 0, 0, 41, i ? "/b" : "/a");
		writer_cgroup(writer, 0, 0, 42, i ? "/c" : "/b");
		for (u64 id = 41; id <= 42; id++) {
			sample.cgroup_id = id;
			writer_sample(writer, 0, &sample);
		}
		files[i] = finish(writer);
	}
	replay = open_files(files, ARRAY_SIZE(files));
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, 4);
	cr_expect_str_eq(name_of(&replayed, 0), "/a");
	cr_expect_str_eq(name_of(&replayed, 1), "/b");
	cr_expect_str_eq(name_of(&replayed, 2), "/b");
	cr_expect_str_eq(name_of(&replayed, 3), "/c");
	cr_expect_eq(replayed.samples[0].cgroup_id, 41);
	cr_expect_eq(replayed.samples[2].cgroup_id, 42);
	cr_expect(replay_synthetic_id(replayed.samples[3].cgroup_id));
	cr_expect_eq(replayed.n_names, 3);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, other_events_are_left_out_and_counted)
{
	static const struct writer_event dummy = {.type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_DUMMY,
						  .sample_type = LOAD_FIELDS, /* perf record -d -W asks all */
						  .ids = second_ids,
						  .n_ids = 1};
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct writer_sample stranger = sample_of(1, 5);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;

	(void)writer_event(writer, &dummy);
	write_load(writer, 0, 1, 1);
	write_load(writer, 1, 1, 2);
	write_load(writer, 1, 1, 3);
	stranger.id = 99;
	writer_sample(writer, 0, &stranger);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_eq(replayed.n, 1);
	replay_report(replay, &report);
	cr_expect_eq(report.samples, 1);
	cr_expect_eq(report.left_out.without_memory_data, 2);
	cr_expect_eq(report.left_out.unknown_event, 1);
	cr_assert_not_null(report.notes[0]);
	cr_expect_not_null(strstr(report.notes[0], ": 2 samples of events that measure no loads or stores"));
	cr_assert_not_null(report.notes[1]);
	cr_expect_not_null(strstr(report.notes[1], ": 1 samples are left out"));
	cr_expect_null(report.notes[2]);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, loads_and_stores_are_two_events)
{
	static const struct writer_event stores = {.type = PERF_TYPE_RAW,
						   .config = 0x82d0,
						   .period = 101,
						   .sample_type = LOAD_FIELDS,
						   .ids = second_ids,
						   .n_ids = 1};
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	const struct event *events;
	struct replay *replay;
	size_t n;

	(void)writer_event(writer, &stores);
	write_load(writer, 1, 1, 1);
	write_load(writer, 0, 1, 2);
	replay = open_file(writer);
	events = replay_events(replay, &n);
	cr_assert_eq(n, 2);
	cr_expect_eq(events[0].role, EVENT_LOADS);
	cr_expect_eq(events[0].ldlat, 30);
	cr_expect_eq(events[0].latency_kind, LATENCY_USE);
	cr_expect_eq(events[1].role, EVENT_STORES);
	cr_expect_eq(events[1].ldlat, 0);
	cr_expect_eq(events[1].latency_kind, LATENCY_NONE);
	cr_expect_not(events[1].settings.has_latency);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_eq(replayed.samples[0].event, 1);
	cr_expect_eq(replayed.samples[0].fields, SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS);
	cr_expect_eq(replayed.samples[1].event, 0);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, figures_of_another_threshold_are_not_mixed_in)
{
	struct writer_event other = load_event;
	struct replayed replayed = {};
	struct replay_report report;
	struct file files[3];
	struct replay *replay;
	size_t n;

	other.config1 = 64;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer = load_writer("GenuineIntel,6,85,4", i == 1 ? &other : &load_event);

		write_load(writer, 0, 1, 1);
		write_load(writer, 0, 1, 2);
		files[i] = finish(writer);
	}
	replay = open_files(files, ARRAY_SIZE(files));
	cr_expect_eq(replay_events(replay, &n)[0].ldlat, 30);
	cr_expect_eq(n, 1);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(replayed.n, 4);
	cr_expect_eq(report.left_out.not_mixed, 2);
	cr_assert_not_null(report.notes[0]);
	cr_expect_not_null(strstr(report.notes[0], files[1].path));
	cr_expect_not_null(strstr(report.notes[0], "replay it separately"));
	cr_expect_null(report.notes[1]);
	replayed_clear(&replayed);
	replay_free(replay);
}

/* A name is anybody's choice: it goes to terminals and logs. And a file may have thousands of events. */
Test(replay, notes_of_events_are_visible_and_few)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;
	u64 ids[100];
	size_t n = 0;

	for (u64 i = 0; i < ARRAY_SIZE(ids); i++) {
		struct writer_event other = load_event;
		struct writer_sample sample = sample_of(1, i + 1);

		other.config1 = 64 + i;
		other.name = "evil\033]0;owned\a";
		ids[i] = 100 + i;
		other.ids = &ids[i];
		other.n_ids = 1;
		writer_sample(writer, writer_event(writer, &other), &sample);
	}
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(report.left_out.not_mixed, 100);
	for (; report.notes[n]; n++)
		cr_expect_null(strchr(report.notes[n], '\033'), "%s", report.notes[n]);
	cr_expect_geq(n, 2);
	cr_expect_leq(n, 20);
	cr_expect_not_null(strstr(report.notes[0], "evil\\x1b]0;owned"), "%s", report.notes[0]);
	cr_expect_not_null(strstr(report.notes[n - 1], "84 samples of further events"), "%s",
			   report.notes[n - 1]);
	replayed_clear(&replayed);
	replay_free(replay);
}

/* The first note is another recording's. Notes stay where they are until the next step. */
Test(replay, the_note_of_the_cut_is_told)
{
	struct writer_event other = load_event;
	const struct writer_event *const events[] = {&load_event, &other, &load_event};
	struct replayed replayed = {};
	struct replay_target target = replayed_target(&replayed);
	struct replay_report report;
	struct file files[3];
	struct replay *replay;

	other.config1 = 64;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer = load_writer("GenuineIntel,6,85,4", events[i]);

		write_load(writer, 0, 1, 1);
		files[i] = finish(writer);
	}
	cr_assert_eq(ftruncate(files[2].fd, lseek(files[2].fd, 0, SEEK_END) - 8), 0);
	replay = open_files(files, 3);
	while (true) {
		int r = replay_step(replay, &target, 1);

		cr_assert_geq(r, 0);
		replay_report(replay, &report);
		for (size_t i = 0; report.notes[i]; i++)
			cr_expect_gt(strlen(report.notes[i]), 0);
		if (r == 0)
			break;
	}
	cr_assert_not_null(report.cut);
	cr_expect_not_null(strstr(report.cut, "is cut at byte"), "%s", report.cut);
	cr_expect_eq(strncmp(report.cut, files[2].path, strlen(files[2].path)), 0, "%s", report.cut);
	cr_expect_neq(report.cut, report.notes[0]);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, latencies_of_an_unknown_cpu_are_noted)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;

	(void)writer_event(writer, &load_event);
	write_load(writer, 0, 1, 1);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_assert_not_null(report.notes[0]);
	cr_expect_not_null(strstr(report.notes[0], "what its latencies count"), "%s", report.notes[0]);
	cr_expect_null(report.notes[1]);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, pmus_without_names_are_not_mixed)
{
	struct writer_event events[] = {load_event, load_event};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;
	size_t n;

	events[0].type = 10;
	events[1].type = 11;
	events[1].ids = second_ids;
	events[1].n_ids = 1;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		(void)writer_event(writer, &events[i]);
	write_load(writer, 0, 1, 1);
	write_load(writer, 1, 1, 2);
	replay = open_file(writer);
	cr_expect_str_eq(replay_events(replay, &n)[0].pmu, "");
	cr_expect_eq(n, 1);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_eq(report.left_out.not_mixed, 1);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, core_pmus_with_names_are_two_events)
{
	struct writer_event events[] = {load_event, load_event};
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct replay *replay;
	size_t n;

	events[1].type = 10;
	events[1].config = 0x5d0;
	events[1].ids = second_ids;
	events[1].n_ids = 1;
	writer_cpuid(writer, "GenuineIntel,6,151,2");
	writer_pmu(writer, 4, "cpu_core");
	writer_pmu(writer, 10, "cpu_atom");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		(void)writer_event(writer, &events[i]);
	write_load(writer, 1, 1, 2);
	replay = open_file(writer);
	cr_expect_str_eq(replay_events(replay, &n)[0].pmu, "cpu_core");
	cr_assert_eq(n, 2);
	cr_expect_str_eq(replay_events(replay, &n)[1].pmu, "cpu_atom");
	replay_free(replay);
}

Test(replay, ibs_samples_that_are_no_loads_are_left_out)
{
	static const struct writer_event ibs = {.type = 10,
						.period = 100000,
						.sample_type = LOAD_FIELDS,
						.name = "ibs_op//",
						.ids = first_ids,
						.n_ids = 1};
	struct writer *writer = load_writer("AuthenticAMD,25,17,1", &ibs);
	static const u64 sources[] = {0x49080142, 0x229080144, 0x5080021};
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;
	size_t n;

	writer_pmu(writer, 10, "ibs_op");
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct writer_sample sample = sample_of(1, i + 1);

		sample.data_source = sources[i];
		writer_sample(writer, 0, &sample);
	}
	replay = open_file(writer);
	cr_expect_eq(replay_events(replay, &n)[0].latency_kind, LATENCY_DC_MISS);
	cr_expect_str_eq(replay_events(replay, &n)[0].pmu, "ibs_op");
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_eq(report.left_out.other_operations, 2);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, an_event_announced_after_the_first_sample)
{
	struct writer_event attrs = load_event;
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	struct perf_event_attr late = {.type = PERF_TYPE_RAW,
				       .size = sizeof(late),
				       .config = 0x2cd,
				       .sample_type = LOAD_FIELDS,
				       .sample_id_all = 1};
	struct {
		struct perf_event_attr attr;
		u64 id;
	} body = {.attr = late, .id = 7};
	struct writer_sample sample = sample_of(1, 3);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;

	(void)writer_event(writer, &attrs);
	write_load(writer, 0, 1, 1);
	writer_record(writer, 64, &body, sizeof(body));
	write_load(writer, 0, 1, 2);
	sample.id = 7;
	writer_sample(writer, 0, &sample);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(replayed.n, 2);
	cr_expect_eq(report.left_out.late, 1);
	cr_expect_eq(report.left_out.unknown_event, 0);
	cr_expect_not_null(report.notes[0]);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, a_sample_that_can_be_read_in_two_ways_is_left_out_and_counted)
{
	struct writer_event event = load_event;
	struct writer_sample sample = sample_of(1, 1);
	struct replayed replayed = {};
	struct replay_report report;
	struct writer *writer;
	struct replay *replay;
	u64 body[] = {1, 1, 1, 0x1000, 0, 77, L1_HIT, 5};

	event.sample_type |= PERF_SAMPLE_BRANCH_STACK | 1ULL << 40;
	event.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	writer = load_writer("GenuineIntel,6,85,4", &event);
	writer_record(writer, PERF_RECORD_SAMPLE, body, sizeof(body));
	sample.branches = 2;
	writer_sample(writer, 0, &sample);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_assert_eq(replayed.n, 1);
	cr_expect_eq(replayed.samples[0].latency, 77);
	replay_report(replay, &report);
	cr_expect_eq(report.left_out.unreadable, 1);
	replayed_clear(&replayed);
	replay_free(replay);
}

/* Every length of the file: what is counted was in it, in its order, and the cut is told. */
Test(replay, cut_at_every_byte)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	_cleanup_free_ u8 *bytes = NULL;
	size_t most = 0;
	size_t size;

	writer_comm(writer, 0, 0, 1, 1, "one");
	for (u64 i = 0; i < 5; i++) {
		struct writer_sample sample = sample_of(1, 1 + i);

		sample.weight = 40 + i;
		writer_sample(writer, 0, &sample);
		writer_round(writer);
	}
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	for (size_t cut = 0; cut < size; cut++) {
		_cleanup_free_ char *message = NULL;
		struct replayed replayed = {};
		struct replay *replay = NULL;
		struct replay_report report;
		const char *paths[1];
		char path[64];
		char place[64];
		int fd = writer_memfd(bytes, cut);

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		(void)snprintf(place, sizeof(place), "cut at byte %zu: the %zu samples", cut, most);
		paths[0] = path;
		if (replay_open(paths, 1, &replay, &message) < 0) {
			cr_expect_eq(most, 0);
			cr_expect_eq(strncmp(message, path, strlen(path)), 0, "%s", message);
			(void)close(fd);
			continue;
		}
		cr_assert_eq(replayed_all(&replayed, replay, 3), 0);
		replay_report(replay, &report);
		cr_expect_geq(replayed.n, most);
		most = replayed.n;
		for (size_t i = 0; i < replayed.n; i++)
			cr_expect_eq(replayed.samples[i].latency, 40 + i);
		(void)snprintf(place, sizeof(place), "cut at byte %zu: the %zu samples", cut, most);
		cr_expect_not_null(report.cut);
		cr_assert_not_null(report.notes[0]);
		cr_expect_not_null(strstr(report.notes[0], place), "%s", report.notes[0]);
		replayed_clear(&replayed);
		replay_free(replay);
		(void)close(fd);
	}
	cr_expect_eq(most, 5);
}

Test(replay, what_came_before_damage_is_handed_over)
{
	static const u8 garbage[8] = {9}; /* a record of 0 bytes */
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	struct replay *replay;

	write_load(writer, 0, 1, 1);
	write_load(writer, 0, 1, 2);
	writer_bytes(writer, garbage, sizeof(garbage));
	replay = open_file(writer);
	cr_expect_eq(replayed_all(&replayed, replay, 100), -EBADMSG);
	cr_expect_eq(replayed.n, 2);
	cr_expect_not_null(strstr(replay_message(replay), "is damaged at byte"));
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, an_unfinished_file_is_read_and_noted)
{
	struct writer *writer = writer_new(WRITER_FILE_UNFINISHED, 0);
	struct replayed replayed = {};
	struct replay_report report;
	struct replay *replay;
	size_t n;

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	(void)writer_event(writer, &load_event);
	write_load(writer, 0, 1, 1);
	replay = open_file(writer);
	cr_expect_eq(replay_events(replay, &n)[0].latency_kind, LATENCY_NONE);
	cr_expect(replay_events(replay, &n)[0].settings.has_latency);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	replay_report(replay, &report);
	cr_expect_eq(replayed.n, 1);
	cr_expect_null(report.cut);
	cr_expect_not_null(strstr(report.notes[0], "never completed"));
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, standard_input)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);
	const char *paths[] = {"-", "-"};
	struct replayed replayed = {};
	struct replay *replay = NULL;
	char *message = NULL;
	u8 *bytes;
	int ends[2];
	size_t size;

	(void)writer_event(writer, &load_event);
	write_load(writer, 0, 1, 1);
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], bytes, size), (ssize_t)size);
	(void)close(ends[1]);
	cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
	cr_assert_eq(replay_open(paths, 2, &replay, &message), -EINVAL);
	cr_expect_not_null(strstr(message, "only once"));
	free(message);
	cr_assert_eq(replay_open(paths, 1, &replay, &message), 0, "%s", message);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_eq(replayed.n, 1);
	replayed_clear(&replayed);
	replay_free(replay);
	free(bytes);
}

static struct writer *piped_writer(void)
{
	struct writer *writer = writer_new(WRITER_PIPE, 0);

	writer_cpuid(writer, "GenuineIntel,6,85,4");
	(void)writer_event(writer, &load_event);
	writer_comm(writer, 0, 0, 1, 1, "one");
	write_load(writer, 0, 1, 1);
	return writer;
}

/* Each byte comes by itself: no step waits, and none of the records is lost or read twice. */
Test(replay, a_pipe_is_not_waited_for)
{
	static const u8 payload[24];
	const u64 announced = sizeof(payload);
	_cleanup_free_ u8 *first = NULL;
	_cleanup_free_ u8 *all = NULL;
	_cleanup_free_ char *message = NULL;
	struct writer *writer = piped_writer();
	struct replayed replayed = {};
	struct replay_target target = replayed_target(&replayed);
	const char *path = "-";
	struct replay_report report;
	struct replay *replay = NULL;
	size_t waited = 0;
	size_t n_first;
	size_t n;
	int ends[2];

	first = writer_finish(writer, &n_first);
	writer_free(writer);
	writer = piped_writer();
	write_load(writer, 0, 1, 2);
	writer_record(writer, WRITER_AUXTRACE, &announced, sizeof(announced));
	writer_bytes(writer, payload, sizeof(payload));
	writer_round(writer);
	writer_begin_compressed(writer);
	for (u64 i = 3; i < 20; i++)
		write_load(writer, 0, 1, i);
	writer_end_compressed(writer, WRITER_COMPRESSED, 50);
	write_load(writer, 0, 1, 20);
	all = writer_finish(writer, &n);
	writer_free(writer);
	cr_assert_eq(memcmp(first, all, n_first), 0);

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], all, n_first), (ssize_t)n_first);
	cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
	cr_assert_eq(replay_open(&path, 1, &replay, &message), 0, "%s", message);
	for (size_t at = n_first; at < n; at++) {
		int r = replay_step(replay, &target, 100);

		cr_assert_eq(r, -EAGAIN, "at byte %zu: %d", at, r);
		cr_assert_geq(replay_fd(replay), 0);
		waited++;
		cr_assert_eq(write(ends[1], all + at, 1), 1);
	}
	cr_expect_gt(waited, 100);
	(void)close(ends[1]);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_eq(replay_fd(replay), -1);
	cr_assert_eq(replayed.n, 20);
	for (size_t i = 0; i < replayed.n; i++)
		cr_expect_str_eq(name_of(&replayed, i), "comm:one");
	replay_report(replay, &report);
	cr_expect_null(report.notes[0], "%s", report.notes[0]);
	cr_expect_eq(report.last_time, 20);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, files_that_can_not_be_replayed)
{
	static const struct writer_event cycles = {.type = PERF_TYPE_HARDWARE, .sample_type = LOAD_FIELDS};
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &cycles);
	const char *missing = "/nonexistent/recording";
	const char *useless;
	struct file without;
	_cleanup_free_ char *first = NULL;
	_cleanup_free_ char *second = NULL;
	_cleanup_free_ char *third = NULL;
	struct replay *replay = NULL;

	writer_comm(writer, 0, 1, 1, 1, "comm");
	without = finish(writer);
	useless = without.path;
	cr_expect_eq(replay_open(&missing, 1, &replay, &first), -ENOENT);
	cr_expect_not_null(strstr(first, "cannot open /nonexistent/recording: No such file"));
	cr_expect_eq(replay_open(&useless, 1, &replay, &second), -EBADMSG);
	cr_expect_not_null(strstr(second, "no event with memory data"), "%s", second);
	cr_expect_not_null(strstr(second, "perf mem record"));
	cr_expect_not_null(strstr(second, "its events record a data source or a weight"), "%s", second);
	cr_expect_eq(replay_open(NULL, 0, &replay, &third), -EINVAL);
	cr_expect_null(replay);
}

Test(replay, an_error_of_the_target_ends_the_step)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {.name_error = -ENOSPC};
	struct replay *replay;

	write_load(writer, 0, 1, 1);
	replay = open_file(writer);
	cr_expect_eq(replayed_all(&replayed, replay, 100), -ENOSPC);
	cr_expect_null(replay_message(replay)); /* by this the fault is not the recording's */
	replay_free(replay);
}

Test(replay_event, latency_kinds)
{
	cr_expect_eq(replay_latency_kind("GenuineIntel,6,85,4"), LATENCY_USE);
	cr_expect_eq(replay_latency_kind("GenuineIntel,6,106,6"), LATENCY_USE);
	cr_expect_eq(replay_latency_kind("GenuineIntel,6,143,8"), LATENCY_CACHE);
	cr_expect_eq(replay_latency_kind("GenuineIntel,6,173,1"), LATENCY_CACHE);
	cr_expect_eq(replay_latency_kind("AuthenticAMD,25,17,1"), LATENCY_DC_MISS);
	cr_expect_eq(replay_latency_kind("GenuineIntel,19,1,0"), LATENCY_NONE);
	cr_expect_eq(replay_latency_kind("0x00000000410fd0c0"), LATENCY_NONE);
	cr_expect_eq(replay_latency_kind("GenuineIntel,"), LATENCY_NONE);
	cr_expect_eq(replay_latency_kind(NULL), LATENCY_NONE);
}

static bool describe(u64 config, const char *name, const char *cpuid, struct event *ret)
{
	char text[64];
	char cpu[64];
	struct perf_data_event recorded = {
		.attr = {.type = PERF_TYPE_RAW,
			 .config = config,
			 .config1 = 0x1e,
			 .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC}};
	struct perf_data_events events = {.list = &recorded, .n = 1};

	(void)snprintf(text, sizeof(text), "%s", name);
	(void)snprintf(cpu, sizeof(cpu), "%s", cpuid ? cpuid : "");
	recorded.name = text;
	events.cpuid = cpuid ? cpu : NULL;
	return replay_event_describe(&events, 0, ret);
}

Test(replay_event, which_are_ours)
{
	static const struct {
		u64 config;
		const char *name;
		const char *cpuid;
		enum event_role role;
		bool has_latency;
		u32 ldlat;
	} cases[] = {
		{0x1cd, "r1cd", "GenuineIntel,6,85,4", EVENT_LOADS, true, 30},
		{0x5d0, "cpu_atom/mem-loads/P", "GenuineIntel,6,151,2", EVENT_LOADS, true, 30},
		{0x100b, "mem-loads", "GenuineIntel,6,26,5", EVENT_LOADS, true, 30},
		{0x2cd, "mem-stores", "GenuineIntel,6,143,8", EVENT_STORES, true, 0},
		{0x2cd, "mem-stores", "GenuineIntel,6,62,4", EVENT_STORES, false, 0}, /* precise store */
		{0x6d0, "", "GenuineIntel,6,175,3", EVENT_STORES, true, 0},
		{0x82d0, "", "GenuineIntel,6,85,4", EVENT_STORES, false, 0},
		{0x34, "MEM_TRANS_RETIRED.STORE_SAMPLE", "GenuineIntel,6,85,4", EVENT_STORES, false, 0},
		{0x20d1, "MEM_LOAD_RETIRED.L3_MISS", "GenuineIntel,6,85,4", EVENT_LOADS, false, 0},
		{0x1e0, "cpu/mem-loads/", NULL, EVENT_LOADS, true, 0},
		{0x1cd, "", NULL, EVENT_LOADS, true, 30},
		{0x82d0, "", NULL, EVENT_STORES, false, 0},
	};
	struct event event;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_assert(describe(cases[i].config, cases[i].name, cases[i].cpuid, &event), "case %zu", i);
		cr_expect_eq(event.role, cases[i].role, "case %zu", i);
		cr_expect_eq(event.settings.has_latency, cases[i].has_latency, "case %zu", i);
		cr_expect_eq(event.ldlat, cases[i].ldlat, "case %zu", i);
		cr_expect_str_eq(event.pmu, "cpu");
	}
	cr_expect_not(describe(0xc0, "instructions:ppp", "GenuineIntel,6,85,4", &event));
	cr_expect_not(describe(0x8203, "cpu/mem-loads-aux/", "GenuineIntel,6,143,8", &event));
	/* A weight and a data source are recorded of any event, if asked for. */
	cr_expect_not(describe(0xc0, "r00c0", NULL, &event));
	cr_expect_not(describe(0xc0, "r00c0", "AuthenticAMD,25,1,1", &event));
	cr_expect_not(describe(0x1cd, "r1cd", "AuthenticAMD,25,1,1", &event));
	cr_expect_not(describe(0x2c41, "ls_refills_from_sys.store", "AuthenticAMD,25,1,1", &event));
}

/* Of a PMU with a number of its own. */
static bool describe_dynamic(u64 config, u64 sample_type, const char *pmu, const char *cpuid,
			     struct event *ret)
{
	char name[16];
	char cpu[64];
	struct perf_data_pmu named = {.type = 10, .name = name};
	struct perf_data_event recorded = {
		.attr = {.type = 10, .config = config, .sample_type = sample_type}};
	struct perf_data_events events = {.list = &recorded, .n = 1};

	(void)snprintf(name, sizeof(name), "%s", pmu ? pmu : "");
	(void)snprintf(cpu, sizeof(cpu), "%s", cpuid ? cpuid : "");
	events.cpuid = cpuid ? cpu : NULL;
	events.pmus = &named;
	events.n_pmus = pmu ? 1 : 0;
	return replay_event_describe(&events, 0, ret);
}

Test(replay_event, which_of_other_pmus_are_ours)
{
	static const char amd[] = "AuthenticAMD,25,1,1";
	static const u64 both = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	static const u64 load = 0x142;
	static const u64 nothing = 0x21;
	struct sample sample = {.fields = SAMPLE_DATA_SOURCE};
	struct event event;

	cr_expect(describe_dynamic(1 << 19, both, "ibs_op", amd, &event));
	cr_expect_not(describe_dynamic(1 << 19, PERF_SAMPLE_WEIGHT, "ibs_op", amd, &event));
	cr_expect_not(describe_dynamic(0, both, "ibs_fetch", amd, &event));
	cr_expect_not(describe_dynamic(0x3c, both, "cpu_atom", NULL, &event));
	cr_expect_not(describe_dynamic(0x3c, both, NULL, NULL, &event));
	cr_expect(describe_dynamic(0x5d0, both, NULL, NULL, &event));
	/* Which PMU it is was not recorded: what its samples say of their operation decides. */
	cr_assert(describe_dynamic(1 << 19, both, NULL, NULL, &event));
	sample.data_source = nothing;
	cr_expect_not(replay_sample_counts(&event, &sample));
	sample.data_source = load;
	cr_expect(replay_sample_counts(&event, &sample));
}

Test(replay_names, what_is_remembered_is_bounded)
{
	struct replay_machine machine = {};
	struct replay_names names = {};
	char text[60000];
	u32 index;
	u64 n = 0;
	int r;

	memset(text, 'x', sizeof(text));
	do {
		(void)snprintf(text, 9, "%08llu", (unsigned long long)n++);
		text[8] = 'x';
		r = replay_names_index(&names, "", text, sizeof(text), &index);
	} while (r == 0);
	cr_expect_eq(r, -E2BIG);
	cr_expect_leq(n, REPLAY_NAMES_BYTES_MAX / sizeof(text) + 2);
	cr_expect_eq(replay_machine_set_comm(&machine, ~0U, 0), 0);
	cr_expect_eq(machine.n_comms, 0);
	cr_expect_eq(replay_machine_set_comm(&machine, REPLAY_TID_MAX, 0), 0);
	cr_expect_eq(machine.n_comms, REPLAY_TID_MAX + 1);
	replay_machine_clear(&machine);
	replay_names_clear(&names);
}

/* Short names take more than their text. */
Test(replay_names, many_short_names_are_bounded)
{
	struct replay_names names = {};
	size_t most = REPLAY_NAMES_BYTES_MAX / REPLAY_NAME_OVERHEAD;
	char text[16];
	u32 index;
	int r = 0;

	for (size_t n = 0; r == 0 && n <= most; n++)
		r = replay_names_comm(&names, text, (size_t)snprintf(text, sizeof(text), "%zu", n), &index);
	cr_expect_eq(r, -E2BIG);
	cr_expect_leq(names.n, most);
	replay_names_clear(&names);
}

/* The same 15 bytes are one comm, however much a file says. */
Test(replay, a_comm_is_cut_where_the_kernel_cuts_it)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	struct replay *replay;

	writer_comm(writer, 0, 0, 1, 1, "fifteen-bytes-a and no more");
	writer_comm(writer, 0, 0, 2, 2, "fifteen-bytes-a whatever comes");
	write_load(writer, 0, 1, 1);
	write_load(writer, 0, 2, 2);
	replay = open_file(writer);
	cr_assert_eq(replayed_all(&replayed, replay, 100), 0);
	cr_expect_str_eq(name_of(&replayed, 0), "comm:fifteen-bytes-a");
	cr_expect_eq(replayed.n_names, 1);
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay, a_path_that_no_kernel_gives_is_damage)
{
	struct writer *writer = load_writer("GenuineIntel,6,85,4", &load_event);
	struct replayed replayed = {};
	char path[PATH_MAX + 1];
	struct replay *replay;

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[PATH_MAX] = '\0';
	write_load(writer, 0, 1, 1);
	writer_cgroup(writer, 0, 0, 1, path + 1); /* no path: left out */
	path[PATH_MAX - 1] = '\0';
	writer_cgroup(writer, 0, 0, 1, path);
	path[PATH_MAX - 1] = 'x';
	writer_cgroup(writer, 0, 0, 1, path);
	replay = open_file(writer);
	cr_expect_eq(replayed_all(&replayed, replay, 3), -EBADMSG);
	cr_expect_eq(replayed.n, 1);
	cr_expect_not_null(strstr(replay_message(replay), "path longer than"));
	replayed_clear(&replayed);
	replay_free(replay);
}

Test(replay_queue, sorts_and_is_bounded)
{
	struct replay_queue queue = {};
	struct replay_item item = {.kind = REPLAY_FORK};
	u64 last = 0;
	u64 state = 1;
	size_t n = 0;

	while (true) {
		state = state * 6364136223846793005ULL + 1;
		item.time = (state >> 48) + 1;
		if (replay_queue_put(&queue, &item) < 0)
			break;
		n++;
	}
	cr_expect_eq(n, REPLAY_QUEUE_MAX);
	cr_expect_not(replay_queue_take(&queue, false, &item)); /* no round has passed */
	while (replay_queue_take(&queue, true, &item)) {
		cr_assert_geq(item.time, last);
		last = item.time;
		n--;
	}
	cr_expect_eq(n, 0);
	replay_queue_clear(&queue);
}

Test(replay_queue, equal_times_keep_their_order)
{
	struct replay_queue queue = {};
	struct replay_item item = {.kind = REPLAY_FORK, .time = 5};

	for (u32 i = 0; i < 100; i++) {
		item.tid = i;
		cr_assert_eq(replay_queue_put(&queue, &item), 0);
	}
	for (u32 i = 0; i < 100; i++) {
		cr_assert(replay_queue_take(&queue, true, &item));
		cr_assert_eq(item.tid, i);
	}
	replay_queue_clear(&queue);
}

Test(replay_sum, is_collected_before_it_can_wrap)
{
	static struct sample worst[INJECT_MAX];
	struct sample real = {.latency = 300, .period = 10007};
	struct replay_sum sum = {};

	for (size_t i = 0; i < INJECT_MAX; i++)
		worst[i] = (struct sample){.latency = SAMPLE_LATENCY_MAX, .period = ~0ULL};
	cr_expect(replay_sum_add(&sum, worst, INJECT_MAX));
	cr_expect_not(replay_sum_add(&sum, worst, INJECT_MAX));
	cr_expect_eq(sum.samples, INJECT_MAX);
	sum = (struct replay_sum){};
	for (u64 i = 0; i < 1000000; i++)
		cr_assert(replay_sum_add(&sum, &real, 1));
	sum.samples = REPLAY_SUM_SAMPLES_MAX - 1;
	cr_expect(replay_sum_add(&sum, &real, 1));
	cr_expect_not(replay_sum_add(&sum, &real, 1));
}
