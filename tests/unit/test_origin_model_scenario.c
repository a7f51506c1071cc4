// SPDX-License-Identifier: GPL-2.0
/* One cycle of the scenario, as the model's computer plays it: what a program is like in each phase. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/machine.h"
#include "model/scenario.h"
#include "neighbours/neighbours.h"
#include "origin/model/computer.h"
#include "pebsd/data_source.h"

#define ALL_WORKLOADS ((1U << WORKLOAD_COUNT) - 1)
#define ALL_PROGRAMS  ((1U << WORKLOAD_KINDS) - 1 - ALL_WORKLOADS)

/* Bins of 5 s, as neighbours_report.h has them. */
#define BIN_SECONDS 5
#define BINS        48

enum { EVENT_OF_LOADS, EVENT_OF_CYCLES, EVENT_OF_STALLS, EVENT_OF_MISSES, EVENT_COUNT };

struct counts_of_bin {
	double samples[EVENT_COUNT];
	double latency, squares;
	double above; /* loads that took more than 1,152 cycles, as in config/demo.conf */
	double hitm, remote, local, fill_buffer;
};

static struct counts_of_bin played[BINS][WORKLOAD_KINDS];
static size_t bin;

static void take(void *userdata, const struct sample *sample)
{
	struct counts_of_bin *here = &played[bin][sample->cgroup_id - 1];
	enum source source;

	(void)userdata;
	here->samples[sample->event]++;
	if (sample->event != EVENT_OF_LOADS)
		return;
	source = data_source_source(sample->data_source);
	here->latency += (double)sample->latency;
	here->squares += (double)sample->latency * (double)sample->latency;
	here->above += sample->latency > 1152;
	here->hitm += data_source_snoop(sample->data_source) == SNOOP_HITM;
	here->remote += source == SOURCE_REMOTE_DRAM;
	here->local += source == SOURCE_LOCAL_DRAM;
	here->fill_buffer += source == SOURCE_LFB;
}

static struct computer_settings settings_of(unsigned int workloads)
{
	return (struct computer_settings){
		.machine = machine_find("skylake"),
		.seed = 1,
		.workloads = workloads,
		.ldlat = 31,
		.period = 10007,
		.n_counts = 3,
		.counts = {{EVENT_CYCLES, 10000019}, {EVENT_STALLS, 10000019}, {EVENT_MISSES, 50021}},
	};
}

static void play(void)
{
	const struct computer_settings settings = settings_of(ALL_PROGRAMS);
	_cleanup_(computer_freep) struct computer *computer = NULL;

	cr_assert_eq(computer_new(&settings, &computer), 0);
	for (bin = 0; bin < BINS; bin++) {
		cr_assert_eq(computer_run(computer, BIN_SECONDS * NSEC_PER_SEC, take, NULL), 0);
		cr_assert_eq(computer_drain(computer, take, NULL), 0);
	}
}

static struct counts_of_bin sum(enum workload_kind kind, unsigned from, unsigned to)
{
	struct counts_of_bin all = {0};

	for (unsigned i = from / BIN_SECONDS; i < to / BIN_SECONDS; i++) {
		const struct counts_of_bin *one = &played[i][kind];

		for (unsigned event = 0; event < EVENT_COUNT; event++)
			all.samples[event] += one->samples[event];
		all.latency += one->latency;
		all.above += one->above;
		all.hitm += one->hitm;
		all.remote += one->remote;
		all.local += one->local;
		all.fill_buffer += one->fill_buffer;
	}
	return all;
}

static double cores(const struct counts_of_bin *counts, unsigned event, unsigned seconds)
{
	return counts->samples[event] * 10000019 / (double)MODEL_HERTZ / seconds;
}

static double share(const struct counts_of_bin *counts, double of)
{
	return of / counts->samples[EVENT_OF_LOADS];
}

Test(model_scenario_play, sleeping_programs_use_no_core_and_have_few_samples)
{
	struct counts_of_bin backup, batch;

	play();
	backup = sum(WORKLOAD_BACKUP, 0, 45);
	batch = sum(WORKLOAD_BATCH, 0, 195);
	cr_expect_lt(cores(&backup, EVENT_OF_CYCLES, 45), 0.01);
	cr_expect_lt(cores(&batch, EVENT_OF_CYCLES, 195), 0.01);
	cr_expect_lt(backup.samples[EVENT_OF_LOADS], 45 * 20);
	cr_expect_lt(batch.samples[EVENT_OF_LOADS], 195 * 20);
	backup = sum(WORKLOAD_BACKUP, 45, 65);
	batch = sum(WORKLOAD_BATCH, 195, 235);
	cr_expect_gt(cores(&backup, EVENT_OF_CYCLES, 20), 1.9);
	cr_expect_gt(cores(&batch, EVENT_OF_CYCLES, 40), 1.8);
	cr_expect_gt(backup.samples[EVENT_OF_LOADS], 20 * 500);
	cr_expect_gt(batch.samples[EVENT_OF_LOADS], 40 * 500);
}

