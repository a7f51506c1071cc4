// SPDX-License-Identifier: GPL-2.0
/* Sampling from the perf events of this machine. */
#include "sampling/sampling_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "machine/nominal.h"
#include "origin/perf/counter_users.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_notes.h"
#include "sampling/guest_marks.h"
#include "sampling/pause_saved.h"
#include "sampling/sampling_frequency.h"
#include "sampling/sampling_govern.h"
#include "sampling/sampling_offcore.h"
#include "sampling/sampling_perf_open.h"
#include "sampling/sampling_tree.h"
#include "sampling/sampling_zoom.h"
#include "sampling/suspend.h"

/*
 * The samples a second and CPU above which the kernel throttles an event. The kernel lowers it when interrupts take
 * too long.
 */
#define MAX_RATE_PATH "/proc/sys/kernel/perf_event_max_sample_rate"

/* The time from one search for other users of the counters to the next. */
#define USERS_NS (60 * NSEC_PER_SEC)

struct origin_state {
	struct engine *engine; /* not owned */
	const struct config *config;
	struct sampling_tree tree;
	size_t n_sets;
	struct perf_event_set *sets[EVENTS_MAX]; /* in the order of the engine's events */
	struct perf_counts counts[EVENTS_MAX];   /* at the last collection */
	struct perf_note_losses losses[EVENTS_MAX];
	struct perf_multiplexing multiplexing[EVENTS_MAX];
	struct sampling_govern *govern;       /* NULL: not started, or already stopped */
	struct sampling_frequency *frequency; /* NULL: no event counts cycles */
	int rate_fd;                          /* kernel.perf_event_max_sample_rate; -1: unknown */
	u64 rate_at_start;                    /* kernel.perf_event_max_sample_rate at the start; 0: unknown */
	u64 rate;                             /* kernel.perf_event_max_sample_rate at the last collection */
	struct perf_notes notes;              /* shown in the head; a new note is logged once */
	u64 names_unread;                     /* number already logged; see kernel_slot_counters() */
	bool slots_missing;                   /* a lack of slots was logged, and is not over yet */
	struct sampling_offcore *offcore;     /* NULL: not asked for */
	char *hotplug_message[EVENTS_MAX];    /* the failure logged last; NULL: none since */
	struct guest_marks guests;
	struct counter_users users;
	u64 users_ns;              /* CLOCK_MONOTONIC, time at which `users` was gathered; 0: never */
	bool paused;               /* all sampling is paused */
	struct handover *handover; /* what is saved for the next process; not owned; NULL: nothing */
	struct perf_save *save;    /* NULL: no event is saved */
	struct sampling_zoom zoom; /* some sets may be paused for it */
	struct suspend suspend;
};

static void free_state(struct origin_state *state)
{
	if (!state)
		return;
	/* Free the governor before the events and the program that it reads. */
	sampling_govern_free(state->govern);
	sampling_frequency_free(state->frequency);
	cleanup_close(&state->rate_fd);
	sampling_offcore_free(state->offcore);
	for (size_t i = 0; i < state->n_sets; i++) {
		perf_set_free(state->sets[i]);
		free(state->hotplug_message[i]);
		free((void *)state->losses[i].colliding);
	}
	perf_save_free(state->save);
	if (state->engine) {
		engine_head(state->engine)->notes = NULL;
		engine_head(state->engine)->counter_users = NULL;
	}
	perf_notes_done(&state->notes);
	guest_marks_done(&state->guests);
	sampling_tree_done(&state->tree);
	free(state);
}

static void free_statep(struct origin_state **state)
{
	free_state(*state);
}

static int start_set(struct origin_state *state, size_t i, int program_fd, char **ret_message)
{
	return state->save ? perf_start_restored(state->sets[i], program_fd, state->save, (unsigned)i,
						 ret_message)
			   : perf_start(state->sets[i], program_fd, ret_message);
}

static int start_sets(struct origin_state *state, struct failure *failure)
{
	for (size_t i = 0; i < state->n_sets; i++) {
		int fd = kernel_program_fd(engine_kernel(state->engine), (unsigned)i);
		int r = fd < 0 ? fd : start_set(state, i, fd, &failure->message);

		if (r < 0) {
			failure->code = sampling_perf_code(r);
			return r;
		}
	}
	return 0;
}

