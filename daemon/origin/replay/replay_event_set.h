// SPDX-License-Identifier: GPL-2.0
/* The events of a replay, and which of them each recording's events count under. */
#ifndef PEBSD_REPLAY_EVENT_SET_H
#define PEBSD_REPLAY_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/event.h"
#include "origin/replay/perf_data_events.h"

/* All zero is an empty one. */
struct replay_event_set {
	struct event list[EVENTS_MAX];
	u32 types[EVENTS_MAX]; /* of their attributes: tells PMUs apart whose names are not known */
	size_t n;
	bool settled; /* the kernel side was told of them: there can be no more */
};

/* What becomes of a recorded event's samples, where it is not an index in the set. */
enum {
	REPLAY_NO_MEMORY_DATA = -1,
	REPLAY_NOT_MIXED = -2, /* with `clash`, with which it shares its name but not its meaning */
	REPLAY_LATE = -3,      /* announced when the set was settled or full */
};

struct replay_event_use {
	int event;
	size_t clash;
	u64 left_out; /* samples; for the owner of the map to count */
};

/* One recording's: an entry for each of its events. All zero is an empty one. */
struct replay_event_map {
	struct replay_event_use *list;
	size_t n;
};

/*
 * Adds entries for the events that `recorded` has more than the map, and to the set those that it lacks.
 * Events of several recordings that mean the same are one; its period is 0 where theirs differ. 0 or -ENOMEM.
 */
int replay_event_set_map(struct replay_event_set *set, struct replay_event_map *map,
			 const struct perf_data_events *recorded);

void replay_event_map_clear(struct replay_event_map *map);

#endif
