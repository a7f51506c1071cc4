// SPDX-License-Identifier: GPL-2.0
/*
 * Room for cgroups that are born faster than collections come: the kernel side tells when free slots run
 * short, and those of removed cgroups are led back at once. Nothing wakes up while there are enough, and
 * have been for a while.
 */
#ifndef PEBSD_ROOM_H
#define PEBSD_ROOM_H

#include <systemd/sd-event.h>

#include "engine/engine.h"

struct room {
	struct engine *engine;
	sd_event_source *short_of; /* NULL: slots can't run short */
	sd_event_source *again;
	u64 times;      /* room was made, since room_open() */
	u64 short_ns;   /* when slots last were short, CLOCK_MONOTONIC */
	bool under_way; /* slots are on their way back: `again` goes on with them */
};

/* How long there have to be enough slots until those of removed cgroups have the time that they have
 * otherwise. */
#define ROOM_CALM_NS NSEC_PER_SEC

/* Whether to go on with slots that are on their way back (`again_ns` as of engine_make_room()). Pure. */
bool room_goes_on(u64 again_ns, u64 now_ns, u64 short_ns);

/* Both outlive `ret`, which stays where it is until room_done(). 0 or -errno. */
int room_open(sd_event *event, struct engine *engine, struct room *ret);
void room_done(struct room *room);

#endif
