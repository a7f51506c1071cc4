// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own_memory.h"
#include "cgroup/memory_limit.h"
#include "engine/growth.h"
#include "sampling/sampling_origin.h"
#include "sampling/sampling_saved.h"
#include "series/series.h"

struct sampling {
	const struct origin *origin;
	struct origin_state *state;
	struct engine *engine;
	struct stripes stripes;
	struct sampling_saved saved;
	int memory; /* descriptor for own_memory_read() */
};

_Static_assert(CONFIG_TOP_AUTO == SERIES_TOP_AUTO, "handed on as it is");

static bool exported(const char *path, void *userdata)
{
	return config_exports(userdata, path);
}

static bool hot(const char *path, void *userdata)
{
	return config_hot(userdata, path);
}

static const struct origin *origin_for(enum config_origin origin)
{
	switch (origin) {
	case CONFIG_ORIGIN_REPLAY:
		return &origin_replay;
	case CONFIG_ORIGIN_MODEL:
		return &origin_model;
	case CONFIG_ORIGIN_AUTO: /* never the model: its figures are not a measurement */
	case CONFIG_ORIGIN_PERF:
		break;
	}
	return &origin_perf;
}

static int find_stripes(const struct origin *origin, struct stripes *ret)
{
	return origin->on_cpus ? stripes_of_machine(NULL, 0, ret) : stripes_single(ret);
}

/*
 * If the maps are inherited, CPUs write to the stripes that they had before, whatever a new assignment would
 * say.
 */
static void take_stripes(struct sampling *sampling)
{
	const struct kernel *kernel = engine_kernel(sampling->engine);

	for (u32 cpu = 0; cpu < sampling->stripes.cpus; cpu++)
		sampling->stripes.of_cpu[cpu] = (u8)kernel_stripe_of(kernel, cpu);
}

static void describe_start(struct sampling *sampling)
{
	struct snapshot *head = engine_head(sampling->engine);

	head->stripe_caches = sampling->stripes.caches;
	head->anonymous_peak_bytes.value = kernel_start_peak(engine_kernel(sampling->engine));
	head->anonymous_peak_bytes.known = head->anonymous_peak_bytes.value > 0;
	sampling->memory = own_memory_open();
}

static void look_at_memory(struct sampling *sampling)
{
	struct maybe_u64 *bytes = &engine_head(sampling->engine)->anonymous_bytes;

	bytes->known = sampling->memory >= 0 && own_memory_read(sampling->memory, &bytes->value) == 0;
}

static u64 slots_memory(const struct config *config)
{
	if (config->cgroups_max != CONFIG_CGROUPS_MAX_AUTO)
		return 0;
	if (config->cgroups_max_memory != CONFIG_MAX_MEMORY_AUTO)
		return config->cgroups_max_memory;
	return growth_memory((u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE),
			     cgroup_own_memory_limit());
}

static int describe_unrestored(int error, char **ret_message)
{
	if (asprintf(ret_message,
		     "cannot restore the counts of the previous process, or start to save counts: %s; "
		     "the stored counts are kept, and the next start tries again",
		     strerror(-error)) < 0)
		*ret_message = NULL;
	return error;
}

int sampling_open(const struct sampling_settings *settings, struct sampling **ret,
		  struct failure *ret_failure)
{
	_cleanup_(sampling_freep) struct sampling *sampling = calloc(1, sizeof(*sampling));
	struct engine_settings engine = {
		.top = settings->config->top,
		.interval_ns = settings->config->interval_ns,
		.exported = exported,
		.hot_max = (u32)settings->config->hot_max,
		.memory_max = slots_memory(settings->config),
		.memory_auto = settings->config->cgroups_max_memory == CONFIG_MAX_MEMORY_AUTO,
		.hot = hot,
		.listener = settings->listener,
		.userdata = (void *)settings->config,
	};
	int r;

	*ret_failure = (struct failure){.code = EXIT_FAILED};
	if (!sampling)
		return -ENOMEM;
	sampling->memory = -1;
	sampling->origin = origin_for(settings->config->origin);
	engine.origin = sampling->origin->name;
	/*
	 * A replay has no trend: the time when a recording is read says nothing about the time of its
	 * samples.
	 */
	engine.trend_bytes = settings->config->origin == CONFIG_ORIGIN_REPLAY ? 0 : TREND_BYTES;
	r = find_stripes(sampling->origin, &sampling->stripes);
	if (r < 0)
		return r;
	engine.stripes = &sampling->stripes;
	if (sampling->origin->saved) {
		r = sampling_saved_open(settings->store, &sampling->saved);
		if (r < 0)
			return describe_unrestored(r, &ret_failure->message);
		engine.handover = sampling->saved.handover;
		engine.state = sampling->saved.state;
	}
	r = sampling->origin->open(settings, &engine, &sampling->engine, &sampling->state, ret_failure);
	if (r < 0)
		return r;
	take_stripes(sampling);
	describe_start(sampling);
	*ret = TAKE_PTR(sampling);
	return 0;
}

