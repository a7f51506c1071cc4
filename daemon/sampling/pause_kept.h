// SPDX-License-Identifier: GPL-2.0
/* A pause that was asked for goes on in the next process, until its end. */
#ifndef PEBSD_PAUSE_KEPT_H
#define PEBSD_PAUSE_KEPT_H

#include <stdbool.h>

#include "snapshot/snapshot.h"
#include "store/handover.h"

/*
 * Whether a pause is on, and for how long still (`ret_seconds`: not known, until it is ended), by the
 * handover, which may be NULL: there is none. Before they are committed: then also where they begin anew.
 */
bool pause_kept(struct handover *handover, struct maybe_double *ret_seconds);

/* A pause has begun, or ended (`paused` false). */
void pause_keep(struct handover *handover, bool paused, const struct maybe_double *seconds);

#endif
