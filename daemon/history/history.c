// SPDX-License-Identifier: GPL-2.0
#include "history/history.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/log.h"
#include "history/answers.h"
#include "history/keeper_channel.h"

#define TICK_USEC 1000000 /* for answers that nobody uses any more */

struct history {
	struct history_settings settings;
	char *directory;
	u64 bytes_max, age_max_s;
	struct panes *panes;
	struct keeper_channel *channel;
	struct answers *answers;
	sd_event_source *tick; /* on while answers are kept */
	u64 newest_us;         /* end of the last pane that was sent */
	u64 lost;              /* panes that could not even be sent */
	bool logged;           /* logged that panes cannot be made */
};

/* When this turn of the loop began. */
static u64 turn_ns(const struct history *history)
{
	uint64_t usec = 0;

	(void)sd_event_now(history->settings.event, CLOCK_MONOTONIC, &usec);
	return usec * NSEC_PER_USEC;
}

static void on_lost(void *userdata, int error)
{
	struct history *history = userdata;

	history->lost++;
	if (!history->logged)
		(void)log_warning(
			0,
			"history: %s; the last %d s will be missing in the history (this is logged once until panes are sent again)",
			error == -E2BIG ? "the cgroups have more counters than a pane can hold"
					: strerror(-error),
			HISTORY_PANE_SECONDS);
	history->logged = true;
}

static void on_complete(void *userdata, const struct history_pane *pane)
{
	struct history *history = userdata;
	_cleanup_free_ u8 *block = NULL;
	size_t size;
	int r = history_pane_write(pane, &block, &size);

	if (r < 0) {
		on_lost(history, r);
		panes_break(history->panes);
		return;
	}
	history->logged = false;
	history->newest_us = pane->end_us;
	if (history->answers)
		answers_cgroups(history->answers, pane->n_cgroups);
	keeper_channel_store(history->channel, block, size);
}

/* After a pane that is missing, the next ones do not follow the earlier ones. */
static void on_stored(void *userdata, int error)
{
	struct history *history = userdata;

	if (error && history->panes)
		panes_break(history->panes);
}

/* Does not put off a tick that is due: answers may come all the time. */
static void keep_ticking(struct history *history)
{
	if (sd_event_source_get_enabled(history->tick, NULL) > 0)
		return;
	(void)sd_event_source_set_time_relative(history->tick, TICK_USEC);
	(void)sd_event_source_set_enabled(history->tick, SD_EVENT_ONESHOT);
}

static void on_answered(void *userdata, u32 number, int error, int passed)
{
	struct history *history = userdata;
	struct history_block block = {0};

	if (error == 0) {
		error = history_block_map(passed, HISTORY_PANE_BYTES_MAX, &block);
		(void)close(passed);
	}
	/* The history may be about to end. */
	if (!history->answers) {
		if (error == 0)
			history_block_unmap(&block);
		return;
	}
	if (answers_take(history->answers, number, error, &block, turn_ns(history)))
		history->settings.answered(history->settings.userdata);
	keep_ticking(history);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct history *history = userdata;

	(void)source;
	(void)usec;
	answers_tick(history->answers, turn_ns(history));
	if (answers_any(history->answers))
		keep_ticking(history);
	return 0;
}

static int ask(void *userdata, const struct history_query *query, u32 *ret_number)
{
	struct history *history = userdata;

	return keeper_channel_ask(history->channel, query, ret_number);
}

/* Makes the last part of the path, for people who chose a directory of their own. */
static int make_directory(const char *directory)
{
	if (mkdir(directory, 0700) == 0 || errno == EEXIST)
		return 0;
	return log_error(-errno, "cannot make the directory %s of the history", directory);
}

