// SPDX-License-Identifier: GPL-2.0
#include "engine/engine.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "engine/engine_internal.h"

static void describe_events(struct engine *engine)
{
	struct snapshot *head = &engine->head;

	head->n_events = engine->settings.n_events;
	for (size_t i = 0; i < head->n_events; i++) {
		head->events[i].event = engine->settings.events[i];
		event_key(engine->settings.events, head->n_events, i, head->events[i].key);
	}
}

static int open_parts(struct engine *engine, bool same_maps)
{
	const struct engine_settings *settings = &engine->settings;
	struct timespec start;
	int r;

	(void)clock_gettime(CLOCK_REALTIME, &engine->head.since);
	engine->collected_ns = monotonic_ns();
	engine->began = engine->windows_began =
		(struct clocks){realtime_us(&engine->head.since), engine->collected_ns};
	same_maps = engine_restore_times(engine, same_maps);
	start = realtime_of_us(engine->windows_began.realtime_us);
	engine->exports_as_of = 1;
	engine->sums = calloc(settings->n_events + 1, sizeof(*engine->sums));
	if (!engine->sums)
		return -ENOMEM;
	if ((r = names_new(2 * (size_t)kernel_slots_max(engine->kernel) + 1024, &engine->names)) < 0 ||
	    (r = totals_new(&engine->totals)) < 0 ||
	    (r = series_table_new(settings->top, &engine->series)) < 0 ||
	    (r = window_new(ENGINE_WINDOW_BYTES, ENGINE_WINDOW_NS, engine->windows_began.monotonic_ns, &start,
			    &engine->window)) < 0 ||
	    (r = readings_new(ENGINE_WINDOW_NS, settings->n_events, &engine->readings)) < 0 ||
	    (r = engine_offcore_new(engine->kernel, engine->totals, ENGINE_WINDOW_NS,
				    engine->windows_began.monotonic_ns, &start, engine->collected_ns,
				    &engine->offcore)) < 0)
		return r;
	if (settings->trend_bytes) {
		r = trend_new(settings->trend_bytes, TREND_SPAN_NS, engine->windows_began.monotonic_ns,
			      &engine->trend);
		if (r < 0)
			return r;
		engine->head.trend = engine->trend;
	}
	series_table_expect(engine->series, settings->events, settings->n_events);
	r = collect_new(
		&(struct collect_settings){
			.kernel = engine->kernel,
			.names = engine->names,
			.totals = engine->totals,
			.names_from_slots = settings->births,
			.grace_ns = COLLECT_GRACE_NS,
			.clock_ns = monotonic_ns,
			.state = settings->state,
			.listener = settings->listener,
			.hot = settings->hot,
			.hot_userdata = settings->userdata,
		},
		&engine->collect);
	return r < 0 ? r : engine_restore(engine, same_maps);
}

static void free_parts(struct engine *engine)
{
	engine->offcore = engine_offcore_free(engine->offcore);
	engine->readings = readings_free(engine->readings);
	engine->trend = trend_free(engine->trend);
	engine->window = window_free(engine->window);
	engine->series = series_table_free(engine->series);
	engine->collect = collect_free(engine->collect);
	engine->totals = totals_free(engine->totals);
	engine->names = names_free(engine->names);
	free(TAKE_PTR(engine->sums));
}

/* Sets *ret_same if the maps are those that the saved state describes. */
static int open_kernel(struct engine *engine, const struct kernel_settings *kernel, bool *ret_same,
		       char **ret_message)
{
	const struct engine_settings *settings = &engine->settings;

	*ret_same = settings->kernel && settings->same_maps;
	engine->kernel = settings->kernel;
	return engine->kernel ? 0 : kernel_open(kernel, &engine->kernel, ret_message);
}

/*
 * Discards the state and starts again from zero. The last readings of the slots are lost with it, so the
 * counts in the slots cannot be continued either: the kernel side is opened again.
 */
static int open_again(struct engine *engine, const struct kernel_settings *kernel, bool same,
		      char **ret_message)
{
	int r = 0;

	(void)log_warning(
		0,
		"cannot continue the counts of the previous process: its saved state is missing or damaged, or does not fit the present settings; all counters start from zero");
	free_parts(engine);
	state_clear(engine->settings.state);
	memset(engine->now, 0, sizeof(engine->now));
	memset(engine->base, 0, sizeof(engine->base));
	memset(engine->event_records, 0, sizeof(engine->event_records));
	memset(engine->reading_records, 0, sizeof(engine->reading_records));
	engine->head_record = (struct state_ref){0};
	engine->collected_record = engine->offcore_record = (struct state_ref){0};
	engine->head.sequence = 0;
	if (same) {
		engine->kernel = engine->settings.kernel = kernel_free(engine->kernel);
		r = kernel_open(kernel, &engine->kernel, ret_message);
	}
	return r < 0 ? r : open_parts(engine, false);
}

void engine_kernel_settings(const struct engine_settings *settings, struct kernel_settings *ret)
{
	*ret = (struct kernel_settings){
		.account = settings->account,
		.slots = settings->slots,
		.memory_max = settings->memory_max,
		.memory_auto = settings->memory_auto,
		.stripes = settings->stripes,
		.births = settings->births,
		.hardware = settings->hardware,
		.offcore_cpus = settings->offcore_cpus,
		.hot_max = settings->hot_max,
		.handover = settings->handover,
		.measured = settings->measured,
		.n_events = settings->n_events,
	};
	for (size_t i = 0; i < settings->n_events; i++)
		ret->events[i] = settings->events[i].settings;
}

