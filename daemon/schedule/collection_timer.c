// SPDX-License-Identifier: GPL-2.0
#include "schedule/collection_timer.h"

#include <sys/param.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"

/* A collection may be late by this much to share a wakeup with others. */
#define ACCURACY_US 1000

/* At least 1/LEAST_PART of the interval lies between the end of a collection and the start of the next. */
#define LEAST_PART 4

/* Limits for an overdue collection: a busy machine may delay one by some seconds, but not by ten. */
#define OVERDUE_INTERVALS 3
#define OVERDUE_LEAST_US  10000000ULL

/* The watchdog is notified after 1/WATCHDOG_PART of its time, as sd_watchdog_enabled(3) advises. */
#define WATCHDOG_PART 2

#define USEC_PER_SEC 1000000ULL

static u64 now_us(void)
{
	struct timespec now;

	/* sd_event_now() would return the start of the loop iteration, which is before the collection. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * USEC_PER_SEC + (u64)now.tv_nsec / NSEC_PER_USEC;
}

u64 collection_timer_next_us(u64 due_us, u64 done_us, u64 interval_us)
{
	const u64 next_us = due_us + interval_us;

	return next_us >= done_us + interval_us / LEAST_PART ? next_us : done_us + interval_us;
}

bool collection_timer_is_overdue(u64 age_us, u64 interval_us)
{
	return age_us > MAX(interval_us * OVERDUE_INTERVALS, interval_us + OVERDUE_LEAST_US);
}

u64 collection_timer_age_us(const struct collection_timer *timer)
{
	return now_us() - timer->done_us;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct collection_timer *timer = userdata;

	timer->handler(timer->userdata);
	timer->due_us = usec;
	timer->done_us = now_us();
	timer->logged = false;
	(void)sd_event_source_set_time(source,
				       collection_timer_next_us(usec, timer->done_us, timer->interval_us));
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static void log_overdue(struct collection_timer *timer, u64 age_us)
{
	char age[TEXT_NUMBER_MAX];

	if (timer->logged)
		return;
	timer->logged = true;
	text_span((double)age_us / (double)USEC_PER_SEC, age);
	(void)log_error(
		0,
		"no collection for %s: pebsd no longer notifies the watchdog, so that the service manager restarts pebsd",
		age);
}

static int on_watchdog(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct collection_timer *timer = userdata;
	const u64 age_us = collection_timer_age_us(timer);

	(void)usec;
	if (collection_timer_is_overdue(age_us, timer->interval_us))
		log_overdue(timer, age_us);
	else
		(void)sd_notify(false, "WATCHDOG=1");
	(void)sd_event_source_set_time_relative(source, timer->watchdog_us);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static int start_watchdog(struct collection_timer *timer, sd_event *event)
{
	uint64_t usec;
	int r = sd_watchdog_enabled(false, &usec);

	if (r <= 0)
		return r;
	timer->watchdog_us = usec / WATCHDOG_PART;
	return sd_event_add_time_relative(event, &timer->watchdog, CLOCK_MONOTONIC, 0, usec / 4, on_watchdog,
					  timer);
}

int collection_timer_start(struct collection_timer *timer, sd_event *event, u64 interval_us,
			   collection_timer_handler handler, void *userdata)
{
	int r;

	*timer = (struct collection_timer){
		.interval_us = interval_us, .handler = handler, .userdata = userdata};
	timer->due_us = timer->done_us = now_us();
	r = sd_event_add_time(event, &timer->source, CLOCK_MONOTONIC, timer->due_us + interval_us,
			      ACCURACY_US, on_timer, timer);
	if (r >= 0)
		r = sd_event_source_set_priority(timer->source, SD_EVENT_PRIORITY_IMPORTANT);
	return r < 0 ? r : start_watchdog(timer, event);
}

void collection_timer_set_interval(struct collection_timer *timer, u64 interval_us)
{
	timer->interval_us = interval_us;
	(void)sd_event_source_set_time(timer->source, timer->due_us + interval_us);
}

void collection_timer_done(struct collection_timer *timer)
{
	timer->source = sd_event_source_disable_unref(timer->source);
	timer->watchdog = sd_event_source_disable_unref(timer->watchdog);
}
