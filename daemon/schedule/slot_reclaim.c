// SPDX-License-Identifier: GPL-2.0
#include "schedule/slot_reclaim.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/log.h"

/* A wakeup may be this much later, to coincide with others. */
#define RECLAIM_ACCURACY_USEC 1000

bool slot_reclaim_goes_on(u64 again_ns, u64 now_ns, u64 short_ns)
{
	return again_ns && now_ns < short_ns + SLOT_RECLAIM_CALM_NS;
}

/*
 * Reclaims slots, and schedules the next reclaim for the time at which the next slot can be reclaimed. While
 * all slots belong to living cgroups, not every birth causes a reclaim: one reclaim at the end of
 * COLLECT_SHORT_GRACE_NS handles all births within that time.
 */
static int reclaim_slots(struct slot_reclaim *reclaim, bool short_of_slots)
{
	u64 again_ns;
	uint64_t now, next;
	int r = engine_reclaim(reclaim->engine, &again_ns);

	reclaim->times++;
	if (r < 0)
		(void)log_warning(
			0,
			"cannot free slots for new cgroups before the next collection: %s; samples of cgroups without a slot are unattributed",
			strerror(-r));
	reclaim->under_way = false;
	again_ns = r < 0 ? 0 : again_ns;
	if ((r = sd_event_now(sd_event_source_get_event(reclaim->timer), CLOCK_MONOTONIC, &now)) < 0 ||
	    (r = sd_event_source_set_enabled(reclaim->shortage, SD_EVENT_OFF)) < 0)
		return r;
	if (short_of_slots || engine_slots_short(reclaim->engine))
		reclaim->short_ns = now * NSEC_PER_USEC;
	reclaim->under_way = slot_reclaim_goes_on(again_ns, now * NSEC_PER_USEC, reclaim->short_ns);
	next = reclaim->under_way ? again_ns / NSEC_PER_USEC : now + COLLECT_SHORT_GRACE_NS / NSEC_PER_USEC;
	r = sd_event_source_set_time(reclaim->timer, next);
	return r < 0 ? r : sd_event_source_set_enabled(reclaim->timer, SD_EVENT_ONESHOT);
}

static int on_shortage(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	return reclaim_slots(userdata, true);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct slot_reclaim *reclaim = userdata;

	(void)source;
	(void)usec;
	if (reclaim->under_way)
		return reclaim_slots(reclaim, false);
	return sd_event_source_set_enabled(reclaim->shortage, SD_EVENT_ON);
}

int slot_reclaim_open(sd_event *event, struct engine *engine, struct slot_reclaim *ret)
{
	int fd = engine_slots_short_fd(engine);
	int r;

	*ret = (struct slot_reclaim){.engine = engine};
	if (fd < 0)
		return 0;
	if ((r = sd_event_add_io(event, &ret->shortage, fd, EPOLLIN, on_shortage, ret)) < 0 ||
	    (r = sd_event_add_time(event, &ret->timer, CLOCK_MONOTONIC, 0, RECLAIM_ACCURACY_USEC, on_timer,
				   ret)) < 0 ||
	    (r = sd_event_source_set_enabled(ret->timer, SD_EVENT_OFF)) < 0) {
		slot_reclaim_done(ret);
		return r;
	}
	return 0;
}

void slot_reclaim_done(struct slot_reclaim *reclaim)
{
	/* Release this event source before the descriptor that it watches is closed. */
	reclaim->shortage = sd_event_source_unref(reclaim->shortage);
	reclaim->timer = sd_event_source_unref(reclaim->timer);
}
