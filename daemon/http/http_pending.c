// SPDX-License-Identifier: GPL-2.0
#include "http/http_pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/ratelimit.h"
#include "base/sealed.h"
#include "http/http_bodies.h"

/* Time between checks whether a profile is ready. */
#define LOOK_EVERY_US    200000
#define LOOK_ACCURACY_US 20000

/*
 * Added to the requested time: a request also waits for names, and for the time of another request that joined
 * the same profile.
 */
#define WAIT_SLACK_SECONDS (HTTP_PROFILE_SECONDS_MAX + 30)

struct wait {
	bool used;
	u32 number; /* chosen by the requester */
	enum http_profile_form form;
	u64 id; /* chosen by the source */
	u64 deadline_ns;
};

struct http_pending {
	const struct http_profiles *profiles;
	http_pending_tell tell;
	void *userdata;
	sd_event_source *timer;
	struct ratelimit limit;
	struct wait list[HTTP_PROFILES_MAX];
};

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static struct wait *find(struct http_pending *pending, u32 number)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].used && pending->list[i].number == number)
			return &pending->list[i];
	return NULL;
}

static struct wait *find_free(struct http_pending *pending)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (!pending->list[i].used)
			return &pending->list[i];
	return NULL;
}

/* Forgets the request. If no other request waits for its profile, tells the source that nobody needs it. */
static void forget(struct http_pending *pending, struct wait *wait)
{
	wait->used = false;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].used && pending->list[i].id == wait->id)
			return;
	pending->profiles->leave(pending->profiles->userdata, wait->id);
}

static void refuse(struct http_pending *pending, u32 number, int error, const char *text)
{
	struct http_message answer = {
		.type = HTTP_TELL_REFUSED, .number = number, .error = (u32)-error, .text = text};
	/* The text may contain a long path. */
	_cleanup_free_ char *cut = text ? strndup(text, HTTP_WIRE_TEXT_MAX - 1) : NULL;

	answer.text = cut ? cut : strerror(-error);
	pending->tell(pending->userdata, &answer, -1);
}

static void hand_out(struct http_pending *pending, struct wait *wait)
{
	struct http_message answer = {.type = HTTP_TELL_READY, .number = wait->number};
	_cleanup_free_ u8 *data = NULL;
	_cleanup_close_ int fd = -1;
	size_t size;
	int r = pending->profiles->write(pending->profiles->userdata, wait->id, wait->form, &data, &size);

	if (r == 0)
		r = size <= HTTP_PROFILE_BYTES_MAX ? sealed_new("pebsd-http", data, size, &fd) : -EFBIG;
	if (r < 0) {
		(void)log_warning(r, "cannot write a profile for an HTTP client");
		refuse(pending, wait->number, -EIO,
		       r == -EFBIG ? "The profile is too large. Ask for fewer seconds."
				   : "The profile could not be written; the daemon's log says why.");
		return;
	}
	answer.size = size;
	pending->tell(pending->userdata, &answer, fd);
}

static void look(struct http_pending *pending, struct wait *wait)
{
	enum http_profile_state state = pending->profiles->state(pending->profiles->userdata, wait->id);

	if (state == HTTP_PROFILE_READY)
		hand_out(pending, wait);
	else if (state == HTTP_PROFILE_GONE)
		refuse(pending, wait->number, -EBUSY,
		       "The profile was removed to make room for another. Try again.");
	else if (now_ns() >= wait->deadline_ns)
		refuse(pending, wait->number, -EBUSY, "The profile took too long. Try again later.");
	else
		return;
	forget(pending, wait);
}

static int arm(struct http_pending *pending)
{
	int r = sd_event_source_set_time_relative(pending->timer, LOOK_EVERY_US);

	return r < 0 ? r : sd_event_source_set_enabled(pending->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_pending *pending = userdata;
	bool any = false;

	(void)source;
	(void)usec;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++) {
		if (pending->list[i].used)
			look(pending, &pending->list[i]);
		any = any || pending->list[i].used;
	}
	return any ? arm(pending) : 0;
}

int http_pending_new(sd_event *event, const struct http_profiles *profiles, http_pending_tell tell,
		     void *userdata, struct http_pending **ret)
{
	struct http_pending *pending = calloc(1, sizeof(*pending));
	int r;

	if (!pending)
		return -ENOMEM;
	pending->profiles = profiles;
	pending->tell = tell;
	pending->userdata = userdata;
	pending->limit = (struct ratelimit){.every_ns = NSEC_PER_SEC / HTTP_PENDING_A_SECOND,
					    .burst = HTTP_PENDING_AT_ONCE};
	r = sd_event_add_time_relative(event, &pending->timer, CLOCK_MONOTONIC, 0, LOOK_ACCURACY_US, on_timer,
				       pending);
	if (r >= 0)
		r = sd_event_source_set_enabled(pending->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_pending_free(pending);
		return r;
	}
	(void)sd_event_source_set_description(pending->timer, "http-profiles");
	*ret = pending;
	return 0;
}

struct http_pending *http_pending_free(struct http_pending *pending)
{
	if (!pending)
		return NULL;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].used)
			forget(pending, &pending->list[i]);
	sd_event_source_disable_unref(pending->timer);
	free(pending);
	return NULL;
}

static bool enabled(const struct http_pending *pending, enum http_profile_form form)
{
	return pending->profiles->enabled && pending->profiles->enabled(pending->profiles->userdata, form);
}

void http_pending_ask(struct http_pending *pending, const struct http_message *question)
{
	struct wait *wait = find_free(pending);
	_cleanup_free_ char *message = NULL;
	int r;

	if (!enabled(pending, (enum http_profile_form)question->form)) {
		if (question->form == HTTP_PROFILE_PPROF)
			refuse(pending, question->number, -ENOENT, HTTP_PROFILES_NOT_SERVED);
		else
			refuse(pending, question->number, -EACCES, HTTP_ZOOMS_NOT_SERVED);
		return;
	}
	if (!wait || find(pending, question->number)) {
		refuse(pending, question->number, -EBUSY,
		       "The maximum number of clients is waiting for profiles. Try again later.");
		return;
	}
	if (ratelimit_take(&pending->limit, now_ns()) > 0) {
		refuse(pending, question->number, -EBUSY,
		       "Too many profiles were requested within a few seconds. Try again later.");
		return;
	}
	r = pending->profiles->begin(pending->profiles->userdata, question->text, (double)question->value,
				     &wait->id, &message);
	if (r < 0) {
		refuse(pending, question->number, r, message);
		return;
	}
	wait->used = true;
	wait->number = question->number;
	wait->form = (enum http_profile_form)question->form;
	wait->deadline_ns = now_ns() + (question->value + WAIT_SLACK_SECONDS) * NSEC_PER_SEC;
	r = arm(pending);
	if (r < 0) {
		forget(pending, wait);
		refuse(pending, question->number, r, NULL);
	}
}

void http_pending_leave(struct http_pending *pending, u32 number)
{
	struct wait *wait = find(pending, number);

	if (wait)
		forget(pending, wait);
}
