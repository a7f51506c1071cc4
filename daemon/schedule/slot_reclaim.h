// SPDX-License-Identifier: GPL-2.0
/*
 * Provides slots for cgroups that are born faster than collections run. The kernel side reports that free
 * slots run short, and the slots of removed cgroups are then reclaimed at once. If slots have not been short
 * for a while, nothing wakes pebsd up.
 */
#ifndef PEBSD_SLOT_RECLAIM_H
#define PEBSD_SLOT_RECLAIM_H

#include <systemd/sd-event.h>

#include "engine/engine.h"

struct slot_reclaim {
	struct engine *engine;
	sd_event_source *shortage; /* NULL: slots cannot run short */
	sd_event_source *timer;
	u64 times;      /* number of reclaims since slot_reclaim_open() */
	u64 short_ns;   /* time at which slots were last short, CLOCK_MONOTONIC */
	bool under_way; /* some slots are not free yet: `timer` continues with them */
};

/* Once slots have not been short for this time, no further reclaim is scheduled. Then only collections reclaim. */
#define SLOT_RECLAIM_CALM_NS NSEC_PER_SEC

/* Returns true if a further reclaim must be scheduled (`again_ns`: see engine_reclaim()). Pure. */
bool slot_reclaim_goes_on(u64 again_ns, u64 now_ns, u64 short_ns);

/* `event` and `engine` outlive `ret`, which must not move until slot_reclaim_done(). Returns 0 or -errno. */
int slot_reclaim_open(sd_event *event, struct engine *engine, struct slot_reclaim *ret);
void slot_reclaim_done(struct slot_reclaim *reclaim);

#endif
