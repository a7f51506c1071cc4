// SPDX-License-Identifier: GPL-2.0
/*
 * Publishes the items that `pebsctl watch` shows: births, deaths, losses, periods, reloads, pauses, alerts
 * and zooms. Logs the important ones, and the totals at the end.
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
	struct control *control;   /* not owned; NULL: no client can watch yet */
	u64 malformed[EVENTS_MAX]; /* number already published */
	u64 unexplained[EVENTS_MAX];
	struct {
		struct log_sum malformed, unexplained;
	} logged[EVENTS_MAX];
};

/* Callbacks for struct collect_listener. `userdata` is a struct watch. */
void watch_born(void *userdata, const char *path, u64 id);
void watch_gone(void *userdata, const char *path, u64 id);

/* Sets the losses of an event that the previous process has already logged. */
void watch_begin(struct watch *watch, unsigned event, const struct reading *reading);

/*
 * Publishes how many samples of an event were lost since the last call. Logs the first loss at once, and then the
 * sum once a minute. As long as no more samples are missing than the event has CPUs, they do not count as lost:
 * one for each CPU may still be on its way.
 */
void watch_losses(struct watch *watch, unsigned event, const struct snapshot_event *description,
		  const struct reading *reading);

/*
 * Logs the losses that are not logged yet, and the totals of an event. Call it when no more samples can come.
 * A client that reads the counts from time to time learns from the log which losses followed its last
 * reading.
 */
void watch_total(struct watch *watch, unsigned event, const struct snapshot_event *description,
		 const struct reading *reading);

/* Publishes and logs a new period of an event. `description` has the new one. */
void watch_period(struct watch *watch, const struct snapshot_event *description, u64 before);

/* Publishes a period that the governor changed. The governor logs its changes itself. */
void watch_governed(struct watch *watch, const struct snapshot_event *description, u64 before);

/* Publishes a pause or its end, from `paused` and `paused_until` of the head. */
void watch_pause(struct watch *watch, const struct snapshot *head);

/* Publishes a change of an alert's state. The actions log it. */
void watch_alert(struct watch *watch, const struct transition *transition);

/* Publishes and logs that a zoom began or is over. */
void watch_zoom(struct watch *watch, const struct zoom *zoom, bool over);

/* Publishes a reload. `result` is 0, or -errno if the old configuration stays. */
void watch_reload(struct watch *watch, int result);

#endif
