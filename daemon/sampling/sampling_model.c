// SPDX-License-Identifier: GPL-2.0
/* Sampling from the model of a computer. */
#include "sampling/sampling_origin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "model/scenario.h"
#include "origin/model/model_symbol.h"
#include "origin/model/pace.h"
#include "sampling/model_setup.h"
#include "sampling/sampling_model_zoom.h"

/* `max = auto`: a slot for each workload, and one for unattributed samples. */
#define SLOTS_AUTO 16
_Static_assert((int)WORKLOAD_KINDS < SLOTS_AUTO, "a workload without a slot");

/* The roles that the model can sample. Loads are sampled in any case. */
#define MODEL_ROLES                                                                               \
	(1U << EVENT_LOADS | 1U << EVENT_INSTRUCTIONS | 1U << EVENT_CYCLES | 1U << EVENT_STALLS | \
	 1U << EVENT_MISSES)

/* Maximum time that a collection runs the model. A second of its time takes some tens of milliseconds of a CPU. */
#define CATCH_UP_NS (250 * NSEC_PER_MSEC)

/* Maximum zooms at a time. */
#define MODEL_ZOOMS_MAX 8

struct origin_state {
	struct engine *engine; /* not owned */
	struct computer *computer;
	struct pace pace;
	size_t n_events;
	u64 period; /* of loads, as requested */
	int timer;  /* triggers the steps */
	bool paused;
	u64 paused_at_ns; /* start of the present pause */
	u64 paused_ns;    /* duration of earlier pauses */
	struct sample batch[INJECT_MAX];
	size_t n_batch;
	int result;  /* the first failure since the last tick */
	bool failed; /* a failure was logged, and no tick has succeeded since */
	char *note;
	const char *notes[2];
	struct model_symbol symbol; /* result of the last query */
	u64 config; /* the event of the loads, as the registers of the model's CPU select it */
	struct node_range node_ranges[SCENARIO_NODES];
	int node_of_cpu[COMPUTER_CORES_MAX];
	struct zoom_nodes nodes;
	struct model_zoom *zooms[MODEL_ZOOMS_MAX]; /* owned by the caller of open_zoom(); NULL: none */
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

/*
 * Logs a persistent failure once. The statistics show the samples that the failure costs: they were expected
 * and did not come.
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
		fail(state, r, "the BPF programs refuse the samples of the model, which are lost");
}

static void pass_to_zooms(struct origin_state *state, const struct sample *sample)
{
	const size_t core = computer_current(state->computer);
	const struct computer_thread thread = computer_thread(state->computer, core);

	for (size_t i = 0; i < MODEL_ZOOMS_MAX; i++)
		if (state->zooms[i])
			model_zoom_take(state->zooms[i], sample, (u32)core, &thread);
}

static void take(void *userdata, const struct sample *sample)
{
	struct origin_state *state = userdata;

	state->batch[state->n_batch++] = *sample;
	pass_to_zooms(state, sample);
	if (state->n_batch == INJECT_MAX)
		flush(state);
}

static void run(struct origin_state *state, u64 ns)
{
	int r = computer_run(state->computer, ns, take, state);

	if (r < 0)
		fail(state, r, "cannot sample the model's computer any longer");
}

/*
 * Runs at most one slice of time and returns 1. If less than a slice was due, returns -EAGAIN: the timer
 * triggers the next step.
 */
static int step(struct origin_state *state)
{
	u64 expirations;
	u64 due;

	if (state->paused)
		return -EAGAIN;
	due = pace_next(&state->pace, monotonic_ns());
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

/*
 * Runs the model up to now, so that this collection includes all its samples. If the model is far behind, because
 * pebsd gets little CPU time, later steps and collections run the rest, and requests are answered in between.
 */
static int tick(struct origin_state *state)
{
	const u64 end_ns = monotonic_ns() + CATCH_UP_NS;
	u64 due, now_ns;
	int r;

	while (!state->paused && (now_ns = monotonic_ns()) < end_ns &&
	       (due = pace_next(&state->pace, now_ns)) > 0) {
		run(state, due);
		/*
		 * Less than a slice was due, so the model has caught up, except for the time that this run
		 * took.
		 */
		if (due < PACE_SLICE_NS)
			break;
	}
	r = computer_drain(state->computer, take, state);
	if (r < 0)
		fail(state, r, "cannot read the DS areas of the model");
	flush(state);
	r = state->result;
	state->result = 0;
	state->failed = state->failed && r < 0;
	return r;
}

/* Samples that are still in the DS areas were expected, so they must be counted. */
static void stop(struct origin_state *state)
{
	(void)tick(state);
}

static u64 paused_ns(const struct origin_state *state)
{
	return state->paused_ns + (state->paused ? monotonic_ns() - state->paused_at_ns : 0);
}

static void count(struct reading readings[EVENTS_MAX], void *userdata)
{
	const struct origin_state *state = userdata;
	u64 ns = computer_ns(state->computer) * computer_cores(state->computer);

	for (size_t i = 0; i < state->n_events; i++) {
		readings[i].counted = true;
		readings[i].expected = i == 0 ? computer_expected(state->computer)
					      : computer_counted(state->computer, i - 1);
		readings[i].enabled_ns = ns;
		readings[i].running_ns = ns;
		readings[i].paused_ns = paused_ns(state) * computer_cores(state->computer);
	}
}

/* All ids are the model's own numbers. */
static bool synthetic(u64 id)
{
	(void)id;
	return true;
}

static int set_periods(struct origin_state *state, const struct event_periods *periods, char **ret_message)
{
	struct event events[EVENTS_MAX];

	for (size_t i = 0; i < state->n_events; i++)
		events[i] = engine_head(state->engine)->events[i].event;
	return model_check_periods(events, state->n_events, state->period, periods, ret_message);
}

/* Nobody may take the output for a measurement of a machine. */
static int note(struct origin_state *state, const struct config *config)
{
	int r = model_note(config, &state->note);

	if (r < 0)
		return r;
	state->notes[0] = state->note;
	log_notice("%s", state->note);
	if (config_roles(config) & ~MODEL_ROLES || !(config_roles(config) & 1U << EVENT_LOADS))
		log_notice(
			"the model samples loads, and of the other `events` in [sampling] only cycles, instructions, stalls and misses");
	return 0;
}

static int name_cgroups(struct origin_state *state)
{
	for (size_t i = 0; i < computer_cgroups(state->computer); i++) {
		char name[COMPUTER_NAME_MAX];
		u64 id = computer_cgroup(state->computer, i, name);
		int r = engine_adopt(state->engine, id, name);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The timer fires once a slice, or never. */
static int set_timer(const struct origin_state *state, bool on)
{
	const struct timespec period = {.tv_nsec = on ? PACE_SLICE_NS : 0};
	const struct itimerspec timer = {.it_interval = period, .it_value = period};

	return timerfd_settime(state->timer, 0, &timer, NULL) < 0 ? -errno : 0;
}

static int start_timer(struct origin_state *state)
{
	state->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return state->timer < 0 ? -errno : set_timer(state, true);
}

/* The computer stands still during a pause, so there is nothing to sample. */
static int pause_model(struct origin_state *state)
{
	int r;

	if (state->paused)
		return 0;
	r = set_timer(state, false);
	if (r < 0)
		return r;
	(void)tick(state);
	state->paused = true;
	state->paused_at_ns = monotonic_ns();
	return 0;
}

static int resume_model(struct origin_state *state)
{
	if (!state->paused)
		return 0;
	state->paused_ns = paused_ns(state);
	state->paused = false;
	state->pace.now_ns = monotonic_ns();
	return set_timer(state, true);
}

/* Delivers the samples that wait in the DS areas. */
static void flush_areas(void *userdata)
{
	struct origin_state *state = userdata;

	if (!state->paused)
		(void)tick(state);
}

static int find_cgroup(const struct origin_state *state, const char *path, u64 *ret_id,
		       enum workload_kind *ret_kind)
{
	for (size_t i = 0; i < computer_cgroups(state->computer); i++) {
		char name[COMPUTER_NAME_MAX];
		int kind;

		*ret_id = computer_cgroup(state->computer, i, name);
		if (strcmp(name, path) != 0)
			continue;
		kind = workload_find(name + strlen("model:"));
		*ret_kind = (enum workload_kind)kind;
		return kind < 0 ? kind : 0;
	}
	return -ENOENT;
}

static int add_zoom(struct origin_state *state, const struct model_zoom_settings *settings,
		    struct zoom_source **ret, char **ret_message)
{
	for (size_t i = 0; i < MODEL_ZOOMS_MAX; i++) {
		int r;

		if (state->zooms[i])
			continue;
		r = model_zoom_new(settings, &state->zooms[i]);
		if (r == 0)
			*ret = model_zoom_source(state->zooms[i]);
		return r;
	}
	*ret_message = strdup("too many zooms are running; wait until one ends");
	return -EBUSY;
}

static int open_zoom(struct origin_state *state, const char *path, u32 rate, struct zoom_source **ret,
		     char **ret_note, char **ret_message)
{
	struct model_zoom_settings settings = {
		.rate = rate,
		.event = engine_head(state->engine)->events[0].event,
		.config = state->config,
		.nodes = &state->nodes,
		.flush = flush_areas,
		.userdata = state,
	};
	int r;

	*ret_note = *ret_message = NULL;
	if (state->paused) {
		*ret_message = strdup(
			"pebsd is paused, so the model stands still; run `pebsctl resume` to end the pause");
		return -EBUSY;
	}
	r = find_cgroup(state, path, &settings.cgroup_id, &settings.workload);
	if (r < 0) {
		if (asprintf(ret_message, "the model runs no program in the cgroup %s", path) < 0)
			*ret_message = NULL;
		return r;
	}
	/* Samples from before the zoom do not belong to it. */
	flush_areas(state);
	settings.now_ns = monotonic_ns();
	r = add_zoom(state, &settings, ret, ret_message);
	if (r == 0)
		*ret_note = strdup(
			"the program exists only in the model, and so do its functions, source files and lines");
	return r;
}

static void close_zoom(struct origin_state *state, struct zoom_source *source)
{
	for (size_t i = 0; i < MODEL_ZOOMS_MAX; i++)
		if (state->zooms[i] && state->zooms[i] == model_zoom_of(source))
			state->zooms[i] = model_zoom_free(state->zooms[i]);
}

static const struct symbol *name_of(struct origin_state *state, const struct symbol_query *query)
{
	return model_symbol(query->address, &state->symbol);
}

/* Each node's memory, and the node of each core. */
static void describe_nodes(struct origin_state *state)
{
	for (size_t node = 0; node < SCENARIO_NODES; node++)
		state->node_ranges[node] = (struct node_range){.start = (node + 1) * MODEL_ZOOM_NODE_BYTES,
							       .end = (node + 2) * MODEL_ZOOM_NODE_BYTES,
							       .node = (int)node};
	for (size_t core = 0; core < computer_cores(state->computer); core++)
		state->node_of_cpu[core] = (int)computer_thread(state->computer, core).node;
	state->nodes = (struct zoom_nodes){.ranges = state->node_ranges,
					   .n_ranges = SCENARIO_NODES,
					   .of_cpu = state->node_of_cpu,
					   .n_cpus = computer_cores(state->computer)};
}

static void describe(struct origin_state *state)
{
	struct snapshot *head = engine_head(state->engine);
	size_t cores = computer_cores(state->computer);

	head->notes = state->notes;
	head->nominal_hz = (struct maybe_double){.known = true, .value = MODEL_HERTZ};
	for (size_t i = 0; i < state->n_events; i++) {
		struct snapshot_event *event = &head->events[i];

		event->n_cpus = cores;
		(void)snprintf(event->cpus, sizeof(event->cpus), cores > 1 ? "0-%zu" : "%zu", cores - 1);
		if (event->event.role == EVENT_CYCLES)
			event->frequency_hz = head->nominal_hz;
	}
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
	state->period = model_period(config->periods.accesses);
	r = model_computer(config, &state->computer, ret_failure);
	if (r == 0)
		r = note(state, config);
	if (r < 0)
		return r;
	state->n_events = model_events(config, computer_period(state->computer), engine_settings->events);
	engine_settings->n_events = state->n_events;
	engine_settings->slots = config->cgroups_max ? (u32)config->cgroups_max : SLOTS_AUTO;
	/* The model never gets more cgroups than it begins with, so no slots are added. */
	engine_settings->memory_max = 0;
	engine_settings->synthetic = synthetic;
	engine_settings->count = count;
	engine_settings->count_userdata = state;
	engine_settings->account = KERNEL_ACCOUNT_EITHER;
	r = engine_open(engine_settings, ret_engine, &ret_failure->message);
	if (r < 0) {
		ret_failure->code = r == -ENOMEM ? EXIT_FAILED : EXIT_CANNOT;
		return r;
	}
	state->engine = *ret_engine;
	r = name_cgroups(state);
	if (r < 0)
		return model_fail(ret_failure, r, "its cgroups");
	r = start_timer(state);
	if (r < 0)
		return model_fail(ret_failure, r, "its timer");
	describe(state);
	describe_nodes(state);
	state->config = config->cpu->load_latency_event;
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
	.pause = pause_model,
	.resume = resume_model,
	.zoom_open = open_zoom,
	.zoom_close = close_zoom,
	.name_of = name_of,
};
