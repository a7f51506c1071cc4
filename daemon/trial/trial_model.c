// SPDX-License-Identifier: GPL-2.0
#include "trial/trial_model.h"

#include <errno.h>
#include <string.h>

#include "sampling/model_setup.h"

struct run {
	struct trial *trial;
	struct computer *computer;
	u64 seen;
	int result; /* the first error of trial_add() */
};

static void take(void *userdata, const struct sample *sample)
{
	struct run *run = userdata;

	run->seen++;
	if (run->result == 0)
		run->result = trial_add(run->trial, sample, 1);
}

/* Runs the model for one collection. It includes the records that are still in the DS areas. */
static int run_for(struct run *run, u64 ns)
{
	const u64 expected_before = computer_expected(run->computer);
	const u64 seen_before = run->seen;
	struct sliding_time times[EVENTS_MAX] = {0};
	u64 seen;
	int r;

	r = computer_run(run->computer, ns, take, run);
	if (r == 0)
		r = computer_drain(run->computer, take, run);
	if (r == 0)
		r = run->result;
	if (r < 0)
		return r;
	seen = run->seen - seen_before;
	times[0].enabled_ns = times[0].running_ns = ns * computer_cores(run->computer);
	times[0].expected = computer_expected(run->computer) - expected_before;
	times[0].lost = times[0].expected > seen ? times[0].expected - seen : 0;
	return trial_collect(run->trial, computer_ns(run->computer), times);
}

static int name_cgroups(const struct run *run)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < computer_cores(run->computer); i++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(run->computer, i, name);

		r = trial_name(run->trial, id, name);
	}
	return r;
}

static int run_all(struct run *run, const struct config *config, u64 ns)
{
	char *note;
	int r = model_note(config, &note);

	if (r == 0)
		r = trial_note(run->trial, note);
	if (r == 0)
		r = trial_begin(run->trial, NULL, 0, NULL);
	if (r == 0)
		r = name_cgroups(run);
	while (r == 0 && ns > 0) {
		u64 step = ns < config->interval_ns ? ns : config->interval_ns;

		r = run_for(run, step);
		ns -= step;
	}
	return r;
}

int trial_model(const struct config *config, u64 ns, struct trial **ret, struct failure *ret_failure)
{
	_cleanup_(computer_freep) struct computer *computer = NULL;
	_cleanup_(trial_freep) struct trial *trial = NULL;
	struct event event;
	struct trial_settings settings = {
		.config = config, .origin = "model", .events = &event, .n_events = 1};
	struct run run;
	int r;

	r = model_computer(config, &computer, ret_failure);
	if (r < 0)
		return r;
	model_event(config, computer_period(computer), &event);
	r = trial_new(&settings, &trial);
	if (r < 0)
		return r;
	run = (struct run){.trial = trial, .computer = computer};
	r = run_all(&run, config, ns);
	if (r == 0)
		*ret = TAKE_PTR(trial);
	return r;
}
