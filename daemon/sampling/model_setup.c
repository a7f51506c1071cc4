// SPDX-License-Identifier: GPL-2.0
#include "sampling/model_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "model/machine_event.h"

/*
 * The period for `auto`. It is a prime: if the trip count of a loop divided it, always the same load would be
 * sampled.
 */
#define PERIOD_AUTO 10007

/* The periods of counts for `auto`, primes for the same reason. They are those of a real core. */
#define COUNTS_PERIOD_AUTO 10000019
#define MISSES_PERIOD_AUTO 50021

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

static enum count_kind stalls_of(const struct machine *machine)
{
	struct machine_event event;

	machine_event_find_stalls(machine, &event);
	if (event.kind != MACHINE_EVENT_STALLS)
		return COUNT_NONE;
	return event.stalls == STALLS_LOAD      ? COUNT_STALLS_LOAD
	       : event.stalls == STALLS_L1_MISS ? COUNT_STALLS_L1_MISS
						: COUNT_STALLS_RETIRE;
}

static enum count_kind misses_of(const struct machine *machine)
{
	struct machine_event event;

	machine_event_find_misses(machine, &event);
	if (event.kind != MACHINE_EVENT_MISSES)
		return COUNT_NONE;
	return machine->memory.l3_bytes ? COUNT_MISSES_L3 : COUNT_MISSES_L2;
}

static u64 count_period(enum event_role role, const struct event_periods *periods)
{
	const u64 configured = event_period_of(periods, role);

	if (configured != CONFIG_PERIOD_AUTO)
		return configured;
	return role == EVENT_MISSES ? MISSES_PERIOD_AUTO : COUNTS_PERIOD_AUTO;
}

/* Lists the configured counts that the CPU has. */
static size_t counts_of(const struct config *config, struct model_count ret[MODEL_COUNTS_MAX])
{
	static const enum event_role roles[] = {EVENT_INSTRUCTIONS, EVENT_CYCLES, EVENT_STALLS, EVENT_MISSES};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (!(config_roles(config) >> roles[i] & 1) ||
		    (roles[i] == EVENT_STALLS && stalls_of(config->cpu) == COUNT_NONE) ||
		    (roles[i] == EVENT_MISSES && misses_of(config->cpu) == COUNT_NONE))
			continue;
		ret[n++] = (struct model_count){.role = roles[i],
						.period = count_period(roles[i], &config->periods)};
	}
	return n;
}

int model_computer(const struct config *config, struct computer **ret, struct failure *failure)
{
	const u64 wanted = model_period(config->periods.accesses);
	struct computer_settings settings = {
		.machine = config->cpu,
		.seed = config->seed,
		.workloads = config->workloads,
		.ldlat = (u32)config->ldlat,
		.period = wanted,
	};
	u64 period;
	int r;

	settings.n_counts = counts_of(config, settings.counts);
	r = computer_new(&settings, ret);
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

/* The prefix keeps the name from being taken for a PMU of a real machine. */
static void name_pmu(const struct config *config, struct event *event)
{
	event->nominal_hz = MODEL_HERTZ;
	(void)snprintf(event->pmu, sizeof(event->pmu), "model-%s", config->cpu->name);
}

size_t model_events(const struct config *config, u64 period, struct event ret[static EVENTS_MAX])
{
	bool split = config->cpu->mechanisms & MECHANISM_LATENCY_SPLIT;
	struct model_count counts[MODEL_COUNTS_MAX];
	size_t n = counts_of(config, counts);

	ret[0] = (struct event){
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
	name_pmu(config, &ret[0]);
	for (size_t i = 0; i < n; i++) {
		ret[1 + i] = (struct event){.role = counts[i].role, .period = counts[i].period};
		if (counts[i].role == EVENT_STALLS)
			ret[1 + i].count_kind = stalls_of(config->cpu);
		if (counts[i].role == EVENT_MISSES)
			ret[1 + i].count_kind = misses_of(config->cpu);
		name_pmu(config, &ret[1 + i]);
	}
	return 1 + n;
}

int model_check_periods(const struct event *events, size_t n, u64 period, const struct event_periods *periods,
			char **ret_message)
{
	*ret_message = NULL;
	if (model_period(periods->accesses) != period) {
		if (asprintf(ret_message, "the model keeps its period of %llu: restart pebsd to change it",
			     (unsigned long long)period) < 0)
			*ret_message = NULL;
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < n; i++) {
		if (!event_is_count(&events[i]) || count_period(events[i].role, periods) == events[i].period)
			continue;
		if (asprintf(ret_message,
			     "the model keeps its period of %llu for %s: restart pebsd to change it",
			     (unsigned long long)events[i].period, event_role_name(events[i].role)) < 0)
			*ret_message = NULL;
		return -EOPNOTSUPP;
	}
	return 0;
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
