// SPDX-License-Identifier: GPL-2.0
#include "origin/model/computer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/contention.h"
#include "model/scenario.h"
#include "origin/model/core.h"

struct one_core {
	struct core *core;
	enum workload_kind workload;
	u32 thread;
	struct memory_traffic traffic; /* at the last step */
};

struct computer {
	u64 period;
	u64 seed;
	size_t n;
	struct one_core cores[COMPUTER_CORES_MAX];
	size_t n_workloads;
	enum workload_kind workloads[WORKLOAD_KINDS];
	bool scenario; /* at least one workload is a program of it */
	u32 channel_wait[SCENARIO_NODES], link_wait[SCENARIO_NODES]; /* in the present step */
	u64 ns;
	size_t current; /* the core whose samples are being delivered */
};

/* Starts at 1, because 0 means no cgroup. */
static u64 cgroup_of(enum workload_kind workload)
{
	return 1 + (u64)workload;
}

static int add_workload(struct computer *computer, const struct computer_settings *settings,
			enum workload_kind workload)
{
	struct core_settings core = {
		.machine = settings->machine,
		.workload = workload,
		.seed = settings->seed,
		.ldlat = settings->ldlat,
		.period = computer->period,
		.cgroup_id = cgroup_of(workload),
		.n_counts = settings->n_counts,
	};

	memcpy(core.counts, settings->counts, sizeof(core.counts));
	for (; core.thread < scenario_threads(workload); core.thread++) {
		struct one_core *one = &computer->cores[computer->n];
		int r = core_new(&core, &one->core);

		if (r < 0)
			return r;
		one->workload = workload;
		one->thread = core.thread;
		one->traffic = core_traffic(one->core);
		computer->n++;
	}
	computer->workloads[computer->n_workloads++] = workload;
	computer->scenario = computer->scenario || workload_is_program(workload);
	return 0;
}

int computer_new(const struct computer_settings *settings, struct computer **ret)
{
	_cleanup_(computer_freep) struct computer *computer = calloc(1, sizeof(*computer));

	if (!computer)
		return -ENOMEM;
	computer->period = driver_period(settings->machine, settings->period);
	computer->seed = settings->seed;
	for (unsigned int i = 0; i < WORKLOAD_KINDS; i++) {
		int r = settings->workloads >> i & 1 ? add_workload(computer, settings, (enum workload_kind)i)
						     : 0;

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(computer);
	return 0;
}

struct computer *computer_free(struct computer *computer)
{
	if (!computer)
		return NULL;
	for (size_t i = 0; i < computer->n; i++)
		core_free(computer->cores[i].core);
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

size_t computer_cgroups(const struct computer *computer)
{
	return computer->n_workloads;
}

u64 computer_cgroup(const struct computer *computer, size_t i, char ret_name[static COMPUTER_NAME_MAX])
{
	enum workload_kind workload = computer->workloads[i];

	(void)snprintf(ret_name, COMPUTER_NAME_MAX, "model:%s", workload_names[workload]);
	return cgroup_of(workload);
}

/* The mean of the last wait and that of the last step's traffic, so that waits and traffic settle. */
static void update_wait(u32 *wait, u64 lines, u64 cycles, u32 service)
{
	*wait = (*wait + contention_wait(lines, cycles, service)) / 2;
}

/* Sets the waits from the traffic of the last step. */
static void contend(struct computer *computer)
{
	u64 channel[SCENARIO_NODES] = {0}, link[SCENARIO_NODES] = {0}, cycles = 0;

	for (size_t i = 0; i < computer->n; i++) {
		struct one_core *one = &computer->cores[i];
		const u32 node = scenario_node(one->workload);
		const struct memory_traffic before = one->traffic;

		if (!workload_is_program(one->workload))
			continue;
		one->traffic = core_traffic(one->core);
		channel[node] += one->traffic.local - before.local;
		channel[!node] += one->traffic.remote - before.remote;
		link[node] += one->traffic.remote - before.remote;
		cycles = core_hertz(one->core) / (NSEC_PER_SEC / SCENARIO_STEP_NS);
	}
	for (u32 node = 0; node < SCENARIO_NODES; node++) {
		update_wait(&computer->channel_wait[node], channel[node], cycles, CONTENTION_CHANNEL_CYCLES);
		update_wait(&computer->link_wait[node], link[node], cycles, CONTENTION_LINK_CYCLES);
	}
}

static void begin_step(struct computer *computer)
{
	contend(computer);
	for (size_t i = 0; i < computer->n; i++) {
		const struct one_core *one = &computer->cores[i];
		const u32 node = scenario_node(one->workload);

		if (workload_is_program(one->workload))
			core_set(one->core,
				 &(struct core_state){
					 .busy = scenario_busy(one->workload, computer->seed, computer->ns),
					 .shared_tallies =
						 scenario_shared_tallies(one->workload, computer->ns),
					 .local_wait = computer->channel_wait[node],
					 .remote_wait =
						 computer->channel_wait[!node] + computer->link_wait[node],
				 });
	}
}

static int run_cores(struct computer *computer, u64 ns, model_take take, void *userdata)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < computer->n; i++) {
		computer->current = i;
		r = core_run(computer->cores[i].core, ns, take, userdata);
	}
	computer->ns += ns;
	return r;
}

int computer_run(struct computer *computer, u64 ns, model_take take, void *userdata)
{
	int r = 0;

	if (!computer->scenario)
		return run_cores(computer, ns, take, userdata);
	while (r == 0 && ns > 0) {
		const u64 into = computer->ns % SCENARIO_STEP_NS;
		const u64 piece = ns < SCENARIO_STEP_NS - into ? ns : SCENARIO_STEP_NS - into;

		if (into == 0)
			begin_step(computer);
		r = run_cores(computer, piece, take, userdata);
		ns -= piece;
	}
	return r;
}

int computer_drain(struct computer *computer, model_take take, void *userdata)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < computer->n; i++) {
		computer->current = i;
		r = core_drain(computer->cores[i].core, take, userdata);
	}
	return r;
}

struct computer_thread computer_thread(const struct computer *computer, size_t core)
{
	const struct one_core *one = &computer->cores[core];

	return (struct computer_thread){one->workload, one->thread, scenario_node(one->workload)};
}

size_t computer_current(const struct computer *computer)
{
	return computer->current;
}

u64 computer_expected(const struct computer *computer)
{
	u64 expected = 0;

	for (size_t i = 0; i < computer->n; i++)
		expected += core_expected(computer->cores[i].core);
	return expected;
}

u64 computer_counted(const struct computer *computer, size_t i)
{
	u64 counted = 0;

	for (size_t core = 0; core < computer->n; core++)
		counted += core_counted(computer->cores[core].core, i);
	return counted;
}

u64 computer_ns(const struct computer *computer)
{
	return computer->ns;
}
