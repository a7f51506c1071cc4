// SPDX-License-Identifier: GPL-2.0
/* Panes of a history for tests, made one after another. */
#ifndef PEBSD_SOME_PANES_H
#define PEBSD_SOME_PANES_H

#include "collect/counters.h"
#include "history/shared/history_pane.h"
#include "origin/event.h"

#define SOME_PANES_START_US 1795240800000000ULL

/* Zero is an empty list. Free it with some_panes_done(). */
struct some_panes {
	struct history_pane *list;
	size_t n;
};

/*
 * Adds an empty pane that begins `gap_s` after the end of the last one (SOME_PANES_START_US for the first), and takes
 * `seconds`. The pane is valid until the next call.
 */
struct history_pane *some_panes_add(struct some_panes *panes, u64 gap_s, u64 seconds);

/* Adds an event of the model to a pane, which ran on `cpus` CPUs all the time. Returns its number. */
u32 some_panes_event(struct history_pane *pane, const char *key, const struct event *event, u64 cpus);

/* Adds a row, and the cgroup if it is new. Add rows by ascending order of their cgroups and events. */
void some_panes_row(struct history_pane *pane, const char *path, u32 event, const struct counters *counters);

/* Sets the labels of a cgroup of the pane. */
void some_panes_label(struct history_pane *pane, const char *path, const char *json);

/* Replaces the settings of an event by any text. */
void some_panes_settings(struct history_pane *pane, u32 event, const char *settings);

void some_panes_done(struct some_panes *panes);

#endif
