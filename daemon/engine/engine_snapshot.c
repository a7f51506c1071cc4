// SPDX-License-Identifier: GPL-2.0
/* Snapshots: built on request, kept until the next collection. */
#include <errno.h>

#include "engine/engine_internal.h"
#include "snapshot/snapshot_build.h"

void engine_forget_snapshots(struct engine *engine)
{
	engine->all = snapshot_free(engine->all);
	engine->summary = snapshot_free(engine->summary);
	engine->windowed = snapshot_free(engine->windowed);
}

/* Takes over `sums`. NULL: the whole time. */
static int snapshot_of(struct engine *engine, struct window_sums *sums, const struct reading *readings,
		       struct snapshot **ret)
{
	/*
	 * The off-core counts must cover the same time as `sums`, which is more than requested if the window has
	 * merged collections, and less if it does not reach that far back. A span of 1 is the last collection.
	 */
	const u64 span_ns = !sums ? 0 : sums->span.covered_ns ? sums->span.covered_ns : 1;
	struct offcore_sums *offcore;
	int r = engine_offcore_sums(engine->offcore, span_ns, &offcore);

	if (r < 0) {
		window_sums_free(sums);
		return r;
	}
	return snapshot_build(
		&(struct snapshot_sources){
			.head = &engine->head,
			.totals = engine->totals,
			.sums = sums,
			.offcore = offcore,
			.readings = readings,
			.synthetic = engine->settings.synthetic,
		},
		ret);
}

static int windowed_snapshot(struct engine *engine, double seconds)
{
	struct reading readings[EVENTS_MAX] = {0};
	struct window_sums *sums;
	u64 since_ns;
	int r;

	/* Limit the window to the maximum, because nothing older is stored. */
	if (seconds > (double)ENGINE_WINDOW_NS / (double)NSEC_PER_SEC)
		seconds = (double)ENGINE_WINDOW_NS / (double)NSEC_PER_SEC;
	r = window_sum(engine->window, (u64)(seconds * (double)NSEC_PER_SEC), &sums);
	if (r < 0)
		return r;
	since_ns = engine->collected_ns > sums->span.covered_ns ? engine->collected_ns - sums->span.covered_ns
								: 0;
	for (unsigned event = 0; event < engine->settings.n_events; event++) {
		struct reading before = readings_at(engine->readings, event, since_ns);

		readings[event] = reading_delta(&engine->now[event], &before);
	}
	engine->windowed = snapshot_free(engine->windowed);
	r = snapshot_of(engine, sums, readings, &engine->windowed);
	if (r == 0)
		engine->windowed->window = engine->window;
	return r;
}

/* Updates members that may have changed since the collection from which the snapshot was built. */
static void refresh(struct snapshot *snapshot, const struct snapshot *head)
{
	snapshot->notes = head->notes;
	snapshot->counter_users = head->counter_users;
	snapshot->replay_done = head->replay_done;
	snapshot->recordings = head->recordings;
	snapshot->n_recordings = head->n_recordings;
	snapshot->config_reloaded = head->config_reloaded;
	snapshot->config_time = head->config_time;
	snapshot->config_files = head->config_files;
	snapshot->interval_seconds = head->interval_seconds;
	snapshot->paused = head->paused;
	snapshot->paused_until = head->paused_until;
}

int engine_snapshot(struct engine *engine, const struct maybe_double *window_seconds,
		    const struct snapshot **ret)
{
	int r;

	if (engine->head.sequence == 0)
		return -ENODATA;
	if (window_seconds->known) {
		r = windowed_snapshot(engine, window_seconds->value);
		*ret = engine->windowed;
		return r;
	}
	if (!engine->all) {
		r = snapshot_of(engine, NULL, engine->now, &engine->all);
		if (r < 0)
			return r;
	}
	refresh(engine->all, &engine->head);
	*ret = engine->all;
	return 0;
}

void engine_release_window(struct engine *engine)
{
	engine->windowed = snapshot_free(engine->windowed);
}

int engine_summary(struct engine *engine, const struct snapshot **ret)
{
	const struct snapshot_sources sources = {
		.head = &engine->head,
		.totals = engine->totals,
		.readings = engine->now,
		.synthetic = engine->settings.synthetic,
	};
	int r;

	if (engine->head.sequence == 0)
		return -ENODATA;
	if (!engine->summary) {
		r = snapshot_build_summary(&sources, engine->sums, &engine->summary);
		if (r < 0)
			return r;
	}
	refresh(engine->summary, &engine->head);
	*ret = engine->summary;
	return 0;
}
