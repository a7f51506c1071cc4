// SPDX-License-Identifier: GPL-2.0
#include "sampling_origin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "origin/model/computer.h"
#include "origin/model/pace.h"

/* `max = auto`: the workloads there are, and as many again. */
#define SLOTS_AUTO 16

/* `period = auto`: a prime, so that no loop whose trip count divides it is always sampled at the same load.
 */
#define PERIOD_AUTO 10007

struct origin_state {
	struct engine *engine; /* not owned */
	struct computer *computer;
	struct pace pace;
	u64 period; /* as asked for */
	int timer;  /* of the steps */
	struct sample batch[INJECT_MAX];
	size_t n_batch;
	int result;  /* of the first failure since the last tick */
	bool failed; /* told of already */
	char *note;
	const char *notes[2];
};

static void free_state(struct origin_state *state)
{
	if (!state)
		return;
	if (state->timer >= 0)
		(void)close(state->timer);
	computer_free(state->computer);
	free(state->note);
	free(state);
}

static void free_statep(struct origin_state **state)
{
	free_state(*state);
}

static u64 monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* A failure that goes on is told once. What it cost is seen in the figures: it was expected and did not come.
 */
static void fail(struct origin_state *state, int error, const char *what)
{
	if (!state->failed)
		(void)log_error(error, "%s", what);
	state->failed = true;
	if (state->result == 0)
		state->result = error;
}

static void flush(struct origin_state *state)
{
	int r = state->n_batch ? kernel_inject(engine_kernel(state->engine), state->batch, state->n_batch)
			       : 0;

	state->n_batch = 0;
	if (r < 0)
		fail(state, r, "the kernel side does not take the model's samples: they are lost");
}

static void take(void *userdata, const struct sample *sample)
{
	struct origin_state *state = userdata;

	state->batch[state->n_batch++] = *sample;
	if (state->n_batch == INJECT_MAX)
		flush(state);
}

static void run(struct origin_state *state, u64 ns)
{
	int r = computer_run(state->computer, ns, take, state);

	if (r < 0)
		fail(state, r, "the model's computer cannot be sampled on");
}

/* A slice of time at once. Waits for the timer when all that was due is done. */
static int step(struct origin_state *state)
{
	u64 due = pace_next(&state->pace, monotonic_ns());
	u64 expirations;

	run(state, due);
	flush(state);
	if (due == PACE_SLICE_NS)
		return 1;
	(void)!read(state->timer, &expirations, sizeof(expirations));
	return -EAGAIN;
}

static int input(const struct origin_state *state)
{
	return state->timer;
}

/* What was sampled until now is in the books of this collection. */
static int tick(struct origin_state *state)
{
	u64 due;
	int r;

	while ((due = pace_next(&state->pace, monotonic_ns())) > 0) {
		run(state, due);
		/* The rest is what this run itself has taken. */
		if (due < PACE_SLICE_NS)
			break;
	}
	r = computer_drain(state->computer, take, state);
	if (r < 0)
		fail(state, r, "the model's DS areas cannot be read");
	flush(state);
	r = state->result;
	state->result = 0;
	state->failed = state->failed && r < 0;
	return r;
}

/* What waits in the DS areas has been expected: it is to be seen too. */
static void stop(struct origin_state *state)
{
	(void)tick(state);
}

static void count(struct reading readings[EVENTS_MAX], void *userdata)
{
	const struct origin_state *state = userdata;
	u64 ns = computer_ns(state->computer) * computer_cores(state->computer);

	readings[0].counted = true;
	readings[0].expected = computer_expected(state->computer);
	readings[0].enabled_ns = ns;
	readings[0].running_ns = ns;
}

/* The model's ids are its own numbering, whatever they are. */
static bool synthetic(u64 id)
{
	(void)id;
	return true;
}

static int fail_to_open(struct failure *failure, int error, const char *what)
{
	failure->code = EXIT_FAILED;
	if (asprintf(&failure->message, "cannot start the model: %s: %s", what, strerror(-error)) < 0)
		failure->message = NULL;
	return error;
}

static u64 wanted_period(u64 configured)
{
	return configured == CONFIG_PERIOD_AUTO ? PERIOD_AUTO : configured;
}

static int set_periods(struct origin_state *state, u64 period, u64 instructions_period, char **ret_message)
{
	(void)instructions_period;
	if (wanted_period(period) == state->period)
		return 0;
	if (asprintf(ret_message,
		     "the model stays at a period of %llu: it takes another when pebsd is started again",
		     (unsigned long long)state->period) < 0)
		*ret_message = NULL;
	return -EOPNOTSUPP;
}

