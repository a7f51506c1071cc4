// SPDX-License-Identifier: GPL-2.0
/* Sampling from recordings. */
#include "sampling/sampling_origin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "origin/replay/replay.h"
#include "origin/replay/replay_limit.h"

/* The cgroups of a recording are not known before it is read. Slots are added as cgroups appear. */
#define SLOTS_AUTO 512

#define RECORDS_A_STEP 20000

struct origin_state {
	struct engine *engine; /* not owned */
	struct replay *replay;
	struct replay_limit since_collection;
	u64 without_slot; /* number of cgroups */
	size_t notes_logged;
	int result; /* of the last step that did not return -EAGAIN; 1 before the first one */
};

static void free_state(struct origin_state *state)
{
	if (!state)
		return;
	replay_free(state->replay);
	free(state);
}

static void free_statep(struct origin_state **state)
{
	free_state(*state);
}

/* A recording may have any number of cgroups: the first one without a slot is named, all are counted. */
static void miss_slot(struct origin_state *state, const char *name)
{
	_cleanup_free_ char *visible = text_visible(name);

	if (!state->without_slot++)
		(void)log_warning(
			0,
			"no slot is free for %s, and perhaps for other cgroups: their samples are unattributed; raise max-memory in [cgroups], or max if it is a number, and replay again",
			visible ? visible : "a cgroup");
}

/*
 * Gives a recording's cgroup a slot, as for a cgroup of this machine. If no slot is free, the samples of the
 * cgroup are `unattributed`.
 */
static int name_cgroup(void *userdata, u64 cgroup_id, const char *name)
{
	struct origin_state *state = userdata;
	int r = engine_adopt(state->engine, cgroup_id, name);

	if (r == -ENOSPC) {
		miss_slot(state, name);
		return 0;
	}
	return r;
}

/* Collects before the sums in the records can wrap. Collecting at each call would take most of the time. */
static int take_samples(void *userdata, const struct sample *samples, size_t n)
{
	struct origin_state *state = userdata;
	int r = 0;

	if (!replay_limit_take(&state->since_collection, samples, n)) {
		r = engine_collect(state->engine);
		state->since_collection = (struct replay_limit){};
		(void)replay_limit_take(&state->since_collection, samples, n);
	}
	return r < 0 ? r : kernel_inject(engine_kernel(state->engine), samples, n);
}

static void note_missing_slots(struct origin_state *state)
{
	char count[TEXT_NUMBER_MAX];
	char note[256];

	if (!state->without_slot)
		return;
	text_count(state->without_slot, count);
	(void)snprintf(
		note, sizeof(note),
		"cgroups without a slot: %s; their samples are unattributed; raise max-memory in [cgroups], or max if it is a number, and replay again",
		count);
	(void)replay_add_note(state->replay, note);
	state->without_slot = 0;
}

/* Logs each note about the figures once, when it is known. The caller reports the message of complete(). */
static void note_progress(struct origin_state *state)
{
	struct snapshot *head = engine_head(state->engine);
	struct replay_report report;

	if (state->result <= 0)
		note_missing_slots(state);
	replay_report(state->replay, &report);
	for (; report.notes[state->notes_logged]; state->notes_logged++)
		if (report.notes[state->notes_logged] != report.cut)
			(void)log_warning(0, "%s", report.notes[state->notes_logged]);
	head->notes = report.notes;
	head->replay_done = state->result <= 0;
}

static int step(struct origin_state *state)
{
	const struct replay_target target = {.name = name_cgroup, .samples = take_samples, .userdata = state};
	int r;

	if (state->result <= 0)
		return state->result;
	r = replay_step(state->replay, &target, RECORDS_A_STEP);
	if (r != -EAGAIN)
		state->result = r;
	note_progress(state);
	return r;
}

static int input(const struct origin_state *state)
{
	return replay_fd(state->replay);
}

static bool complete(const struct origin_state *state, const char **ret_message)
{
	struct replay_report report;

	if (state->result < 0) {
		*ret_message = replay_message(state->replay);
		return false;
	}
	replay_report(state->replay, &report);
	*ret_message = report.cut;
	return !report.cut;
}

static int open_replay(const struct sampling_settings *settings, struct engine_settings *engine_settings,
		       struct engine **ret_engine, struct origin_state **ret, struct failure *ret_failure)
{
	_cleanup_(free_statep) struct origin_state *state = calloc(1, sizeof(*state));
	const struct event *events;
	struct snapshot *head;
	int r;

	if (!state)
		return -ENOMEM;
	r = replay_open(settings->recordings, settings->n_recordings, &state->replay, &ret_failure->message);
	if (r < 0) {
		ret_failure->code = r == -ENOMEM ? EXIT_FAILED : EXIT_INPUT;
		return r;
	}
	events = replay_events(state->replay, &engine_settings->n_events);
	memcpy(engine_settings->events, events, engine_settings->n_events * sizeof(*events));
	engine_settings->slots =
		settings->config->cgroups_max ? (u32)settings->config->cgroups_max : SLOTS_AUTO;
	engine_settings->synthetic = replay_synthetic_id;
	engine_settings->account = KERNEL_ACCOUNT_EITHER;
	r = engine_open(engine_settings, ret_engine, &ret_failure->message);
	if (r < 0) {
		ret_failure->code = r == -ENOMEM ? EXIT_FAILED : EXIT_CANNOT;
		return r;
	}
	state->engine = *ret_engine;
	state->result = 1;
	head = engine_head(state->engine);
	head->recordings = replay_recordings(state->replay, &head->n_recordings);
	note_progress(state);
	*ret = TAKE_PTR(state);
	return 0;
}

const struct origin origin_replay = {
	.name = "replay",
	.open = open_replay,
	.free = free_state,
	.step = step,
	.input = input,
	.complete = complete,
};