Test(model_scenario_play, the_backup_reads_remote_memory_and_slows_the_database)
{
	struct counts_of_bin backup, quiet, slow, after;

	play();
	backup = sum(WORKLOAD_BACKUP, 45, 65);
	cr_expect_gt(share(&backup, backup.remote), 0.35);
	cr_expect_lt(share(&backup, backup.local), 0.01);
	cr_expect_gt(cores(&backup, EVENT_OF_STALLS, 20), 1.5, "the rule cores-lost");
	quiet = sum(WORKLOAD_DATABASE, 0, 45);
	slow = sum(WORKLOAD_DATABASE, 45, 65);
	after = sum(WORKLOAD_DATABASE, 105, 135);
	/* The rule database-latency: the p99 is above or below 1,152 cycles. */
	cr_expect_lt(share(&quiet, quiet.above), 0.007, "%f", share(&quiet, quiet.above));
	cr_expect_gt(share(&slow, slow.above), 0.015, "%f", share(&slow, slow.above));
	cr_expect_lt(share(&after, after.above), 0.007, "%f", share(&after, after.above));
	cr_expect_gt(share(&slow, slow.latency), 1.3 * share(&quiet, quiet.latency));
	cr_expect_float_eq(share(&after, after.latency), share(&quiet, quiet.latency),
			   0.06 * share(&quiet, quiet.latency));
	cr_expect_gt(share(&quiet, quiet.local), 0.2);
	cr_expect_gt(quiet.remote, 0);
	cr_expect_lt(cores(&slow, EVENT_OF_STALLS, 20), 0.95, "no rule for the victim's lost cores");
}

Test(model_scenario_play, the_deploy_brings_hitm_to_the_shop_alone)
{
	struct counts_of_bin before, deployed, after;

	play();
	before = sum(WORKLOAD_SHOP, 0, 135);
	deployed = sum(WORKLOAD_SHOP, 135, 180);
	after = sum(WORKLOAD_SHOP, 180, 240);
	cr_expect_eq(before.hitm, 0);
	cr_expect_gt(share(&deployed, deployed.hitm), 0.7);
	/* The last lines that the other worker wrote. */
	cr_expect_lt(after.hitm, 10);
	cr_expect_gt(share(&deployed, deployed.latency), 1.5 * share(&before, before.latency));
	cr_expect_gt(deployed.samples[EVENT_OF_STALLS] / deployed.samples[EVENT_OF_CYCLES],
		     1.2 * before.samples[EVENT_OF_STALLS] / before.samples[EVENT_OF_CYCLES]);
	for (int kind = WORKLOAD_COUNT; kind < WORKLOAD_KINDS; kind++)
		if (kind != WORKLOAD_SHOP)
			cr_expect_eq(sum((enum workload_kind)kind, 0, 240).hitm, 0, "%s",
				     workload_names[kind]);
}

Test(model_scenario_play, the_batch_job_streams_and_slows_no_other_program)
{
	struct counts_of_bin batch, quiet, meanwhile;

	play();
	batch = sum(WORKLOAD_BATCH, 195, 235);
	cr_expect_gt(share(&batch, batch.fill_buffer), 0.7);
	cr_expect_eq(batch.remote, 0);
	cr_expect_gt(cores(&batch, EVENT_OF_STALLS, 40), 1.1, "the rule cores-lost");
	quiet = sum(WORKLOAD_DATABASE, 0, 45);
	meanwhile = sum(WORKLOAD_DATABASE, 195, 235);
	cr_expect_lt(share(&meanwhile, meanwhile.latency), 1.1 * share(&quiet, quiet.latency));
	cr_expect_lt(share(&meanwhile, meanwhile.above), 0.009);
}

