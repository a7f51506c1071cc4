// SPDX-License-Identifier: GPL-2.0
/* Saves a pause, so that the next process continues it until its end. */
#ifndef PEBSD_PAUSE_SAVED_H
#define PEBSD_PAUSE_SAVED_H

#include <stdbool.h>

#include "snapshot/snapshot.h"
#include "store/handover.h"

/*
 * Returns whether the handover contains a pause that has not ended. `*ret_seconds` is then the time until its
 * end, or not known if only pause_end() ends it. `handover` may be NULL. Call this before the handover is
 * committed, even if everything else begins at zero.
 */
bool pause_inherited(struct handover *handover, struct maybe_double *ret_seconds);

/* Records that a pause has begun or, if `paused` is false, ended. */
void pause_save(struct handover *handover, bool paused, const struct maybe_double *seconds);

#endif