struct sampling *sampling_free(struct sampling *sampling)
{
	if (!sampling)
		return NULL;
	/* Stop the events before the maps that they count in are freed. */
	if (sampling->state)
		sampling->origin->free(sampling->state);
	engine_free(sampling->engine);
	sampling_saved_done(&sampling->saved);
	stripes_done(&sampling->stripes);
	cleanup_close(&sampling->memory);
	free(sampling);
	return NULL;
}

struct engine *sampling_engine(const struct sampling *sampling)
{
	return sampling->engine;
}

struct handover *sampling_handover(const struct sampling *sampling)
{
	return sampling->saved.handover;
}

void sampling_set_hot(struct sampling *sampling, const struct config *config)
{
	engine_set_hot(sampling->engine, hot, (void *)config);
}

bool sampling_has_steps(const struct sampling *sampling)
{
	return sampling->origin->step != NULL;
}

int sampling_step(struct sampling *sampling)
{
	return sampling->origin->step ? sampling->origin->step(sampling->state) : 0;
}

int sampling_input(const struct sampling *sampling)
{
	return sampling->origin->input ? sampling->origin->input(sampling->state) : -1;
}

int sampling_tick(struct sampling *sampling)
{
	int ticked = sampling->origin->tick ? sampling->origin->tick(sampling->state) : 0;
	int r = engine_collect(sampling->engine);

	look_at_memory(sampling);
	if (r == 0 && sampling->saved.handover)
		handover_confirm(sampling->saved.handover);
	return ticked < 0 ? ticked : r;
}

int sampling_stop(struct sampling *sampling)
{
	if (sampling->origin->stop)
		sampling->origin->stop(sampling->state);
	/*
	 * If the process ends on purpose before its first collection, the inherited state was not at fault.
	 */
	if (sampling->saved.handover)
		handover_confirm(sampling->saved.handover);
	return engine_collect_last(sampling->engine);
}

bool sampling_complete(const struct sampling *sampling, const char **ret_message)
{
	*ret_message = NULL;
	return !sampling->origin->complete || sampling->origin->complete(sampling->state, ret_message);
}

int sampling_health(const struct sampling *sampling, const char **ret_reason)
{
	*ret_reason = NULL;
	return sampling->origin->health ? sampling->origin->health(sampling->state, ret_reason) : 0;
}

int sampling_set_periods(struct sampling *sampling, const struct event_periods *periods, char **ret_message)
{
	*ret_message = NULL;
	if (!sampling->origin->set_periods)
		return 0;
	return sampling->origin->set_periods(sampling->state, periods, ret_message);
}

void sampling_set_budget(struct sampling *sampling, double budget)
{
	if (sampling->origin->set_budget)
		sampling->origin->set_budget(sampling->state, budget);
}

/* Returns "loads, stores". The caller frees; NULL if memory ran out. */
static char *join_keys(const struct snapshot *head)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	for (size_t i = 0; i < head->n_events; i++)
		(void)fprintf(stream, "%s%s", i ? ", " : "", head->events[i].key);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

int sampling_pause(struct sampling *sampling)
{
	return sampling->origin->pause ? sampling->origin->pause(sampling->state) : -EOPNOTSUPP;
}

int sampling_resume(struct sampling *sampling)
{
	return sampling->origin->resume ? sampling->origin->resume(sampling->state) : 0;
}

int sampling_zoom_open(struct sampling *sampling, const char *path, u32 rate, struct zoom_source **ret,
		       char **ret_note, char **ret_message)
{
	*ret_note = *ret_message = NULL;
	return sampling->origin->zoom_open(sampling->state, path, rate, ret, ret_note, ret_message);
}

void sampling_zoom_close(struct sampling *sampling, struct zoom_source *source)
{
	sampling->origin->zoom_close(sampling->state, source);
}

bool sampling_zooms(const struct sampling *sampling)
{
	return sampling->origin->zoom_open;
}

bool sampling_names(const struct sampling *sampling)
{
	return sampling->origin->name_of;
}

const struct symbol *sampling_name(struct sampling *sampling, const struct symbol_query *query)
{
	return sampling->origin->name_of ? sampling->origin->name_of(sampling->state, query) : NULL;
}

char *sampling_status(const struct sampling *sampling)
{
	const struct snapshot *head = engine_head(sampling->engine);
	_cleanup_free_ char *keys = join_keys(head);
	char *status;

	if (asprintf(&status, "Origin %s: %s of %llu cgroup%s, every %.3g s%s%s", head->origin,
		     keys && *keys              ? keys
		     : head->offcore.n_pmus > 0 ? "off-core responses"
						: "nothing",
		     (unsigned long long)head->cgroups_alive, head->cgroups_alive == 1 ? "" : "s",
		     head->interval_seconds, sampling->origin == &origin_model ? "; no measurement" : "",
		     head->paused ? "; paused" : "") < 0)
		return NULL;
	return status;
}
