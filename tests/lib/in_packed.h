// SPDX-License-Identifier: GPL-2.0
/* Counters in the form that a collection delivers: packed. */
#ifndef PEBSD_TEST_IN_PACKED_H
#define PEBSD_TEST_IN_PACKED_H

#include "collect/differences.h"
#include "window/window.h"

struct in_packed {
	struct difference difference;
	u8 room[PACKED_MAX];
};

/* Packs the counters of an event. The result is valid as long as `room` is. It belongs to no ledger entry. */
static inline const struct difference *in_packed(struct in_packed *room, unsigned event,
						 const struct counters *counters)
{
	room->difference = (struct difference){
		.event = event, .size = (u32)packed_of(counters, room->room), .packed = room->room};
	return &room->difference;
}

static inline void window_put_counters(struct window *window, u32 entry, unsigned event,
				       const struct counters *counters)
{
	struct in_packed room;

	(void)in_packed(&room, event, counters);
	window_put(window, entry, event, room.room, room.difference.size);
}

#endif
