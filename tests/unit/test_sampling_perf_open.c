// SPDX-License-Identifier: GPL-2.0
/*
 * Which events a start must have. This file plans a machine with loads and an off-core counter, and plays the kernel.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "origin/perf/perf_backend.h"
#include "sampling/sampling_perf_open.h"

static int sampling_error; /* of each event that samples; counters can always be opened */

int pmu_plan(const char *sysfs_root, const struct pmu_request *request, struct pmu_plan *ret)
{
	(void)sysfs_root;
	(void)request;
	*ret = (struct pmu_plan){
		.n_specs = 1,
		.specs[0] = {.event = {.role = EVENT_LOADS, .period = 1, .pmu = "cpu"}},
		.n_counters = 1,
		.counters[0] = {.kind = OFFCORE_L3, .pmu = "cpu"},
	};
	return 0;
}

int perf_backend_cpu(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	(void)cpu;
	(void)group_fd;
	return attr->sample_period ? sampling_error : memfd_create("counter", MFD_CLOEXEC);
}

int perf_backend_cgroup(const struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd)
{
	(void)attr;
	(void)cgroup_fd;
	(void)cpu;
	(void)group_fd;
	return -ENOSYS;
}

int perf_backend_thread(const struct perf_event_attr *attr, int group_fd)
{
	(void)attr;
	(void)group_fd;
	return -ENOSYS;
}

bool perf_backend_by_opener(void)
{
	return false;
}

bool perf_backend_may_mend(int error)
{
	return error == -EBUSY;
}

void perf_backend_trouble(char ret[PERF_BACKEND_TROUBLE_MAX])
{
	ret[0] = '\0';
}

/* Starts with loads that the kernel refuses with `error`. Returns the result. */
static int start(int error, bool require_all)
{
	const struct config config = {
		.events = 1U << EVENT_LOADS | 1U << EVENT_OFFCORE, .ldlat = 64, .isolated = true};
	struct perf_event_set *sets[EVENTS_MAX] = {0};
	_cleanup_(sampling_offcore_freep) struct sampling_offcore *offcore = NULL;
	_cleanup_(perf_notes_done) struct perf_notes notes = {0};
	struct failure failure = {0};
	size_t n = 0;
	int r;

	sampling_error = error;
	r = sampling_perf_open(&config, require_all, &notes, sets, &n, &offcore, &failure);
	cr_expect_eq(n, 0);
	cr_expect_eq(r < 0, failure.message != NULL, "%d: %s", r, failure.message);
	if (r < 0)
		cr_expect(strstr(failure.message, "loads"), "%s", failure.message);
	free(failure.message);
	return r;
}

Test(sampling_perf_open, off_core_counters_alone_are_enough_for_a_new_start)
{
	cr_expect_eq(start(-EBUSY, false), 0);
	cr_expect_eq(start(-EOPNOTSUPP, false), 0);
}

/* The next start may open the event, and continues the state of the previous process with it. */
Test(sampling_perf_open, a_start_that_continues_state_waits_for_an_event_that_may_be_opened_later)
{
	cr_expect_eq(start(-EBUSY, true), -EBUSY);
	cr_expect_eq(start(-EOPNOTSUPP, true), 0);
}
