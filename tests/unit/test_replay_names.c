// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/replay/replay_names.h"
#include "recorded.h"
#include "replayed.h"

TestSuite(replay, .fini = replayed_clear);

Test(replay, a_task_has_the_comm_of_its_time)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	static const char *const expected[] = {"comm:swapper", "comm:unknown", "comm:bash", "comm:bash",
					       "comm:cc1",     "comm:bash",    "comm:cc1",  "comm:unknown"};

	writer_comm(writer, 0, 0, 10, 10, "bash");
	recorded_load(writer, 0, 0, 100);
	recorded_load(writer, 0, 99, 101);
	recorded_load(writer, 0, 10, 102);
	writer_fork(writer, 0, 103, 11, 10);
	recorded_load(writer, 0, 11, 104);
	writer_comm(writer, 0, 105, 11, 11, "cc1");
	recorded_load(writer, 0, 11, 106);
	recorded_load(writer, 0, 10, 107);
	writer_exit(writer, 0, 108, 11);
	recorded_load(writer, 0, 11, 109); /* the task is still exiting */
	writer_fork(writer, 0, 110, 11, 99);
	recorded_load(writer, 0, 11, 111); /* a new task with the same number and an unknown parent */
	replayed_run(recorded_open(writer));
	cr_assert_eq(replayed.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cr_expect_str_eq(replayed_sample_name(i), expected[i], "sample %zu", i);
		cr_expect(replay_synthetic_id(replayed.samples[i].cgroup_id));
	}
	/* Two tasks with the same comm are one cgroup, which is named once. */
	cr_expect_eq(replayed.samples[2].cgroup_id, replayed.samples[3].cgroup_id);
	cr_expect_eq(replayed.n_names, 4);
}

Test(replay, recorded_cgroups_have_a_path_or_an_id)
{
	struct writer_event event = recorded_event;
	struct writer *writer;

	event.sample_type |= PERF_SAMPLE_CGROUP;
	writer = recorded_writer("GenuineIntel,6,85,4", &event);
	writer_cgroup(writer, 0, 0, 41, "/system.slice/a.service");
	writer_cgroup(writer, 0, 0, 43, "comm:forged");
	for (u64 id = 41; id <= 43; id++) {
		struct writer_sample sample = recorded_sample(10, 100 + id);

		sample.cgroup_id = id;
		writer_sample(writer, 0, &sample);
	}
	replayed_run(recorded_open(writer));
	cr_assert_eq(replayed.n, 3);
	cr_expect_eq(replayed.samples[0].cgroup_id, 41);
	cr_expect_str_eq(replayed_sample_name(0), "/system.slice/a.service");
	cr_expect_str_eq(replayed_sample_name(1), "cgroup:42");
	cr_expect_str_eq(replayed_sample_name(2), "cgroup:43");
	cr_expect_not(replay_synthetic_id(replayed.samples[1].cgroup_id));
}

/* Two machines use 41 for two different cgroups. /b is one cgroup with two numbers. */
Test(replay, ids_of_two_machines_are_distinguished)
{
	struct writer_event event = recorded_event;
	struct recorded files[2];

	event.sample_type |= PERF_SAMPLE_CGROUP;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &event);
		struct writer_sample sample = recorded_sample(10, 100);

		writer_cgroup(writer, 0, 0, 41, i ? "/b" : "/a");
		writer_cgroup(writer, 0, 0, 42, i ? "/c" : "/b");
		for (u64 id = 41; id <= 42; id++) {
			sample.cgroup_id = id;
			writer_sample(writer, 0, &sample);
		}
		files[i] = recorded_finish(writer);
	}
	replayed_run(recorded_open_all(files, ARRAY_SIZE(files)));
	cr_assert_eq(replayed.n, 4);
	cr_expect_str_eq(replayed_sample_name(0), "/a");
	cr_expect_str_eq(replayed_sample_name(1), "/b");
	cr_expect_str_eq(replayed_sample_name(2), "/b");
	cr_expect_str_eq(replayed_sample_name(3), "/c");
	cr_expect_eq(replayed.samples[0].cgroup_id, 41);
	cr_expect_eq(replayed.samples[2].cgroup_id, 42);
	cr_expect(replay_synthetic_id(replayed.samples[3].cgroup_id));
	cr_expect_eq(replayed.n_names, 3);
}

/* Only 15 bytes make up a comm, however many the file has. */
Test(replay, a_comm_has_the_maximum_length_of_the_kernel)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);

	writer_comm(writer, 0, 0, 1, 1, "fifteen-bytes-a and no more");
	writer_comm(writer, 0, 0, 2, 2, "fifteen-bytes-a whatever comes");
	recorded_load(writer, 0, 1, 1);
	recorded_load(writer, 0, 2, 2);
	replayed_run(recorded_open(writer));
	cr_expect_str_eq(replayed_sample_name(0), "comm:fifteen-bytes-a");
	cr_expect_eq(replayed.n_names, 1);
}

Test(replay, an_impossible_path_counts_as_damage)
{
	struct writer *writer = recorded_writer("GenuineIntel,6,85,4", &recorded_event);
	char path[PATH_MAX + 1];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[PATH_MAX] = '\0';
	recorded_load(writer, 0, 1, 1);
	writer_cgroup(writer, 0, 0, 1, path + 1); /* not a path: left out */
	path[PATH_MAX - 1] = '\0';
	writer_cgroup(writer, 0, 0, 1, path);
	path[PATH_MAX - 1] = 'x';
	writer_cgroup(writer, 0, 0, 1, path);
	replayed.replay = recorded_open(writer);
	cr_expect_eq(replayed_all(3), -EBADMSG);
	cr_expect_eq(replayed.n, 1);
	cr_expect_not_null(strstr(replay_message(replayed.replay), "path of a cgroup is longer than"));
}

Test(replay_names, memory_of_names_is_bounded)
{
	struct replay_machine machine = {};
	_cleanup_(replay_names_clear) struct replay_names names = {};
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
}

/* A short name takes more memory than its text. */
Test(replay_names, many_short_names_are_bounded)
{
	_cleanup_(replay_names_clear) struct replay_names names = {};
	size_t most = REPLAY_NAMES_BYTES_MAX / REPLAY_NAME_OVERHEAD;
	char text[16];
	u32 index;
	int r = 0;

	for (size_t n = 0; r == 0 && n <= most; n++)
		r = replay_names_comm(&names, text, (size_t)snprintf(text, sizeof(text), "%zu", n), &index);
	cr_expect_eq(r, -E2BIG);
	cr_expect_leq(names.n, most);
}
