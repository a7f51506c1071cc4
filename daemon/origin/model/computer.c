// SPDX-License-Identifier: GPL-2.0
#include "origin/model/computer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "origin/model/core.h"

struct computer {
	u64 period;
	size_t n;
	struct core *cores[WORKLOAD_COUNT];
	enum workload_kind workloads[WORKLOAD_COUNT];
	u64 ns;
};

/* Starts at 1, because 0 means no cgroup. */
static u64 cgroup_of(enum workload_kind workload)
{
	return 1 + (u64)workload;
}

int computer_new(const struct computer_settings *settings, struct computer **ret)
{
	_cleanup_(computer_freep) struct computer *computer = calloc(1, sizeof(*computer));

	if (!computer)
		return -ENOMEM;
	computer->period = driver_period(settings->machine, settings->period);
	for (unsigned int i = 0; i < WORKLOAD_COUNT; i++) {
		struct core_settings core = {
			.machine = settings->machine,
			.workload = (enum workload_kind)i,
			.seed = settings->seed,
			.ldlat = settings->ldlat,
			.period = computer->period,
			.cgroup_id = cgroup_of((enum workload_kind)i),
			.n_counts = settings->n_counts,
		};
		int r;

		memcpy(core.counts, settings->counts, sizeof(core.counts));

		if (!(settings->workloads >> i & 1))
			continue;
		r = core_new(&core, &computer->cores[computer->n]);
		if (r < 0)
			return r;
		computer->workloads[computer->n++] = core.workload;
	}
	*ret = TAKE_PTR(computer);
	return 0;
}

struct computer *computer_free(struct computer *computer)
{
	if (!computer)
		return NULL;
	for (size_t i = 0; i < computer->n; i++)
		core_free(computer->cores[i]);
	free(computer);
	return NULL;
}

u64 computer_period(const struct computer *computer)
{
	return computer->period;
}

size_t computer_cores(const struct computer *computer)
{
	return computer->n;
}

u64 computer_cgroup(const struct computer *computer, size_t core, char ret_name[static COMPUTER_NAME_MAX])
{
	enum workload_kind workload = computer->workloads[core];

	(void)snprintf(ret_name, COMPUTER_NAME_MAX, "model:%s", workload_names[workload]);
	return cgroup_of(workload);
}

int computer_run(struct computer *computer, u64 ns, model_take take, void *userdata)
{
	int r = 0;

	computer->ns += ns;
	for (size_t i = 0; r == 0 && i < computer->n; i++)
		r = core_run(computer->cores[i], ns, take, userdata);
	return r;
}

int computer_drain(struct computer *computer, model_take take, void *userdata)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < computer->n; i++)
		r = core_drain(computer->cores[i], take, userdata);
	return r;
}

u64 computer_expected(const struct computer *computer)
{
	u64 expected = 0;

	for (size_t i = 0; i < computer->n; i++)
		expected += core_expected(computer->cores[i]);
	return expected;
}

u64 computer_counted(const struct computer *computer, size_t i)
{
	u64 counted = 0;

	for (size_t core = 0; core < computer->n; core++)
		counted += core_counted(computer->cores[core], i);
	return counted;
}

u64 computer_ns(const struct computer *computer)
{
	return computer->ns;
}
