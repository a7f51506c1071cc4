// SPDX-License-Identifier: GPL-2.0
/* The events of a replay, and a map from each recording's events to them. */
#ifndef PEBSD_REPLAY_EVENT_SET_H
#define PEBSD_REPLAY_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "origin/replay/perf_data_events.h"

/* All zero is an empty set. */
struct replay_event_set {
	struct event list[EVENTS_MAX];
	u32 types[EVENTS_MAX]; /* from the events' attributes; distinguish PMUs without a known name */
	bool has_counts;       /* an event is a count (event_is_count()) */
	u8 modes;              /* the modes that each count leaves out: replay_count_modes() */
	size_t n;
	bool settled; /* the kernel side is configured with the events, so no more can be added */
};

/* Values of `event` for a recorded event whose samples are left out. */
enum {
	REPLAY_OTHER_EVENT = -1,
	REPLAY_NOT_MIXED = -2, /* has the same name as the event `clash`, but another meaning */
	REPLAY_LATE = -3,      /* announced when the set was settled or full */
	REPLAY_TWICE = -4,     /* counts the same as another event of the recording, `clash` */
	REPLAY_MODES = -5,     /* is a count, but leaves out other modes than those before it */
};

struct replay_event_use {
	int event;
	size_t clash;
	u64 left_out; /* samples left out; the owner of the map counts them */
};

/* The map of one recording, with an entry for each of its events. All zero is an empty map. */
struct replay_event_map {
	struct replay_event_use *list;
	size_t n;
};

/*
 * Adds entries for the events in `recorded` that the map lacks, and adds to the set the events that it lacks.
 * Events of several recordings that mean the same become one event. Its period is 0 if their periods differ.
 * Returns 0 or -ENOMEM.
 */
int replay_event_set_map(struct replay_event_set *set, struct replay_event_map *map,
			 const struct perf_data_events *recorded);

void replay_event_map_clear(struct replay_event_map *map);

#endif