static void describe_sets(struct origin_state *state)
{
	struct snapshot *head = engine_head(state->engine);
	const struct event_spec *specs[EVENTS_MAX] = {0};
	const char *keys[EVENTS_MAX] = {0};

	for (size_t i = 0; i < state->n_sets; i++) {
		specs[i] = perf_spec(state->sets[i]);
		keys[i] = head->events[i].key;
	}
	for (size_t i = 0; i < state->n_sets; i++)
		state->losses[i].colliding = perf_note_colliding(specs, keys, state->n_sets, i);
	for (size_t i = 0; i < state->n_sets; i++) {
		head->events[i].multiplexed = perf_is_multiplexed(state->sets[i]);
		head->events[i].event.period = perf_event(state->sets[i])->period;
	}
	head->notes = state->notes.list;
	head->nominal_hz.value = nominal_of_machine("/sys", true);
	head->nominal_hz.known = head->nominal_hz.value > 0;
}

static void name_cpus(struct origin_state *state)
{
	struct snapshot *head = engine_head(state->engine);

	for (size_t i = 0; i < state->n_sets; i++) {
		_cleanup_free_ char *cpus = cpu_list_format(perf_cpus(state->sets[i]));

		(void)snprintf(head->events[i].cpus, sizeof(head->events[i].cpus), "%s", cpus ? cpus : "");
		head->events[i].n_cpus = cpu_list_count(perf_cpus(state->sets[i]));
	}
	head->opened_by = perf_backend_by_opener() ? "opener" : "pebsd";
}

static enum perf_note_change set_note(struct origin_state *state, size_t index, char *text)
{
	enum perf_note_change change = perf_notes_set(&state->notes, index, text);

	if (change == PERF_NOTE_CAME)
		(void)log_warning(0, "%s", text);
	return change;
}

static void take_notes(struct origin_state *state)
{
	const u64 rate = state->rate;
	struct snapshot *head = engine_head(state->engine);
	const enum perf_watchdog watchdog = perf_note_read_watchdog();
	const u64 now_ns = monotonic_ns();

	for (size_t i = 0; i < state->n_sets; i++) {
		const char *key = head->events[i].key;
		const bool ibs = strncmp(perf_event(state->sets[i])->pmu, "ibs_", 4) == 0;
		const struct perf_counts *counts = &state->counts[i];
		const struct cpu_counts *cpus;
		size_t n;

		cpus = perf_count_cpus(state->sets[i], &n);
		if (set_note(state, PERF_NOTE_OF(i, PERF_NOTE_IN_ERROR),
			     perf_note_in_error(key, cpus, n, ibs ? PERF_WATCHDOG_APART : watchdog)) ==
		    PERF_NOTE_WENT)
			log_notice("the event %s counts again on all its CPUs", key);
		(void)set_note(state, PERF_NOTE_OF(i, PERF_NOTE_THROTTLED),
			       perf_note_throttled(key, cpus, n, rate));
		(void)set_note(state, PERF_NOTE_OF(i, PERF_NOTE_REARMED),
			       perf_note_rearmed(key, cpus, n, &state->losses[i]));
		if (event_is_count(perf_event(state->sets[i])))
			(void)set_note(state, PERF_NOTE_OF(i, PERF_NOTE_MULTIPLEXING),
				       perf_note_waiting(key, &state->multiplexing[i], now_ns,
							 counts->enabled_ns, counts->running_ns, watchdog));
		else if (perf_is_multiplexed(state->sets[i]))
			(void)set_note(state, PERF_NOTE_OF(i, PERF_NOTE_MULTIPLEXING),
				       perf_note_multiplexing(key, &state->multiplexing[i], now_ns,
							      counts->enabled_ns, counts->running_ns,
							      watchdog));
	}
	(void)set_note(state, PERF_NOTE_RATE, perf_note_rate(state->rate_at_start, rate));
	head->notes = state->notes.list;
}

/* Returns the present value in the open MAX_RATE_PATH, or 0 if it is unknown. `fd` may be -1. */
static u64 read_max_rate(int fd)
{
	char text[32];
	char *end;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	long long rate;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	rate = strtoll(text, &end, 10);
	return end != text && rate > 0 ? (u64)rate : 0;
}