static int open_parts(struct history *history, const struct history_settings *settings)
{
	const struct panes_settings panes = {
		.complete = on_complete,
		.lost = on_lost,
		.userdata = history,
		.containers = settings->containers,
		.ids = settings->ids,
	};
	const struct keeper_channel_settings channel = {
		.event = settings->event,
		.program = settings->program,
		.directory = history->directory,
		.bytes_max = settings->bytes_max,
		.age_max_s = settings->age_max_s,
		.alerts_ended = settings->alerts_ended,
		.answered = on_answered,
		.stored = on_stored,
		.userdata = history,
	};
	int r = panes_new(&panes, &settings->began, settings->readings, &history->panes);

	if (r == 0)
		r = answers_new(ask, history, &history->answers);
	if (r == 0)
		r = sd_event_add_time_relative(settings->event, &history->tick, CLOCK_MONOTONIC, TICK_USEC, 0,
					       on_tick, history);
	if (r >= 0)
		r = keeper_channel_new(&channel, &history->channel);
	return r < 0 ? r : 0;
}

int history_new(const struct history_settings *settings, struct history **ret)
{
	_cleanup_(history_freep) struct history *history = calloc(1, sizeof(*history));
	int r;

	if (!history)
		return -ENOMEM;
	history->settings = *settings;
	history->bytes_max = settings->bytes_max;
	history->age_max_s = settings->age_max_s;
	history->directory = strdup(settings->directory);
	if (!history->directory)
		return -ENOMEM;
	r = make_directory(history->directory);
	if (r == 0)
		r = open_parts(history, settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(history);
	return 0;
}

struct history *history_free(struct history *history)
{
	if (!history)
		return NULL;
	if (history->panes && history->channel)
		panes_end(history->panes);
	history->panes = panes_free(history->panes);
	history->answers = answers_free(history->answers);
	history->channel = keeper_channel_free(history->channel);
	sd_event_source_disable_unref(history->tick);
	free(history->directory);
	free(history);
	return NULL;
}

void history_collected(struct history *history, const struct panes_collection *collection)
{
	panes_add(history->panes, collection);
}

void history_alert(struct history *history, const struct history_alert *alert)
{
	_cleanup_free_ u8 *block = NULL;
	size_t size;
	int r = history_alert_write(alert, &block, &size);

	if (r < 0)
		(void)log_warning(0, "history: cannot store a change of the alert '%s': %s", alert->key,
				  r == -E2BIG ? "its text is too long" : strerror(-r));
	else
		keeper_channel_alert(history->channel, block, size);
}

int history_past(struct history *history, const struct history_query *query, const struct past **ret)
{
	return answers_past(history->answers, query, history->newest_us, turn_ns(history), ret);
}

int history_alerts(struct history *history, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
		   const char **ret_json)
{
	struct history_query query = {
		.question = HISTORY_ASK_ALERTS, .since_us = since_us, .until_us = until_us, .bins = 1};

	if (cgroup && (strlen(cgroup) >= sizeof(query.path) || strlen(rule) >= sizeof(query.rule)))
		return -EINVAL;
	(void)stpcpy(query.path, cgroup ? cgroup : "");
	(void)stpcpy(query.rule, cgroup ? rule : "");
	return answers_alerts(history->answers, &query, history->newest_us, turn_ns(history), ret_json);
}

void history_limit(struct history *history, u64 bytes_max, u64 age_max_s)
{
	history->bytes_max = bytes_max;
	history->age_max_s = age_max_s;
	keeper_channel_limit(history->channel, bytes_max, age_max_s);
}

void history_describe(const struct history *history, struct history_state *ret)
{
	struct keeper_channel_state state;

	keeper_channel_describe(history->channel, &state);
	*ret = (struct history_state){
		.on = true,
		.directory = history->directory,
		.bytes_max = history->bytes_max,
		.age_max_s = history->age_max_s,
		.running = state.running,
		.restarts = state.restarts,
		.panes_lost = state.lost + history->lost,
		.panes_stored = state.stored,
		.panes_waiting = state.waiting,
		.kept = state.status,
	};
}

pid_t history_pid(const struct history *history)
{
	return keeper_channel_pid(history->channel);
}
