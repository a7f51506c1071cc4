// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of collections, on the monotonic clock. Nothing but a collection moves it by a whole interval:
 * a reload changes the interval, counted from the last collection, however many reloads there are. A due
 * collection comes before whatever clients want in the same turn of the event loop.
 *
 * The age of the last collection decides about health and watchdog. A loop that turns without collecting is
 * of no use: its watchdog is not fed, so that the service manager restarts the process.
 */
#ifndef PEBSD_TICK_H
#define PEBSD_TICK_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "pebsd/types.h"

typedef void (*tick_handler)(void *userdata);

struct tick {
	sd_event_source *source;
	sd_event_source *watchdog; /* NULL: the service manager wants none */
	u64 interval_us;
	u64 due_us;      /* when the last collection was due */
	u64 done_us;     /* when it was over */
	u64 watchdog_us; /* between two notifications */
	bool logged;     /* that collections stopped */
	tick_handler handler;
	void *userdata;
};

/*
 * When the next collection is due. Collections keep to a grid of intervals. After one that ended late (a
 * stopped process, a suspended machine, a long collection) the missed ones are not made up for, and the
 * loop has at least a quarter of an interval for everything else. Pure.
 */
u64 tick_next_us(u64 due_us, u64 done_us, u64 interval_us);

/* Whether collections stopped: the last one is three intervals old, and 10 s more than one interval. Pure. */
bool tick_is_overdue(u64 age_us, u64 interval_us);

/* The first collection is due an interval from now. 0 or -errno; tick_done() in any case. */
int tick_start(struct tick *tick, sd_event *event, u64 interval_us, tick_handler handler, void *userdata);

/* The next collection is due an interval after the last one; at once if that is over. */
void tick_set_interval(struct tick *tick, u64 interval_us);

/* Time since the last collection, or since the start if there was none. */
u64 tick_age_us(const struct tick *tick);

void tick_done(struct tick *tick);

#endif
