// SPDX-License-Identifier: GPL-2.0
/*
 * Room for cgroups that are born faster than collections come: the kernel side tells when free slots run
 * short, and those of removed cgroups are led back at once. Nothing wakes up while there are enough.
 */
#ifndef PEBSD_ROOM_H
#define PEBSD_ROOM_H

#include <systemd/sd-event.h>

#include "engine.h"

struct room {
	struct engine *engine;
	sd_event_source *short_of; /* NULL: slots can't run short */
	sd_event_source *again;
	u64 times;      /* room was made, since room_open() */
	bool under_way; /* slots are on their way back: `again` goes on with them */
};

/* Both outlive `ret`, which stays where it is until room_done(). 0 or -errno. */
int room_open(sd_event *event, struct engine *engine, struct room *ret);
void room_done(struct room *room);

#endif
