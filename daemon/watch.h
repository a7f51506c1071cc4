// SPDX-License-Identifier: GPL-2.0
/* What `pebsctl watch` shows, and the log where it matters: births, deaths, losses, periods, reloads, pauses,
 * alerts, the end.
 */
#ifndef PEBSD_WATCH_H
#define PEBSD_WATCH_H

#include "base/log_repeat.h"
#include "detail/zooms.h"
#include "export/control/control.h"
#include "policy/alert.h"
#include "snapshot/snapshot.h"
#include "window/readings.h"

struct watch {
	struct control *control;   /* not owned; NULL: nobody can watch yet */
	u64 malformed[EVENTS_MAX]; /* told of so far */
	u64 unexplained[EVENTS_MAX];
	struct {
		struct log_sum malformed, unexplained;
	} logged[EVENTS_MAX];
};

/* For struct collect_listener; userdata: struct watch. */
void watch_born(void *userdata, const char *path, u64 id);
void watch_gone(void *userdata, const char *path, u64 id);

/* What an event had lost before: the log of another process told it. */
void watch_begin(struct watch *watch, unsigned event, const struct reading *reading);

/* Tells of samples of an event lost since the last call, and the log once a minute. One sample a CPU may be
 * under way: that is no loss. */
void watch_losses(struct watch *watch, unsigned event, const struct snapshot_event *description,
		  const struct reading *reading);

/* Logs losses that are not logged yet, and what an event had in all, when no more can come: whoever reads the
 * counts from time to time knows from the log what came after the last time. */
void watch_total(struct watch *watch, unsigned event, const struct snapshot_event *description,
		 const struct reading *reading);

/* Tells, in the log too, that an event has another period; `description` has the new one. */
void watch_period(struct watch *watch, const struct snapshot_event *description, u64 before);

/* The same where the governor changed it, which has its own messages in the log. */
void watch_governed(struct watch *watch, const struct snapshot_event *description, u64 before);

/* Tells of a pause, or of its end: `paused` and `paused_until` of the head. */
void watch_pause(struct watch *watch, const struct snapshot *head);

/* Tells of an alert's change of state. The log is the actions' matter. */
void watch_alert(struct watch *watch, const struct transition *transition);

/* Tells, in the log too, that a zoom began or is over. */
void watch_zoom(struct watch *watch, const struct zoom *zoom, bool over);

/* `result`: 0, or -errno where the old configuration stays. */
void watch_reload(struct watch *watch, int result);

#endif
