// SPDX-License-Identifier: GPL-2.0
/* Counters in the form that a collection delivers: packed deltas ("pairs"). */
#ifndef PEBSD_TEST_IN_PAIRS_H
#define PEBSD_TEST_IN_PAIRS_H

#include "collect/differences.h"
#include "window/window.h"

struct in_pairs {
	struct difference difference;
	u8 room[PAIRS_MAX];
};

/* Packs the counters of an event. The result is valid as long as `room` is. It belongs to no ledger entry. */
static inline const struct difference *in_pairs(struct in_pairs *room, unsigned event,
						const struct figures *figures)
{
	room->difference = (struct difference){
		.event = event, .size = (u32)pairs_of(figures, room->room), .pairs = room->room};
	return &room->difference;
}

static inline void window_put_figures(struct window *window, u32 entry, unsigned event,
				      const struct figures *figures)
{
	struct in_pairs room;

	(void)in_pairs(&room, event, figures);
	window_put(window, entry, event, room.room, room.difference.size);
}

#endif
