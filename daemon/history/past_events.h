// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a past, chosen from those of its panes. Two events are the same one if role and PMU are equal. The
 * newest pane that has the event decides about its key, period and settings. Pure.
 */
#ifndef PEBSD_PAST_EVENTS_H
#define PEBSD_PAST_EVENTS_H

#include "history/shared/history_pane.h"
#include "origin/event.h"
#include "window/readings.h"

struct past_event {
	struct event event; /* with the period of the newest pane */
	const char *origin; /* as in struct snapshot */
	char key[EVENT_KEY_MAX];
	u64 frequency_hz; /* as in struct history_event */
	double cpus;      /* enabled time divided by the time of the newest pane that has the event */
	/* Time of the panes that is left out, and one of the settings that the event had then. */
	u64 other_ns;
	struct event other;
	const char *other_origin;
	u64 absent_ns; /* time of the panes without the event */
};

/* A text of settings that occurs in the panes, and the event that it belongs to. */
struct past_text {
	const char *text;
	unsigned event; /* index; EVENTS_MAX: none */
	bool same;      /* the event had the settings of `event` */
};

#define PAST_TEXTS_MAX 256

struct past_events {
	size_t n;
	struct past_event list[EVENTS_MAX];
	size_t n_texts;
	struct past_text texts[PAST_TEXTS_MAX]; /* borrowed from the panes */
	bool unread; /* settings that this version cannot read, or too many of them, are left out */
};

/* Chooses the events. `n` is 0 if there are none. Returns 0 or -ENOMEM. */
int past_events_find(const struct history_pane *panes, size_t n, struct past_events *ret);

/* Returns the text of an event's settings; NULL: it was not found by past_events_find(). */
const struct past_text *past_events_text(const struct past_events *events, const char *settings);

/*
 * Adds the counts of a pane to the readings of all events. The time of other settings, and that without the event,
 * counts as enabled, and is added to `other_ns` and `absent_ns`.
 */
void past_events_read(struct past_events *events, const struct history_pane *pane,
		      struct reading readings[EVENTS_MAX]);

#endif
