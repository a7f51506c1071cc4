// SPDX-License-Identifier: GPL-2.0
#include "sampling/pause.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "sampling/pause_saved.h"

/* Maximum delay of the end of a pause: short, because another tool may be waiting for that end. */
#define TIMER_ACCURACY_USEC 10000

static struct timespec after(double seconds)
{
	struct timespec time;
	u64 ns = (u64)(seconds * (double)NSEC_PER_SEC);

	(void)clock_gettime(CLOCK_REALTIME, &time);
	ns += (u64)time.tv_nsec;
	time.tv_sec += (time_t)(ns / NSEC_PER_SEC);
	time.tv_nsec = (long)(ns % NSEC_PER_SEC);
	return time;
}

static char *reason_until(const struct timespec *until)
{
	char time[TEXT_TIME_MAX];
	char *reason;

	if (until->tv_sec == 0)
		return strdup("paused until `pebsctl resume`");
	text_time(until, time);
	return asprintf(&reason, "paused until %s; `pebsctl resume` ends the pause earlier", time) < 0
		       ? NULL
		       : reason;
}

static int on_time_over(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	(void)pause_end(userdata);
	return 0;
}

static int set_timer(struct pause *pause, const struct maybe_double *seconds, sd_event_source **ret)
{
	*ret = NULL;
	if (!seconds->known)
		return 0;
	return sd_event_add_time_relative(pause->event, ret, CLOCK_BOOTTIME, (uint64_t)(seconds->value * 1e6),
					  TIMER_ACCURACY_USEC, on_time_over, pause);
}

int pause_begin(struct pause *pause, const struct maybe_double *seconds)
{
	struct snapshot *head = engine_head(sampling_engine(pause->sampling));
	const struct timespec until = seconds->known ? after(seconds->value) : (struct timespec){0};
	_cleanup_free_ char *reason = reason_until(&until);
	sd_event_source *timer;
	int r;

	if (!reason)
		return -ENOMEM;
	r = set_timer(pause, seconds, &timer);
	if (r < 0)
		return r;
	r = sampling_pause(pause->sampling);
	if (r < 0) {
		sd_event_source_disable_unref(timer);
		return r;
	}
	pause_save(sampling_handover(pause->sampling), true, seconds);
	pause_done(pause);
	pause->timer = timer;
	pause->reason = TAKE_PTR(reason);
	head->paused = true;
	head->paused_until = until;
	log_kind(LOG_NOTICE, "pause", "%s; all counters are free for other tools", pause->reason);
	pause->changed(pause->userdata);
	return 0;
}

bool pause_end(struct pause *pause)
{
	struct snapshot *head = engine_head(sampling_engine(pause->sampling));

	if (!pause->reason)
		return false;
	pause_done(pause);
	pause_save(sampling_handover(pause->sampling), false, NULL);
	/* sampling_resume() has logged which events cannot be opened, and the ticks retry them. */
	if (sampling_resume(pause->sampling) == 0)
		log_notice("resumed: sampling again");
	head->paused = false;
	head->paused_until = (struct timespec){0};
	pause->changed(pause->userdata);
	return true;
}

const char *pause_reason(const struct pause *pause)
{
	return pause->reason;
}

void pause_done(struct pause *pause)
{
	pause->timer = sd_event_source_disable_unref(pause->timer);
	free(TAKE_PTR(pause->reason));
}
