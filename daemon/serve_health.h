// SPDX-License-Identifier: GPL-2.0
/* What /healthz says about the collections. Pure. */
#ifndef PEBSD_SERVE_HEALTH_H
#define PEBSD_SERVE_HEALTH_H

#include "pebsd/types.h"

struct serve_health {
	const char *paused;   /* until when; NULL: sampling is not paused */
	u64 age_us;           /* of the last collection */
	u64 interval_us;      /* between collections */
	int collection_error; /* of the last collection: 0 or -errno */
};

#define SERVE_HEALTH_TEXT_MAX 80

/*
 * Returns 0 if collections run as they should. Otherwise -errno, and `*ret_reason` says why: it is `paused`, a
 * constant, or in `text`.
 */
int serve_health_judge(const struct serve_health *health, char text[SERVE_HEALTH_TEXT_MAX],
		       const char **ret_reason);

#endif
