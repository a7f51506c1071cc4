// SPDX-License-Identifier: GPL-2.0
/* What sampling leaves to the next process, and what it found of the one before, in the manager's store. */
#ifndef PEBSD_SAMPLING_KEPT_H
#define PEBSD_SAMPLING_KEPT_H

#include "state/state.h"
#include "store/handover.h"

/* Both NULL: nothing is kept. */
struct sampling_kept {
	struct handover *handover; /* of maps, programs and events */
	struct state *state;       /* what is counted */
};

/*
 * Where there is a manager that may keep it. `store` may be NULL, and outlives it. 0; -ENOMEM or another
 * -errno: what the process before counted can't be taken over now, and stays stored for the next try.
 */
int sampling_kept_open(struct store *store, struct sampling_kept *ret);
void sampling_kept_done(struct sampling_kept *kept);

#endif
