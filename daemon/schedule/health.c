// SPDX-License-Identifier: GPL-2.0
#include "schedule/health.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "schedule/collection_timer.h"

int health_judge(const struct health *health, char text[HEALTH_TEXT_MAX], bool *ret_works,
		 const char **ret_reason)
{
	char age[TEXT_NUMBER_MAX];

	*ret_works = false;
	if (collection_timer_is_overdue(health->age_us, health->interval_us)) {
		text_span((double)health->age_us / 1e6, age);
		(void)snprintf(text, HEALTH_TEXT_MAX, "no collection for %s; see the log", age);
		*ret_reason = text;
		return -ETIME;
	}
	if (health->collection_error < 0) {
		*ret_reason = "the last collection failed; see the log";
		return health->collection_error;
	}
	*ret_works = true;
	if (health->paused) {
		*ret_reason = health->paused;
		return -ECANCELED;
	}
	return 0;
}
