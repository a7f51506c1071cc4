// SPDX-License-Identifier: GPL-2.0
#include "http/http_pending_views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/ratelimit.h"
#include "base/sealed.h"

/* Time between checks whether the data of a view has come. A check is cheap, and people wait for the answer. */
#define LOOK_EVERY_US    20000
#define LOOK_ACCURACY_US 5000

/* After a view that took longer than REST_LEAST_NS, views rest for REST_TIMES as long: collections come first. */
#define REST_TIMES    4
#define REST_LEAST_NS (5 * NSEC_PER_MSEC)

struct wait {
	bool used;
	bool left; /* no client waits for it any more, but its query still takes one of the places of the history */
	u32 number; /* chosen by the requester */
	u64 deadline_ns;
	struct http_view view;
};

struct http_pending_views {
	const struct http_source *source;
	http_pending_tell tell;
	void *userdata;
	sd_event_source *timer;
	struct ratelimit limit;
	u64 rest_ns; /* no view is made before */
	struct wait list[HTTP_VIEWS_ASKED_MAX];
};

static struct wait *find(struct http_pending_views *pending, u32 number)
{
	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++)
		if (pending->list[i].used && !pending->list[i].left && pending->list[i].number == number)
			return &pending->list[i];
	return NULL;
}

static struct wait *find_free(struct http_pending_views *pending)
{
	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++)
		if (!pending->list[i].used)
			return &pending->list[i];
	return NULL;
}

static void refuse(struct http_pending_views *pending, u32 number, int error, const char *text)
{
	/* The text may contain a long name. */
	_cleanup_free_ char *cut = text ? strndup(text, HTTP_WIRE_TEXT_MAX - 1) : NULL;

	pending->tell(pending->userdata,
		      &(struct http_message){.type = HTTP_TELL_REFUSED,
					     .number = number,
					     .error = (u32)-error,
					     .text = cut ? cut : strerror(-error)},
		      -1);
}

static void hand_out(struct http_pending_views *pending, u32 number, const char *text, size_t length)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (length > HTTP_VIEW_BYTES_MAX) {
		refuse(pending, number, -EINVAL,
		       "The answer is too large. Ask for a shorter time, fewer bins, or one cgroup; for a table, lower `top` in [export].");
		return;
	}
	r = sealed_new("pebsd-http", text, length, &fd);
	if (r < 0) {
		(void)log_warning(r, "cannot pass on the data of the web page");
		refuse(pending, number, -EIO, "The data could not be passed on; the daemon's log says why.");
		return;
	}
	pending->tell(pending->userdata,
		      &(struct http_message){.type = HTTP_TELL_READY, .number = number, .size = length}, fd);
}

/* Answers the request if its data is there. Returns false if it still waits. */
static bool answer(struct http_pending_views *pending, struct wait *wait)
{
	const struct http_source *source = pending->source;
	_cleanup_free_ char *text = NULL, *message = NULL;
	const u64 begin_ns = monotonic_ns();
	size_t length = 0;
	int r;

	if (begin_ns < pending->rest_ns)
		return false;
	r = source->view ? source->view(source->userdata, &wait->view, &text, &length, &message) : -ENOENT;
	if (monotonic_ns() - begin_ns > REST_LEAST_NS)
		pending->rest_ns = monotonic_ns() + REST_TIMES * (monotonic_ns() - begin_ns);
	if (r == -EAGAIN && monotonic_ns() < wait->deadline_ns)
		return false;
	wait->used = false;
	if (wait->left)
		return true;
	if (r == 0)
		hand_out(pending, wait->number, text, length);
	else if (r == -EAGAIN)
		refuse(pending, wait->number, -EBUSY, "The history did not answer in time. Try again later.");
	else
		refuse(pending, wait->number, r, message);
	return true;
}

static int arm(struct http_pending_views *pending)
{
	int r = sd_event_source_set_time_relative(pending->timer, LOOK_EVERY_US);

	return r < 0 ? r : sd_event_source_set_enabled(pending->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_pending_views *pending = userdata;
	bool any = false;

	(void)source;
	(void)usec;
	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++)
		if (pending->list[i].used && !answer(pending, &pending->list[i]))
			any = true;
	return any ? arm(pending) : 0;
}

int http_pending_views_new(sd_event *event, const struct http_source *source, http_pending_tell tell,
			   void *userdata, struct http_pending_views **ret)
{
	struct http_pending_views *pending = calloc(1, sizeof(*pending));
	int r;

	if (!pending)
		return -ENOMEM;
	pending->source = source;
	pending->tell = tell;
	pending->userdata = userdata;
	pending->limit = (struct ratelimit){.every_ns = NSEC_PER_SEC / HTTP_PENDING_VIEWS_A_SECOND,
					    .burst = HTTP_PENDING_VIEWS_AT_ONCE};
	r = sd_event_add_time_relative(event, &pending->timer, CLOCK_MONOTONIC, 0, LOOK_ACCURACY_US, on_timer,
				       pending);
	if (r >= 0)
		r = sd_event_source_set_enabled(pending->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_pending_views_free(pending);
		return r;
	}
	(void)sd_event_source_set_description(pending->timer, "http-views");
	*ret = pending;
	return 0;
}

struct http_pending_views *http_pending_views_free(struct http_pending_views *pending)
{
	if (!pending)
		return NULL;
	sd_event_source_disable_unref(pending->timer);
	free(pending);
	return NULL;
}

int http_pending_views_ask(struct http_pending_views *pending, const struct http_message *question)
{
	struct wait *wait = find_free(pending);
	struct http_view view;
	int r = http_view_read((enum http_view_kind)question->value, question->text, &view);

	if (r < 0)
		return r;
	if (!wait || find(pending, question->number)) {
		refuse(pending, question->number, -EBUSY,
		       "The maximum number of clients is waiting for views. Try again later.");
		return 0;
	}
	if (ratelimit_take(&pending->limit, monotonic_ns()) > 0) {
		refuse(pending, question->number, -EBUSY,
		       "Too many views were requested within a few seconds. Try again later.");
		return 0;
	}
	*wait = (struct wait){.used = true,
			      .number = question->number,
			      .deadline_ns = monotonic_ns() + HTTP_PENDING_VIEWS_SECONDS * NSEC_PER_SEC,
			      .view = view};
	if (answer(pending, wait))
		return 0;
	r = arm(pending);
	if (r < 0) {
		wait->used = false;
		refuse(pending, question->number, r, NULL);
	}
	return 0;
}

void http_pending_views_leave(struct http_pending_views *pending, u32 number)
{
	struct wait *wait = find(pending, number);

	if (wait)
		wait->left = true;
}