static void count(struct reading readings[EVENTS_MAX], void *userdata)
{
	struct origin_state *state = userdata;

	state->rate = read_max_rate(state->rate_fd);
	for (size_t i = 0; i < state->n_sets; i++) {
		struct perf_counts *counts = &state->counts[i];

		perf_count(state->sets[i], counts);
		readings[i].counted = true;
		event_counts_copy(&readings[i], counts);
	}
	sampling_frequency_counted(state->frequency);
	if (state->govern)
		sampling_govern_counted(state->govern, state->rate);
}

/* Runs also after the last collection, so that even a short run reports its losses. */
static void settled(const struct reading readings[EVENTS_MAX], void *userdata)
{
	struct origin_state *state = userdata;

	for (size_t i = 0; i < state->n_sets; i++) {
		state->losses[i].expected = readings[i].expected;
		state->losses[i].lost = readings[i].unexplained;
	}
	take_notes(state);
}

static const struct cpu_counts *count_cpus(unsigned event, size_t *ret_n, void *userdata)
{
	const struct origin_state *state = userdata;

	return perf_count_cpus(state->sets[event], ret_n);
}

static void adopt(void *userdata)
{
	const struct origin_state *state = userdata;

	sampling_tree_adopt(&state->tree, state->engine);
}

static void collect_offcore(void *userdata)
{
	const struct origin_state *state = userdata;

	sampling_offcore_collect(state->offcore);
}

/* Logs a persistent failure once. */
static void follow_hotplug(struct origin_state *state, size_t set)
{
	_cleanup_free_ char *message = NULL;
	const char *before = state->hotplug_message[set];
	int r = perf_hotplug(state->sets[set], &message);

	if (r > 0) {
		log_notice(
			"number of CPUs that went online or offline, or on which %s could be opened again: %d",
			engine_head(state->engine)->events[set].key, r);
		name_cpus(state);
	}
	if (r < 0 && (!before || !message || strcmp(before, message) != 0))
		(void)log_warning(0, "%s", message ? message : strerror(-r));
	free(state->hotplug_message[set]);
	state->hotplug_message[set] = r < 0 ? TAKE_PTR(message) : NULL;
}

/* Logs a lack of slots once, and again only if every cgroup had a slot in between. */
static void log_slots(struct origin_state *state)
{
	const struct snapshot *head = engine_head(state->engine);
	bool missing = engine_slots_missing(state->engine);

	if (missing && !state->slots_missing)
		(void)log_warning(
			0,
			"no slot is free for new cgroups: all %llu are in use; until enough are free, "
			"samples of such cgroups are unattributed, and rules about them are unknown; "
			"raise %s in [cgroups] and restart pebsd",
			(unsigned long long)(head->slots - 1), /* without that for unattributed samples */
			head->map_bytes_max ? "max-memory" : "max");
	if (!missing && state->slots_missing)
		log_notice("every cgroup has a slot again");
	state->slots_missing = missing;
}

static void log_unread_names(struct origin_state *state)
{
	u64 unread = kernel_slot_counters(engine_kernel(state->engine)).names_unread;

	if (unread > state->names_unread)
		(void)log_warning(
			0,
			"new cgroups whose names cannot be read: %llu; the kernel does not allow it "
			"(lockdown?), so they are shown by their ids",
			(unsigned long long)(unread - state->names_unread));
	state->names_unread = unread;
}

/* `last`: this is the last look for stalled events. */
static void rearm(struct origin_state *state, bool last)
{
	const u64 now_ns = monotonic_ns();
	size_t stalled = 0;

	for (size_t i = 0; i < state->n_sets; i++)
		stalled += perf_find_stalled(state->sets[i], now_ns, last);
	for (size_t i = 0; stalled > 0 && i < state->n_sets; i++)
		perf_rearm_stalled(state->sets[i]);
}