int engine_open(const struct engine_settings *settings, struct engine **ret, char **ret_message)
{
	_cleanup_(engine_freep) struct engine *engine = calloc(1, sizeof(*engine));
	struct kernel_settings kernel;
	bool same;
	int r;

	*ret_message = NULL;
	if (!engine) {
		kernel_free(settings->kernel);
		return -ENOMEM;
	}
	engine->settings = *settings;
	engine_kernel_settings(settings, &kernel);
	r = open_kernel(engine, &kernel, &same, ret_message);
	if (r < 0)
		return r;
	if (same && !engine_has_before(settings))
		r = -EBADMSG;
	else
		r = open_parts(engine, same);
	if (r == -EBADMSG)
		r = open_again(engine, &kernel, same, ret_message);
	if (r < 0)
		return r;
	engine->head.origin = settings->origin;
	engine->head.in_process = kernel_in_process(engine->kernel);
	engine->head.stripes = kernel_stripes(engine->kernel);
	engine_describe_slots(engine);
	engine->head.interval_seconds = (double)settings->interval_ns / (double)NSEC_PER_SEC;
	describe_events(engine);
	*ret = TAKE_PTR(engine);
	return 0;
}

struct engine *engine_free(struct engine *engine)
{
	if (!engine)
		return NULL;
	engine_forget_snapshots(engine);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		free(engine->per_cpu[event]);
	free_parts(engine);
	kernel_free(engine->kernel);
	no_slot_clear(&engine->no_slot);
	free(engine->guests);
	free(engine);
	return NULL;
}

struct kernel *engine_kernel(const struct engine *engine)
{
	return engine->kernel;
}

int engine_adopt(struct engine *engine, u64 cgroup_id, const char *path)
{
	int r = names_add_path(engine->names, cgroup_id, path);

	if (r == 0) {
		(void)engine_grow(engine, 0);
		r = kernel_adopt(engine->kernel, cgroup_id, 0, path);
	}
	if (r < 0)
		return r;
	collect_adopted(engine->collect, (u32)r, path, monotonic_ns());
	return 0;
}

struct clocks engine_began(const struct engine *engine)
{
	return engine->began;
}

u64 engine_windows_began_ns(const struct engine *engine)
{
	return engine->windows_began.monotonic_ns;
}

void engine_on_collected(struct engine *engine, void (*collected)(void *userdata), void *userdata)
{
	engine->on_collected = collected;
	engine->on_collected_userdata = userdata;
}

u64 engine_collected_ns(const struct engine *engine)
{
	return engine->collected_ns;
}

const struct delta *engine_deltas(const struct engine *engine, size_t *ret_n)
{
	return deltas_list(collect_deltas(engine->collect), ret_n);
}

int engine_slots_short_fd(const struct engine *engine)
{
	return kernel_slots_short_fd(engine->kernel);
}

bool engine_slots_short(const struct engine *engine)
{
	return collect_slots_free(engine->collect) < slots_spare(kernel_slots(engine->kernel));
}

int engine_reclaim(struct engine *engine, u64 *ret_again_ns)
{
	int r;

	/* Reclaim may read slots into the totals, and snapshots refer to counters there. */
	engine_forget_snapshots(engine);
	/* Clear the report before reclaiming: a cgroup that needs a slot after this reports it again. */
	kernel_slots_short_clear(engine->kernel);
	r = collect_reclaim_now(engine->collect, monotonic_ns(), ret_again_ns);
	engine_save(engine);
	engine_keep_up(engine);
	return r;
}

struct reading engine_reading(const struct engine *engine, unsigned event)
{
	return engine->now[event];
}

const struct series *const *engine_series(const struct engine *engine, size_t *ret_n)
{
	return series_table_list(engine->series, ret_n);
}

const struct totals_entry *engine_find(const struct engine *engine, const char *path)
{
	return totals_find(engine->totals, path);
}

struct totals_entry *const *engine_entries(const struct engine *engine, size_t *ret_n)
{
	return totals_entries(engine->totals, ret_n);
}

const struct window *engine_window(const struct engine *engine)
{
	return engine->window;
}

const struct readings *engine_readings(const struct engine *engine)
{
	return engine->readings;
}

int engine_hot_choose(struct engine *engine, const char *path, u64 until_ns)
{
	return collect_hot_choose(engine->collect, path, until_ns, monotonic_ns());
}

bool engine_hot_choice(const struct engine *engine, const char *path, struct hot_choice *ret)
{
	return hot_choices_find(collect_hot(engine->collect), path, ret);
}

const char *engine_hot_nth(const struct engine *engine, size_t index)
{
	return hot_choices_nth(collect_hot(engine->collect), index);
}

size_t engine_hot_max(const struct engine *engine)
{
	return kernel_hot_max(engine->kernel);
}

void engine_set_hot(struct engine *engine, bool (*chosen)(const char *path, void *userdata), void *userdata)
{
	collect_set_hot(engine->collect, chosen, userdata);
}

int engine_hot_places(const struct engine *engine, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret)
{
	return collect_hot_places(engine->collect, path, event, kind, ret);
}

struct snapshot *engine_head(struct engine *engine)
{
	return &engine->head;
}

void engine_mark_guests(struct engine *engine, u64 *ids, size_t n)
{
	free(engine->guests);
	engine->guests = ids;
	engine->n_guests = n;
}

void engine_set_top(struct engine *engine, size_t top)
{
	engine->settings.top = top;
	series_table_set_top(engine->series, top);
}
