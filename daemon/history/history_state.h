// SPDX-License-Identifier: GPL-2.0
/* The state of the history, for those who show it. */
#ifndef PEBSD_HISTORY_STATE_H
#define PEBSD_HISTORY_STATE_H

#include <stdbool.h>

#include "history/shared/history_wire.h"

struct history_state {
	bool on;
	const char *off_reason; /* why it is not on; NULL: it is on */
	const char *directory;  /* NULL: none */
	u64 bytes_max;
	u64 age_max_s;
	bool running;               /* the keeper has answered since its last start */
	u64 restarts;               /* of the keeper */
	u64 panes_lost;             /* panes that were not stored, from this process's start */
	u64 panes_stored;           /* panes that are stored, from this process's start */
	u64 panes_waiting;          /* sent, and not acknowledged yet */
	struct history_status kept; /* as the keeper last reported; all zero before that */
};

#endif
