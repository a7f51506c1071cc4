// SPDX-License-Identifier: GPL-2.0
/*
 * An event source for work that is ready already and is done piece by piece, one piece per turn of the loop.
 *
 * A source from sd_event_add_defer(3) does not fit: it stays pending from its creation on, and the loop
 * prefers the source that has been pending for longest (systemd 252, pending_prioq_compare()). While its work
 * lasts, no other source of the same priority gets a turn, not even signals. The source made here waits for
 * its turn like every other.
 */
#ifndef PEBSD_EVENT_TURN_H
#define PEBSD_EVENT_TURN_H

#include <systemd/sd-event.h>

/*
 * The source is disabled at first. Enabling it with SD_EVENT_ONESHOT asks for one turn. The caller unrefs
 * `*ret`. Returns 0 or -errno.
 */
int event_turn_add(sd_event *event, sd_event_time_handler_t handler, void *userdata, sd_event_source **ret);

#endif