static int open_computer(struct origin_state *state, const struct config *config, struct failure *failure)
{
	const u64 wanted = wanted_period(config->period);
	const struct computer_settings settings = {
		.machine = config->cpu,
		.seed = config->seed,
		.workloads = config->workloads,
		.ldlat = (u32)config->ldlat,
		.period = wanted,
	};
	u64 period;
	int r = computer_new(&settings, &state->computer);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fail_to_open(failure, r, config->cpu->title);
	period = computer_period(state->computer);
	state->period = wanted;
	if (period != wanted)
		log_notice("a %s samples one of %llu loads at most: period = %llu is taken for that",
			   config->cpu->title, (unsigned long long)period, (unsigned long long)wanted);
	return 0;
}

static void describe_event(const struct config *config, u64 period, struct event *ret)
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
			     .has_address = 1},
	};
	/* No label of a figure is to be taken for a machine's. */
	(void)snprintf(ret->pmu, sizeof(ret->pmu), "model-%s", config->cpu->name);
}

/* Nothing that is printed may be taken for what a machine does. */
static int note(struct origin_state *state, const struct config *config)
{
	if (asprintf(&state->note,
		     "these are figures of a model, no measurement: a %s in software, seed %llu, runs "
		     "workloads "
		     "of its own",
		     config->cpu->title, (unsigned long long)config->seed) < 0) {
		state->note = NULL;
		return -ENOMEM;
	}
	state->notes[0] = state->note;
	log_notice("%s", state->note);
	if (config->events != 1U << EVENT_LOADS)
		log_notice("the model plays loads alone, whatever `events` in [sampling] says");
	return 0;
}

static int name_cgroups(struct origin_state *state)
{
	for (size_t i = 0; i < computer_cores(state->computer); i++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(state->computer, i, name);
		int r = names_add_path(engine_names(state->engine), id, name);

		if (r == 0)
			r = kernel_adopt(engine_kernel(state->engine), id, 0, name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int start_timer(struct origin_state *state)
{
	const struct timespec period = {.tv_nsec = PACE_SLICE_NS};
	const struct itimerspec timer = {.it_interval = period, .it_value = period};

	state->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (state->timer < 0 || timerfd_settime(state->timer, 0, &timer, NULL) < 0)
		return -errno;
	return 0;
}

static void describe(struct origin_state *state)
{
	struct snapshot *head = engine_head(state->engine);
	size_t cores = computer_cores(state->computer);

	head->notes = state->notes;
	head->events[0].n_cpus = cores;
	(void)snprintf(head->events[0].cpus, sizeof(head->events[0].cpus), cores > 1 ? "0-%zu" : "%zu",
		       cores - 1);
}

static int open_model(const struct sampling_settings *settings, struct engine_settings *engine_settings,
		      struct engine **ret_engine, struct origin_state **ret, struct failure *ret_failure)
{
	_cleanup_(free_statep) struct origin_state *state = calloc(1, sizeof(*state));
	const struct config *config = settings->config;
	int r;

	if (!state)
		return -ENOMEM;
	state->timer = -1;
	r = open_computer(state, config, ret_failure);
	if (r == 0)
		r = note(state, config);
	if (r < 0)
		return r;
	engine_settings->n_events = 1;
	describe_event(config, computer_period(state->computer), &engine_settings->events[0]);
	engine_settings->slots = config->cgroups_max ? (u32)config->cgroups_max : SLOTS_AUTO;
	engine_settings->stripes = 1; /* one writer */
	engine_settings->synthetic = synthetic;
	engine_settings->count = count;
	engine_settings->count_userdata = state;
	r = engine_open(engine_settings, ret_engine, &ret_failure->message);
	if (r < 0) {
		ret_failure->code = r == -ENOMEM ? EXIT_FAILED : EXIT_CANNOT;
		return r;
	}
	state->engine = *ret_engine;
	r = name_cgroups(state);
	if (r < 0)
		return fail_to_open(ret_failure, r, "its cgroups");
	r = start_timer(state);
	if (r < 0)
		return fail_to_open(ret_failure, r, "its timer");
	describe(state);
	state->pace.now_ns = monotonic_ns();
	*ret = TAKE_PTR(state);
	return 0;
}

const struct origin origin_model = {
	.name = "model",
	.open = open_model,
	.free = free_state,
	.step = step,
	.input = input,
	.tick = tick,
	.stop = stop,
	.set_periods = set_periods,
};
