// SPDX-License-Identifier: GPL-2.0
#include "engine/room.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/log.h"

/* Later by so much shares a wakeup with others. */
#define ROOM_ACCURACY_USEC 1000

bool room_goes_on(u64 again_ns, u64 now_ns, u64 short_ns)
{
	return again_ns && now_ns < short_ns + ROOM_CALM_NS;
}

/* Leads slots back, and comes again when the next of them can be; but not for each birth while the table is
 * full of cgroups that live: what it is told of until then, it hears of later. */
static int make_room(struct room *room, bool told)
{
	u64 again_ns;
	uint64_t now, next;
	int r = engine_make_room(room->engine, &again_ns);

	room->times++;
	if (r < 0)
		(void)log_warning(r, "cannot make room for new cgroups before the next collection");
	room->under_way = false;
	again_ns = r < 0 ? 0 : again_ns;
	if ((r = sd_event_now(sd_event_source_get_event(room->again), CLOCK_MONOTONIC, &now)) < 0 ||
	    (r = sd_event_source_set_enabled(room->short_of, SD_EVENT_OFF)) < 0)
		return r;
	if (told || engine_slots_short(room->engine))
		room->short_ns = now * NSEC_PER_USEC;
	room->under_way = room_goes_on(again_ns, now * NSEC_PER_USEC, room->short_ns);
	next = room->under_way ? again_ns / NSEC_PER_USEC : now + COLLECT_SHORT_GRACE_NS / NSEC_PER_USEC;
	r = sd_event_source_set_time(room->again, next);
	return r < 0 ? r : sd_event_source_set_enabled(room->again, SD_EVENT_ONESHOT);
}

static int on_short(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	return make_room(userdata, true);
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct room *room = userdata;

	(void)source;
	(void)usec;
	if (room->under_way)
		return make_room(room, false);
	return sd_event_source_set_enabled(room->short_of, SD_EVENT_ON);
}

int room_open(sd_event *event, struct engine *engine, struct room *ret)
{
	int fd = engine_slots_short_fd(engine);
	int r;

	*ret = (struct room){.engine = engine};
	if (fd < 0)
		return 0;
	if ((r = sd_event_add_io(event, &ret->short_of, fd, EPOLLIN, on_short, ret)) < 0 ||
	    (r = sd_event_add_time(event, &ret->again, CLOCK_MONOTONIC, 0, ROOM_ACCURACY_USEC, on_again,
				   ret)) < 0 ||
	    (r = sd_event_source_set_enabled(ret->again, SD_EVENT_OFF)) < 0) {
		room_done(ret);
		return r;
	}
	return 0;
}

void room_done(struct room *room)
{
	/* Before the descriptor that it is of. */
	room->short_of = sd_event_source_unref(room->short_of);
	room->again = sd_event_source_unref(room->again);
}
