// SPDX-License-Identifier: GPL-2.0
/*
 * The history of the daemon: makes panes of collections (panes.h), has the keeper store them (keeper_channel.h), and
 * answers questions about the past (past.h). Nothing here waits, except history_free().
 */
#ifndef PEBSD_HISTORY_H
#define PEBSD_HISTORY_H

#include <systemd/sd-event.h>

#include "history/history_state.h"
#include "history/panes.h"
#include "history/past.h"

struct history_settings {
	sd_event *event;
	const char *program;   /* as in keeper_channel_settings */
	const char *directory; /* absolute; made with mode 0700 if it is missing; copied */
	u64 bytes_max;
	u64 age_max_s;
	struct clocks began;                       /* see panes_new() */
	const struct reading *readings;            /* of EVENTS_MAX events; see panes_new() */
	const struct container_lookup *containers; /* outlives the history; see panes_settings */
	bool ids;
	bool alerts_ended; /* stored alerts without an end have ended, except those of the next history_alert() calls */
	void (*answered)(void *userdata); /* called after answers came: ask again */
	void *userdata;
};

struct history;

/* Returns 0, or -errno if the directory cannot be made or memory is short. */
int history_new(const struct history_settings *settings, struct history **ret);

/* Sends the incomplete pane, and waits for the keeper for at most 2 s. */
struct history *history_free(struct history *history);
DEFINE_CLEANUP(struct history *, history_free)

/* Call it for each collection. */
void history_collected(struct history *history, const struct panes_collection *collection);

/* Stores the present state of an alert (history_wire.h). */
void history_alert(struct history *history, const struct history_alert *alert);

/*
 * Answers that belong to the history, valid until the caller returns to the event loop. See struct control_backend for
 * the arguments and results.
 */
int history_past(struct history *history, const struct history_query *query, const struct past **ret);
int history_alerts(struct history *history, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
		   const char **ret_json);

/* Sets other limits, for a reload. */
void history_limit(struct history *history, u64 bytes_max, u64 age_max_s);

void history_describe(const struct history *history, struct history_state *ret);

/* The process of the keeper; -1: none. */
pid_t history_pid(const struct history *history);

#endif