static void mend_after_suspend(struct origin_state *state)
{
	const u64 slept_ns = suspend_look(&state->suspend);
	char slept[TEXT_NUMBER_MAX];

	/* No event is open during a pause. The end of the pause opens all of them. */
	if (slept_ns == 0 || state->paused)
		return;
	text_span((double)slept_ns / (double)NSEC_PER_SEC, slept);
	log_notice("the machine was suspended for %s: its counters may have stopped, so pebsd arms all "
		   "events again",
		   slept);
	for (size_t i = 0; i < state->n_sets; i++)
		perf_rearm(state->sets[i]);
	sampling_offcore_pause(state->offcore);
	sampling_offcore_resume(state->offcore);
}

/* Looks for the other users of the counters from time to time. */
static void look_for_users(struct origin_state *state)
{
	const u64 now_ns = monotonic_ns();

	if (state->users_ns > 0 && now_ns - state->users_ns < USERS_NS)
		return;
	state->users_ns = now_ns;
	counter_users_gather("/", (u32)getpid(), COUNTER_USERS_LOOK_DAEMON, &state->users);
	engine_head(state->engine)->counter_users = &state->users;
}

static int tick(struct origin_state *state)
{
	look_for_users(state);
	log_unread_names(state);
	for (size_t i = 0; i < state->n_sets; i++)
		follow_hotplug(state, i);
	mend_after_suspend(state);
	rearm(state, false);
	sampling_offcore_tick(state->offcore);
	log_slots(state);
	guest_marks_tick(&state->guests, state->engine);
	sampling_frequency_read(state->frequency, false);
	return 0;
}

static void stop(struct origin_state *state)
{
	/* Free the governor first: a change of the period would start events that are stopped. */
	state->govern = sampling_govern_free(state->govern);
	rearm(state, true);
	for (size_t i = 0; i < state->n_sets; i++)
		perf_stop(state->sets[i]);
	sampling_frequency_read(state->frequency, true);
}

static int health(const struct origin_state *state, const char **ret_reason)
{
	size_t in_error = 0;

	for (size_t i = 0; i < state->n_sets; i++) {
		if (state->counts[i].cpus > state->counts[i].cpus_in_error || state->zoom.displaced[i])
			return 0;
		in_error += state->counts[i].cpus_in_error;
	}
	if (state->n_sets == 0 && sampling_offcore_cpus(state->offcore) > 0)
		return 0;
	*ret_reason =
		in_error
			? "no CPU is counting: other events hold all the counters that the sampled events need"
			: "no CPU is counting: no event is open; see the log of pebsd";
	return -EBUSY;
}

static int set_periods(struct origin_state *state, const struct event_periods *periods, char **ret_message)
{
	struct snapshot *head = engine_head(state->engine);
	bool kept[EVENTS_MAX] = {0};
	int r;

	sampling_govern_keeps(state->govern, periods, kept);
	r = sampling_perf_set_periods(state->config, periods, state->sets, state->n_sets, kept, ret_message);
	if (r == 0)
		sampling_govern_periods_set(state->govern, periods);
	for (size_t i = 0; i < state->n_sets; i++)
		head->events[i].event.period = perf_event(state->sets[i])->period;
	return r;
}

static void set_budget(struct origin_state *state, double budget)
{
	sampling_govern_set_budget(state->govern, budget);
}

static int start_govern(struct origin_state *state)
{
	const struct sampling_govern_settings settings = {
		.config = state->config,
		.kernel = engine_kernel(state->engine),
		.head = engine_head(state->engine),
		.sets = state->sets,
		.n_sets = state->n_sets,
		.notes = &state->notes,
	};

	return sampling_govern_new(&settings, &state->govern);
}

static int pause_perf(struct origin_state *state)
{
	state->paused = true;
	sampling_govern_pause(state->govern);
	/*
	 * Stop the zoom's events now, so that they hold no counter during the pause. Do not close them: the
	 * caller of open_zoom() calls close_zoom().
	 */
	if (state->zoom.open)
		state->zoom.open->methods->stop(state->zoom.open);
	for (size_t i = 0; i < state->n_sets; i++)
		perf_pause(state->sets[i]);
	sampling_offcore_pause(state->offcore);
	return 0;
}

