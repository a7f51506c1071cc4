// SPDX-License-Identifier: GPL-2.0
/* Judges for /healthz whether collections run as they should. Pure function. */
#ifndef PEBSD_HEALTH_H
#define PEBSD_HEALTH_H

#include "pebsd/types.h"

struct health {
	const char *paused;   /* see pause_reason(); NULL: sampling is not paused */
	u64 age_us;           /* of the last collection */
	u64 interval_us;      /* between collections */
	int collection_error; /* of the last collection: 0 or -errno */
};

#define HEALTH_TEXT_MAX 80

/*
 * Returns 0 if collections run as they should. Otherwise -errno, and `*ret_reason` says why: it is `paused`, a
 * constant, or in `text`.
 */
int health_judge(const struct health *health, char text[HEALTH_TEXT_MAX], const char **ret_reason);

#endif
