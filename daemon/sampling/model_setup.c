// SPDX-License-Identifier: GPL-2.0
#include "sampling/model_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

/*
 * The period for `auto`. It is a prime: if the trip count of a loop divided it, always the same load would be
 * sampled.
 */
#define PERIOD_AUTO 10007

u64 model_period(u64 configured)
{
	return configured == CONFIG_PERIOD_AUTO ? PERIOD_AUTO : configured;
}

int model_fail(struct failure *failure, int error, const char *what)
{
	failure->code = EXIT_FAILED;
	if (asprintf(&failure->message, "cannot start the model: %s: %s", what, strerror(-error)) < 0)
		failure->message = NULL;
	return error;
}

int model_computer(const struct config *config, struct computer **ret, struct failure *failure)
{
	const u64 wanted = model_period(config->period);
	const struct computer_settings settings = {
		.machine = config->cpu,
		.seed = config->seed,
		.workloads = config->workloads,
		.ldlat = (u32)config->ldlat,
		.period = wanted,
	};
	int r = computer_new(&settings, ret);
	u64 period;

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return model_fail(failure, r, config->cpu->title);
	period = computer_period(*ret);
	if (period != wanted)
		log_notice(
			"the model's CPU (%s) has a minimum period of %llu, which pebsd uses instead of %llu",
			config->cpu->title, (unsigned long long)period, (unsigned long long)wanted);
	return 0;
}

void model_event(const struct config *config, u64 period, struct event *ret)
{
	bool split = config->cpu->mechanisms & MECHANISM_LATENCY_SPLIT;

	*ret = (struct event){
		.role = EVENT_LOADS,
		.ldlat = (u32)config->ldlat,
		.latency_kind = split ? LATENCY_CACHE : LATENCY_USE,
		.period = period,
		.settings = {.has_latency = 1,
			     .has_instruction_latency = split,
			     .has_source = 1,
			     .has_address = 1,
			     .has_code_address = 1},
	};
	/* The prefix keeps the name from being taken for a PMU of a real machine. */
	(void)snprintf(ret->pmu, sizeof(ret->pmu), "model-%s", config->cpu->name);
}

int model_note(const struct config *config, char **ret)
{
	if (asprintf(
		    ret,
		    "these numbers come from a model (no measurement): software simulates a CPU (%s, seed %llu) "
		    "and its workloads",
		    config->cpu->title, (unsigned long long)config->seed) >= 0)
		return 0;
	*ret = NULL;
	return -ENOMEM;
}