static int resume_perf(struct origin_state *state)
{
	int result = 0;

	state->paused = false;
	for (size_t i = 0; i < state->n_sets; i++) {
		_cleanup_free_ char *message = NULL;
		int r = perf_resume(state->sets[i], &message);

		if (r < 0)
			(void)log_warning(0, "after the pause: %s", message ? message : strerror(-r));
		if (result == 0)
			result = r;
	}
	sampling_offcore_resume(state->offcore);
	name_cpus(state);
	return result;
}

static int open_zoom(struct origin_state *state, const char *path, u32 rate, struct zoom_source **ret,
		     char **ret_note, char **ret_message)
{
	int r;

	*ret_note = *ret_message = NULL;
	if (state->paused) {
		*ret_message = strdup("pebsd is paused, and a zoom would take the counters that are free "
				      "for other tools; run `pebsctl resume` to end the pause");
		return -EBUSY;
	}
	r = sampling_zoom_begin(&state->zoom, state->tree.root, state->sets, state->n_sets, path, rate, ret,
				ret_note, ret_message);
	if (r == 0 && *ret_note)
		log_kind(LOG_NOTICE, "zoom note", "zoom on %s: %s", path, *ret_note);
	return r;
}

static void close_zoom(struct origin_state *state, struct zoom_source *source)
{
	_cleanup_free_ char *message = NULL;
	int r;

	if (source != state->zoom.open)
		return;
	r = sampling_zoom_end(&state->zoom, state->sets, state->n_sets, state->paused, &message);
	if (r < 0)
		(void)log_warning(0, "after the zoom: %s", message ? message : strerror(-r));
	name_cpus(state);
}

/*
 * Hashes the events and the layout in which they are saved. If the hash differs, the counters of the previous
 * process cannot be continued.
 */
static u64 hash_events(const struct origin_state *state)
{
	const u64 layouts[] = {perf_save_layout(), offcore_save_layout()};
	u64 hash = inherited_hash(INHERITED_HASH, layouts, sizeof(layouts));

	for (size_t i = 0; i < state->n_sets; i++) {
		const struct event *event = perf_event(state->sets[i]);

		hash = inherited_hash(hash, &event->role, sizeof(event->role));
		hash = inherited_hash(hash, &event->latency_kind, sizeof(event->latency_kind));
		hash = inherited_hash(hash, event->pmu, strlen(event->pmu) + 1);
		if (event->count_kind != COUNT_NONE)
			hash = inherited_hash(hash, &event->count_kind, sizeof(event->count_kind));
	}
	return sampling_offcore_hash(state->offcore, hash);
}

/*
 * Closes events of the previous process that are not continued: they would hold counters that new events
 * need. The service manager closes its own descriptors of these events as well.
 */
static void end_rest(const struct handover *handover)
{
	store_drop_rest(handover_store(handover));
	(void)store_settle(handover_store(handover));
}

/* Open the kernel side first: restoring the totals needs to know whether the slots are the same. */
static int open_kernel(struct engine_settings *settings, char **ret_message)
{
	struct kernel_settings kernel;
	int r;

	if (!settings->handover)
		return 0;
	engine_kernel_settings(settings, &kernel);
	/* If the saved events do not fit, the slots start from zero together with new events. */
	kernel.inherit =
		engine_has_before(settings) && perf_save_fits(settings->handover, settings->n_events);
	r = kernel_open(&kernel, &settings->kernel, ret_message);
	if (r < 0)
		return r;
	settings->same_maps = settings->counts_inherited =
		kernel_inherited(settings->kernel) != INHERITED_NOTHING;
	return 0;
}

static int open_save(struct origin_state *state, struct perf_save_settings *settings)
{
	const struct kernel *kernel = engine_kernel(state->engine);
	struct maybe_double seconds;

	if (!state->handover)
		return 0;
	settings->handover = state->handover;
	settings->inherited = kernel_inherited(kernel);
	settings->epoch = kernel_epoch(kernel);
	settings->n_sets = state->n_sets;
	settings->stay_paused = state->paused = pause_inherited(state->handover, &seconds);
	engine_head(state->engine)->paused = state->paused;
	if (settings->inherited == INHERITED_NOTHING)
		end_rest(state->handover);
	return state->n_sets ? perf_save_new(settings, &state->save) : 0;
}

