// SPDX-License-Identifier: GPL-2.0
/* Counters in the form that a collection delivers: packed. */
#ifndef PEBSD_TEST_IN_PACKED_H
#define PEBSD_TEST_IN_PACKED_H

#include "collect/deltas.h"
#include "window/window.h"

struct in_packed {
	struct delta delta;
	u8 room[PACKED_MAX];
};

/* Packs the counters of an event. The result is valid as long as `room` is. It belongs to no entry of the totals. */
static inline const struct delta *in_packed(struct in_packed *room, unsigned event,
					    const struct counters *counters)
{
	room->delta = (struct delta){
		.event = event, .size = (u32)packed_of(counters, room->room), .packed = room->room};
	return &room->delta;
}

static inline void window_put_counters(struct window *window, u32 entry, unsigned event,
				       const struct counters *counters)
{
	struct in_packed room;

	(void)in_packed(&room, event, counters);
	window_put(window, entry, event, room.room, room.delta.size);
}

#endif
