// SPDX-License-Identifier: GPL-2.0
/*
 * The state that sampling saves for the next process and inherits from the previous one, in the manager's
 * store.
 */
#ifndef PEBSD_SAMPLING_SAVED_H
#define PEBSD_SAMPLING_SAVED_H

#include "state/state.h"
#include "store/handover.h"

/* Both NULL: nothing is saved. */
struct sampling_saved {
	struct handover *handover; /* the saved maps, programs and events */
	struct state *state;       /* the saved records */
};

/*
 * Opens both if there is a service manager that may store them. `store` may be NULL and outlives `*ret`.
 * Returns 0 or -errno, such as -ENOMEM. After an error the counts of the previous process cannot be taken
 * over now, and they stay stored for the next try.
 */
int sampling_saved_open(struct store *store, struct sampling_saved *ret);
void sampling_saved_done(struct sampling_saved *saved);

#endif