static void start_offcore(struct origin_state *state, const struct perf_save_settings *settings)
{
	const struct offcore_save_settings save = {.handover = settings->handover,
						   .inherited = settings->inherited,
						   .stay_paused = settings->stay_paused};

	sampling_offcore_start(state->offcore, state->engine, state->handover ? &save : NULL);
}

/* Commits the saved state. From now on, everything that the next process needs is stored. */
static void commit(struct origin_state *state)
{
	int r = state->handover ? handover_commit(state->handover) : 0;

	if (r < 0)
		(void)log_warning(
			0,
			"the service manager does not store the counts for a restart: %s; after a restart all counters start from zero",
			strerror(-r));
}

/* A set does not know the frequency, because the opener and the next process get its description. */
static struct event described(const struct perf_event_set *set)
{
	struct event event = *perf_event(set);

	event.nominal_hz = nominal_of_cpu("/sys", cpu_list_next(perf_cpus(set), -1));
	return event;
}

static int open_perf(const struct sampling_settings *settings, struct engine_settings *engine_settings,
		     struct engine **ret_engine, struct origin_state **ret, struct failure *ret_failure)
{
	_cleanup_(free_statep) struct origin_state *state = calloc(1, sizeof(*state));
	struct perf_save_settings save = {0};
	int r;

	if (!state)
		return -ENOMEM;
	state->tree = SAMPLING_TREE_NONE;
	state->handover = engine_settings->handover;
	state->config = settings->config;
	state->rate_fd = open(MAX_RATE_PATH, O_RDONLY | O_CLOEXEC);
	state->rate_at_start = read_max_rate(state->rate_fd);
	r = sampling_perf_open(settings->config, engine_has_before(engine_settings), &state->notes,
			       state->sets, &state->n_sets, &state->offcore, ret_failure);
	if (r == 0)
		r = sampling_tree_open(&state->tree, ret_failure);
	if (r < 0)
		return r;
	engine_settings->n_events = state->n_sets;
	for (size_t i = 0; i < state->n_sets; i++)
		engine_settings->events[i] = described(state->sets[i]);
	engine_settings->slots = sampling_tree_slots(&state->tree, settings->config);
	engine_settings->adopt = adopt;
	engine_settings->births = engine_settings->hardware = true;
	engine_settings->measured = hash_events(state);
	engine_settings->count = count;
	engine_settings->settled = settled;
	engine_settings->count_cpus = count_cpus;
	engine_settings->count_userdata = state;
	engine_settings->offcore_cpus = sampling_offcore_cpus(state->offcore);
	engine_settings->offcore_hash =
		engine_settings->offcore_cpus ? sampling_offcore_hash(state->offcore, INHERITED_HASH) : 0;
	engine_settings->offcore_collect = collect_offcore;
	r = open_kernel(engine_settings, &ret_failure->message);
	if (r == 0)
		r = engine_open(engine_settings, ret_engine, &ret_failure->message);
	if (r < 0) {
		ret_failure->code = sampling_perf_code(r);
		return r;
	}
	state->engine = *ret_engine;
	sampling_tree_adopt(&state->tree, state->engine);
	if (guest_marks_wanted(engine_settings->events, state->n_sets, engine_settings->offcore_cpus > 0))
		guest_marks_open(&state->guests);
	/*
	 * The governor notes the configured periods first. After that, periods of the previous process may be
	 * in force.
	 */
	if ((r = start_govern(state)) < 0 ||
	    (r = sampling_frequency_new(engine_head(state->engine), state->sets, state->n_sets,
					&state->frequency)) < 0 ||
	    (r = open_save(state, &save)) < 0 || (r = start_sets(state, ret_failure)) < 0)
		return r;
	name_cpus(state);
	describe_sets(state);
	look_for_users(state);
	start_offcore(state, &save);
	commit(state);
	*ret = TAKE_PTR(state);
	return 0;
}

const struct origin origin_perf = {
	.name = "perf",
	.saved = true,
	.on_cpus = true,
	.open = open_perf,
	.free = free_state,
	.tick = tick,
	.stop = stop,
	.health = health,
	.set_periods = set_periods,
	.set_budget = set_budget,
	.pause = pause_perf,
	.resume = resume_perf,
	.zoom_open = open_zoom,
	.zoom_close = close_zoom,
};
