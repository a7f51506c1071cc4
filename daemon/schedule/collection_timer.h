// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of collections, on the monotonic clock. Each collection sets it for the next one. A reload that
 * changes the interval sets it to one new interval after the last collection, so repeated reloads cannot
 * postpone a collection. A due collection comes before client requests in the same iteration of the event
 * loop.
 *
 * The age of the last collection decides about health and watchdog. A loop that runs without collecting is
 * useless: it does not feed the watchdog, so that the service manager restarts the process.
 */
#ifndef PEBSD_COLLECTION_TIMER_H
#define PEBSD_COLLECTION_TIMER_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "pebsd/types.h"

typedef void (*collection_timer_handler)(void *userdata);

struct collection_timer {
	sd_event_source *source;
	sd_event_source *watchdog; /* NULL: the service manager has no watchdog */
	u64 interval_us;
	u64 due_us;      /* time at which the last collection was due */
	u64 done_us;     /* time at which the last collection ended */
	u64 watchdog_us; /* between two notifications */
	bool logged;     /* logged that collections stopped */
	collection_timer_handler handler;
	void *userdata;
};

/*
 * Returns the time at which the next collection is due. Collections keep to a grid of intervals. If one ended
 * late (a stopped process, a suspended machine, a long collection), missed ones are not repeated, and the loop
 * has at least a quarter of an interval for everything else. Pure.
 */
u64 collection_timer_next_us(u64 due_us, u64 done_us, u64 interval_us);

/*
 * Returns true if collections stopped: the last one is more than three intervals old, and more than 10 s plus
 * one interval. Pure.
 */
bool collection_timer_is_overdue(u64 age_us, u64 interval_us);

/*
 * Starts the timer; the first collection is due after one interval. Returns 0 or -errno. Call collection_timer_done() in
 * either case.
 */
int collection_timer_start(struct collection_timer *timer, sd_event *event, u64 interval_us,
			   collection_timer_handler handler, void *userdata);

/* Makes the next collection due one interval after the last one, or at once if that time is over. */
void collection_timer_set_interval(struct collection_timer *timer, u64 interval_us);

/* Time since the last collection, or since the start if there was none. */
u64 collection_timer_age_us(const struct collection_timer *timer);

void collection_timer_done(struct collection_timer *timer);

#endif
