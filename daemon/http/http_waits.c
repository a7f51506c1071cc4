// SPDX-License-Identifier: GPL-2.0
#include "http/http_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "http/http_bodies.h"
#include "http/http_limit.h"

/* How often it is looked whether a profile is ready. */
#define LOOK_EVERY_US    200000
#define LOOK_ACCURACY_US 20000

/* Beside its own time one may wait for who joins it, and for names. */
#define WAIT_SLACK_SECONDS (HTTP_PROFILE_SECONDS_MAX + 30)

struct wait {
	bool used;
	u32 number; /* the asker's */
	u64 id;     /* the source's */
	u64 deadline_ns;
};

struct http_waits {
	const struct http_profiles *profiles;
	http_waits_tell tell;
	void *userdata;
	sd_event_source *timer;
	struct http_limit limit;
	struct wait list[HTTP_PROFILES_MAX];
};

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static struct wait *find(struct http_waits *waits, u32 number)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (waits->list[i].used && waits->list[i].number == number)
			return &waits->list[i];
	return NULL;
}

static struct wait *find_free(struct http_waits *waits)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (!waits->list[i].used)
			return &waits->list[i];
	return NULL;
}

/* The last of a profile tells its source. */
static void forget(struct http_waits *waits, struct wait *wait)
{
	wait->used = false;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (waits->list[i].used && waits->list[i].id == wait->id)
			return;
	waits->profiles->leave(waits->profiles->userdata, wait->id);
}

static void refuse(struct http_waits *waits, u32 number, int error, const char *text)
{
	struct http_message answer = {
		.type = HTTP_TELL_REFUSED, .number = number, .error = (u32)-error, .text = text};
	/* What a path brought into it may be long. */
	_cleanup_free_ char *cut = text ? strndup(text, HTTP_WIRE_TEXT_MAX - 1) : NULL;

	answer.text = cut ? cut : strerror(-error);
	waits->tell(waits->userdata, &answer, -1);
}

static void hand_out(struct http_waits *waits, struct wait *wait)
{
	struct http_message answer = {.type = HTTP_TELL_PROFILE, .number = wait->number};
	_cleanup_free_ u8 *data = NULL;
	_cleanup_close_ int fd = -1;
	size_t size;
	int r = waits->profiles->write(waits->profiles->userdata, wait->id, &data, &size);

	if (r == 0)
		r = http_bodies_seal(data, size, &fd);
	if (r < 0) {
		(void)log_warning(r, "cannot write a profile for a client of the HTTP endpoint");
		refuse(waits, wait->number, -EIO,
		       "The profile could not be written; the daemon's log says why.");
		return;
	}
	answer.size = size;
	waits->tell(waits->userdata, &answer, fd);
}

static void look(struct http_waits *waits, struct wait *wait)
{
	enum http_profile_state state = waits->profiles->state(waits->profiles->userdata, wait->id);

	if (state == HTTP_PROFILE_READY)
		hand_out(waits, wait);
	else if (state == HTTP_PROFILE_GONE)
		refuse(waits, wait->number, -EBUSY, "The profile made room for another.");
	else if (now_ns() >= wait->deadline_ns)
		refuse(waits, wait->number, -EBUSY, "It took too long.");
	else
		return;
	forget(waits, wait);
}

static int arm(struct http_waits *waits)
{
	int r = sd_event_source_set_time_relative(waits->timer, LOOK_EVERY_US);

	return r < 0 ? r : sd_event_source_set_enabled(waits->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_waits *waits = userdata;
	bool any = false;

	(void)source;
	(void)usec;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++) {
		if (waits->list[i].used)
			look(waits, &waits->list[i]);
		any = any || waits->list[i].used;
	}
	return any ? arm(waits) : 0;
}

int http_waits_new(sd_event *event, const struct http_profiles *profiles, http_waits_tell tell,
		   void *userdata, struct http_waits **ret)
{
	struct http_waits *waits = calloc(1, sizeof(*waits));
	int r;

	if (!waits)
		return -ENOMEM;
	waits->profiles = profiles;
	waits->tell = tell;
	waits->userdata = userdata;
	waits->limit = (struct http_limit){.every_ns = NSEC_PER_SEC / HTTP_WAITS_A_SECOND,
					   .burst = HTTP_WAITS_AT_ONCE};
	r = sd_event_add_time_relative(event, &waits->timer, CLOCK_MONOTONIC, 0, LOOK_ACCURACY_US, on_timer,
				       waits);
	if (r >= 0)
		r = sd_event_source_set_enabled(waits->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_waits_free(waits);
		return r;
	}
	(void)sd_event_source_set_description(waits->timer, "http-profiles");
	*ret = waits;
	return 0;
}

struct http_waits *http_waits_free(struct http_waits *waits)
{
	if (!waits)
		return NULL;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (waits->list[i].used)
			forget(waits, &waits->list[i]);
	sd_event_source_disable_unref(waits->timer);
	free(waits);
	return NULL;
}

static bool enabled(const struct http_waits *waits)
{
	return waits->profiles->enabled && waits->profiles->enabled(waits->profiles->userdata);
}

void http_waits_ask(struct http_waits *waits, const struct http_message *question)
{
	struct wait *wait = find_free(waits);
	_cleanup_free_ char *message = NULL;
	int r;

	if (!enabled(waits)) {
		refuse(waits, question->number, -ENOENT, HTTP_PROFILES_NOT_SERVED);
		return;
	}
	if (!wait || find(waits, question->number)) {
		refuse(waits, question->number, -EBUSY, "As many wait for a profile as may at a time.");
		return;
	}
	if (http_limit_take(&waits->limit, now_ns()) > 0) {
		refuse(waits, question->number, -EBUSY, "Too many profiles were asked for within a second.");
		return;
	}
	r = waits->profiles->begin(waits->profiles->userdata, question->text, (double)question->value,
				   &wait->id, &message);
	if (r < 0) {
		refuse(waits, question->number, r, message);
		return;
	}
	wait->used = true;
	wait->number = question->number;
	wait->deadline_ns = now_ns() + (question->value + WAIT_SLACK_SECONDS) * NSEC_PER_SEC;
	r = arm(waits);
	if (r < 0) {
		forget(waits, wait);
		refuse(waits, question->number, r, NULL);
	}
}

void http_waits_leave(struct http_waits *waits, u32 number)
{
	struct wait *wait = find(waits, number);

	if (wait)
		forget(waits, wait);
}