/* At the end of the backup, and at the end of the cycle. */
Test(model_scenario_play, neighbours_name_the_backup_for_the_database)
{
	static double traffic[WORKLOAD_KINDS][BINS], latency[BINS], error[BINS];
	struct neighbour_series victim = {"database", traffic[WORKLOAD_DATABASE], latency, error};
	struct neighbour_series others[WORKLOAD_KINDS];
	static const enum workload_kind kinds[] = {WORKLOAD_BACKUP, WORKLOAD_SHOP, WORKLOAD_BATCH,
						   WORKLOAD_CACHE, WORKLOAD_MONITOR};
	const size_t n = sizeof(kinds) / sizeof(*kinds);

	play();
	for (size_t i = 0; i < BINS; i++) {
		const struct counts_of_bin *one = &played[i][WORKLOAD_DATABASE];
		const double count = one->samples[EVENT_OF_LOADS];

		latency[i] = one->latency / count;
		error[i] = sqrt((one->squares / count - latency[i] * latency[i]) / count);
		for (size_t kind = 0; kind < WORKLOAD_KINDS; kind++)
			traffic[kind][i] = played[i][kind].samples[EVENT_OF_MISSES];
	}
	for (size_t i = 0; i < n; i++)
		others[i] =
			(struct neighbour_series){workload_names[kinds[i]], traffic[kinds[i]], NULL, NULL};
	for (size_t bins = 24; bins <= BINS; bins += 4) {
		struct neighbours found;

		cr_assert_eq(neighbours_rank(&victim, others, n, bins, &found), 0);
		cr_expect_eq(found.verdict, NEIGHBOURS_NAMED, "%zu bins: %d", bins, (int)found.verdict);
		for (size_t i = 0; i < found.n; i++)
			cr_expect_eq(found.list[i].named, found.list[i].index == 0, "%zu bins: %s", bins,
				     others[found.list[i].index].cgroup);
		free(found.list);
	}
}

/* All fields that tell one run from another. */
struct digest {
	u64 samples, hash;
};

static void digest(void *userdata, const struct sample *sample)
{
	struct digest *run = userdata;

	run->samples++;
	run->hash = run->hash * 0x100000001b3ULL ^ sample->address ^ sample->latency << 40 ^
		    sample->data_source ^ sample->cgroup_id << 8 ^ sample->event;
}

static struct digest digest_of(const struct computer_settings *settings, u64 ns, u64 slice)
{
	_cleanup_(computer_freep) struct computer *computer = NULL;
	struct digest run = {0};

	cr_assert_eq(computer_new(settings, &computer), 0);
	for (; ns > 0; ns -= slice < ns ? slice : ns)
		cr_assert_eq(computer_run(computer, slice < ns ? slice : ns, digest, &run), 0);
	cr_assert_eq(computer_drain(computer, digest, &run), 0);
	cr_expect_eq(computer_cores(computer), 10);
	cr_expect_eq(computer_cgroups(computer), 6);
	return run;
}

Test(model_scenario_play, the_same_seed_gives_the_same_samples_in_any_slices)
{
	struct computer_settings settings = settings_of(ALL_PROGRAMS);
	const u64 ns = 2 * NSEC_PER_SEC + 7;
	const struct digest first = digest_of(&settings, ns, 50 * NSEC_PER_MSEC);
	const struct digest again = digest_of(&settings, ns, 50 * NSEC_PER_MSEC);
	const struct digest slices = digest_of(&settings, ns, 3000017);
	struct digest other;

	cr_expect_gt(first.samples, 1000);
	cr_expect_eq(first.samples, again.samples);
	cr_expect_eq(first.hash, again.hash);
	cr_expect_eq(first.samples, slices.samples, "only their order may differ");
	settings.seed = 2;
	other = digest_of(&settings, ns, 50 * NSEC_PER_MSEC);
	cr_expect_neq(first.hash, other.hash);
}

/* The figures of a workload alone and beside all programs, in the phase of the backup. */
Test(model_scenario_play, the_scenario_does_not_change_workloads)
{
	struct computer_settings alone = settings_of(1U << WORKLOAD_REMOTE_NUMA);
	struct computer_settings beside = settings_of(1U << WORKLOAD_REMOTE_NUMA | 1U << WORKLOAD_BACKUP);
	struct counts_of_bin with, without;

	for (int i = 0; i < 2; i++) {
		_cleanup_(computer_freep) struct computer *computer = NULL;

		memset(played, 0, sizeof(played));
		cr_assert_eq(computer_new(i ? &beside : &alone, &computer), 0);
		bin = 0;
		cr_assert_eq(computer_run(computer, 50 * NSEC_PER_SEC, take, NULL), 0);
		cr_assert_eq(computer_drain(computer, take, NULL), 0);
		*(i ? &with : &without) = played[0][WORKLOAD_REMOTE_NUMA];
	}
	cr_expect_gt(without.samples[EVENT_OF_LOADS], 10000);
	cr_expect_eq(with.samples[EVENT_OF_LOADS], without.samples[EVENT_OF_LOADS]);
	cr_expect_eq(with.latency, without.latency);
}
