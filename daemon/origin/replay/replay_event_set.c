// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_event_set.h"

#include <errno.h>
#include <stdlib.h>

#include "origin/replay/replay_count.h"
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

/* Returns whether an event of the same recording counts as `event` already: both together would count twice. */
static bool is_counted(const struct replay_event_map *map, int event)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->list[i].event == event)
			return true;
	return false;
}

/* The same for a count. Figures are ratios of counts, which must be of the same modes. */
static int find_count(struct replay_event_set *set, const struct replay_event_map *map,
		      const struct event *event, const struct perf_event_attr *attr, size_t *ret_clash)
{
	const u8 modes = replay_count_modes(attr);
	int found;

	if (set->has_counts && set->modes != modes)
		return REPLAY_MODES;
	found = find_event(set, event, attr->type, ret_clash);
	if (found < 0)
		return found;
	set->has_counts = true;
	set->modes = modes;
	if (!is_counted(map, found))
		return found;
	*ret_clash = (size_t)found;
	return REPLAY_TWICE;
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
		const struct perf_event_attr *attr;
		struct event event;

		*use = (struct replay_event_use){.event = REPLAY_OTHER_EVENT};
		if (!replay_event_describe(recorded, map->n, &event))
			continue;
		attr = &recorded->list[map->n].attr;
		use->event = event_is_count(&event) ? find_count(set, map, &event, attr, &use->clash)
						    : find_event(set, &event, attr->type, &use->clash);
	}
	return 0;
}

void replay_event_map_clear(struct replay_event_map *map)
{
	free(map->list);
	*map = (struct replay_event_map){};
}
