// SPDX-License-Identifier: GPL-2.0
#include "base/event_turn.h"

#include <time.h>

/*
 * A time in the past elapses immediately whenever the source is enabled. The accuracy is the smallest one, so
 * that the source does not wait for other timers.
 */
int event_turn_add(sd_event *event, sd_event_time_handler_t handler, void *userdata, sd_event_source **ret)
{
	sd_event_source *source;
	int r = sd_event_add_time(event, &source, CLOCK_MONOTONIC, 0, 1, handler, userdata);

	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (r < 0) {
		sd_event_source_unref(source);
		return r;
	}
	*ret = source;
	return 0;
}
