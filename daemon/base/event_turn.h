// SPDX-License-Identifier: GPL-2.0
/*
 * An event source for work that is there already, one piece in each turn of the loop. A source of
 * sd_event_add_defer(3) is not fit for that: it stays pending from its creation on, and the loop prefers what has
 * been pending for longest (systemd 252, event_pending_compare()). While its work lasts, no other source of its
 * priority has a turn, signals included. This one waits for its turn like every other.
 */
#ifndef PEBSD_EVENT_TURN_H
#define PEBSD_EVENT_TURN_H

#include <systemd/sd-event.h>

/* Disabled at first. Enabling it with SD_EVENT_ONESHOT asks for one turn. The caller unrefs `*ret`. 0 or -errno. */
int event_turn_add(sd_event *event, sd_event_time_handler_t handler, void *userdata, sd_event_source **ret);

#endif
