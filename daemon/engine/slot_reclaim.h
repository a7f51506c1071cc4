// SPDX-License-Identifier: GPL-2.0
/*
 * Slots for cgroups that are born faster than collections come. The kernel side reports that free slots run short,
 * and the slots of removed cgroups are then reclaimed at once. While there are enough slots, and have been for a
 * while, nothing wakes up.
 */
#ifndef PEBSD_SLOT_RECLAIM_H
#define PEBSD_SLOT_RECLAIM_H

#include <systemd/sd-event.h>

#include "engine/engine.h"

struct slot_reclaim {
	struct engine *engine;
	sd_event_source *short_of; /* NULL: slots can't run short */
	sd_event_source *again;
	u64 times;      /* how often slots were reclaimed since slot_reclaim_open() */
	u64 short_ns;   /* when slots last were short, CLOCK_MONOTONIC */
	bool under_way; /* some slots are not free yet: `again` goes on with them */
};

/* How long there have to be enough slots before the slots of removed cgroups are left to collections again. */
#define SLOT_RECLAIM_CALM_NS NSEC_PER_SEC

/* Whether to go on with slots that are on their way back (`again_ns` as of engine_make_room()). Pure. */
bool slot_reclaim_goes_on(u64 again_ns, u64 now_ns, u64 short_ns);

/* Both outlive `ret`, which stays where it is until slot_reclaim_done(). 0 or -errno. */
int slot_reclaim_open(sd_event *event, struct engine *engine, struct slot_reclaim *ret);
void slot_reclaim_done(struct slot_reclaim *reclaim);

#endif
