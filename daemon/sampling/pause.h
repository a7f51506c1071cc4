// SPDX-License-Identifier: GPL-2.0
/*
 * A pause that somebody asked for: every counter is free for another tool, until the time is over or it is
 * resumed. In the event loop of a running daemon.
 */
#ifndef PEBSD_PAUSE_H
#define PEBSD_PAUSE_H

#include <systemd/sd-event.h>

#include "sampling/sampling.h"

struct pause {
	sd_event *event; /* not owned, nor is the next */
	struct sampling *sampling;
	/* Called after each change, with the snapshot's `paused` and `paused_until` as they are then. */
	void (*changed)(void *userdata);
	void *userdata;
	sd_event_source *timer; /* that ends it; NULL: none */
	char *reason;           /* see pause_reason() */
};

/*
 * Pauses for so many seconds (above 0, at most a year or so; not known: until pause_end()), in the place of a
 * pause under way. The time goes on while the machine is suspended. Returns 0, -EOPNOTSUPP where the origin
 * holds no counter, or another -errno; a pause under way then goes on as it was.
 */
int pause_begin(struct pause *pause, const struct maybe_double *seconds);

/* Samples again. Returns whether it was paused. */
bool pause_end(struct pause *pause);

/* NULL where it is not paused; else "paused until TIME; ..." with what ends it. The pause's. */
const char *pause_reason(const struct pause *pause);

/* Frees what the pause holds; samples no more and no less than before. Takes a zeroed one too. */
void pause_done(struct pause *pause);

#endif
