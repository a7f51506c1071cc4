// SPDX-License-Identifier: GPL-2.0
/*
 * Judges for /healthz and /readyz whether collections run as they should, and whether they have samples. Pure function.
 */
#ifndef PEBSD_HEALTH_H
#define PEBSD_HEALTH_H

#include <stdbool.h>

#include "pebsd/types.h"

struct health {
	const char *paused;   /* see pause_reason(); NULL: sampling is not paused */
	u64 age_us;           /* of the last collection */
	u64 interval_us;      /* between collections */
	int collection_error; /* of the last collection: 0 or -errno */
};

#define HEALTH_TEXT_MAX 80

/*
 * `*ret_works`: collections run as they should, also during a pause. Returns 0 if they do and sampling is not paused.
 * Otherwise -errno, and `*ret_reason` says why: it is `paused`, a constant, or in `text`.
 */
int health_judge(const struct health *health, char text[HEALTH_TEXT_MAX], bool *ret_works,
		 const char **ret_reason);

#endif
