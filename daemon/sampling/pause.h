// SPDX-License-Identifier: GPL-2.0
/*
 * A pause on request: every counter is free for other tools, until the time is over or sampling is resumed.
 * The timer of the pause runs in the daemon's event loop.
 */
#ifndef PEBSD_PAUSE_H
#define PEBSD_PAUSE_H

#include <systemd/sd-event.h>

#include "sampling/sampling.h"

struct pause {
	sd_event *event; /* not owned, like `sampling` */
	struct sampling *sampling;
	/* Called after each change, when the snapshot's `paused` and `paused_until` are up to date. */
	void (*changed)(void *userdata);
	void *userdata;
	sd_event_source *timer; /* ends the pause; NULL: none */
	char *reason;           /* see pause_reason() */
};

/*
 * Begins a pause of `seconds`, from 0 to about a year. If `seconds` is not known, the pause lasts until
 * pause_end(). The new pause replaces one that is under way. The time also runs while the machine is
 * suspended. Returns 0, -EOPNOTSUPP if the origin holds no counters, or another -errno. After a failure, an
 * earlier pause continues.
 */
int pause_begin(struct pause *pause, const struct maybe_double *seconds);

/* Resumes sampling. Returns whether there was a pause. */
bool pause_end(struct pause *pause);

/*
 * Returns NULL if there is no pause, else "paused until TIME; ..." with how to end it. The string belongs to
 * the pause.
 */
const char *pause_reason(const struct pause *pause);

/* Frees the resources of a pause, without resuming or pausing anything. A zeroed pause is allowed. */
void pause_done(struct pause *pause);

#endif
