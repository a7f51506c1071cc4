// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_event_set.h"

#include <errno.h>
#include <stdlib.h>

#include "origin/replay/replay_event.h"

/* Finds the event under which a recorded event is counted. Adds it if the set is not settled yet. */
static int find_event(struct replay_event_set *set, const struct event *event, u32 type, size_t *ret_clash)
{
	for (size_t i = 0; i < set->n; i++) {
		enum replay_match match = replay_event_match(&set->list[i], event);

		if (match == REPLAY_SAME && !event->pmu[0] && set->types[i] != type)
			match = REPLAY_CLASHES;
		switch (match) {
		case REPLAY_SAME:
			if (set->list[i].period != event->period)
				set->list[i].period = 0;
			return (int)i;
		case REPLAY_CLASHES:
			*ret_clash = i;
			return REPLAY_NOT_MIXED;
		case REPLAY_OTHER:
			break;
		}
	}
	if (set->settled || set->n == EVENTS_MAX)
		return REPLAY_LATE;
	set->list[set->n] = *event;
	set->types[set->n] = type;
	return (int)set->n++;
}

int replay_event_set_map(struct replay_event_set *set, struct replay_event_map *map,
			 const struct perf_data_events *recorded)
{
	struct replay_event_use *list;

	if (map->n == recorded->n)
		return 0;
	list = reallocarray(map->list, recorded->n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	map->list = list;
	for (; map->n < recorded->n; map->n++) {
		struct replay_event_use *use = &list[map->n];
		struct event event;

		*use = (struct replay_event_use){.event = REPLAY_NO_MEMORY_DATA};
		if (replay_event_describe(recorded, map->n, &event))
			use->event = find_event(set, &event, recorded->list[map->n].attr.type, &use->clash);
	}
	return 0;
}

void replay_event_map_clear(struct replay_event_map *map)
{
	free(map->list);
	*map = (struct replay_event_map){};
}
