// SPDX-License-Identifier: GPL-2.0
#include "http/http_pending_views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/ratelimit.h"

/* Time between checks whether the data of a view has come. A check is cheap, and people wait for the answer. */
#define LOOK_EVERY_US    20000
#define LOOK_ACCURACY_US 5000

/* After a view that took longer than REST_LEAST_NS, views rest for REST_TIMES as long: collections come first. */
#define REST_TIMES    4
#define REST_LEAST_NS (5 * NSEC_PER_MSEC)

struct request {
	u64 turn;       /* ascends with each request; 0: unused entry */
	bool begun;     /* the source was asked, so the history may have a question */
	bool abandoned; /* the client has left */
	u32 number;     /* chosen by the requester */
	u64 deadline_ns;
	struct http_view view;
};

struct http_pending_views {
	const struct http_source *source;
	struct http_replies replies;
	sd_event_source *timer;
	struct ratelimit limit;
	u64 rest_ns; /* no view is made before */
	u64 turns;   /* requests so far */
	struct request list[HTTP_VIEWS_ASKED_MAX];
};

static struct request *find(struct http_pending_views *pending, u32 number)
{
	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++)
		if (pending->list[i].turn && pending->list[i].number == number)
			return &pending->list[i];
	return NULL;
}

static struct request *find_free(struct http_pending_views *pending)
{
	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++)
		if (!pending->list[i].turn)
			return &pending->list[i];
	return NULL;
}

/* Returns the first request after this turn; NULL: there is none. */
static struct request *find_next(struct http_pending_views *pending, u64 turn)
{
	struct request *found = NULL;

	for (size_t i = 0; i < HTTP_VIEWS_ASKED_MAX; i++) {
		struct request *request = &pending->list[i];

		if (request->turn > turn && (!found || request->turn < found->turn))
			found = request;
	}
	return found;
}

static void refuse(struct http_pending_views *pending, struct request *request, int error, const char *text)
{
	request->turn = 0;
	http_reply_refuse(&pending->replies, request->number, error, text);
}

static void hand_out(struct http_pending_views *pending, struct request *request, const char *text,
		     size_t length)
{
	int r;

	if (length > HTTP_VIEW_BYTES_MAX) {
		refuse(pending, request, -EINVAL,
		       "The answer is too large. Ask for a shorter time, fewer bins, or one cgroup; for a table, lower `top` in [export].");
		return;
	}
	r = http_reply_ready(&pending->replies, request->number, text, length);
	if (r < 0) {
		(void)log_warning(r, "cannot pass on the data of the web page");
		refuse(pending, request, -EIO, "The data could not be passed on; the daemon's log says why.");
		return;
	}
	request->turn = 0;
}

/* Asks the source for the view, and replies if it is made or refused. */
static void try_to_make(struct http_pending_views *pending, struct request *request)
{
	const struct http_source *source = pending->source;
	_cleanup_free_ char *text = NULL, *message = NULL;
	const u64 begin_ns = monotonic_ns();
	u64 took_ns;
	size_t length = 0;
	int r;

	request->begun = true;
	r = source->view ? source->view(source->userdata, &request->view, request->abandoned ? NULL : &text,
					&length, &message)
			 : -ENOENT;
	took_ns = monotonic_ns() - begin_ns;
	if (took_ns > REST_LEAST_NS)
		pending->rest_ns = begin_ns + (1 + REST_TIMES) * took_ns;
	if (r == 0 && !request->abandoned)
		hand_out(pending, request, text, length);
	else if (r != -EAGAIN)
		refuse(pending, request, request->abandoned ? -ECANCELED : r, message);
}

/* Begins or continues with all requests for which it is time, the oldest first. Returns true if some still wait. */
static bool look(struct http_pending_views *pending)
{
	bool may_begin = true;

	for (struct request *request = find_next(pending, 0); request;) {
		const u64 turn = request->turn, now_ns = monotonic_ns();

		if (now_ns >= request->deadline_ns)
			refuse(pending, request, -EBUSY,
			       request->begun
				       ? "The history did not answer in time. Try again later."
				       : "Too many views were requested within a few seconds. Try again later.");
		else if (now_ns >= pending->rest_ns) {
			if (!request->begun)
				may_begin = may_begin && ratelimit_take(&pending->limit, now_ns) == 0;
			if (request->begun || may_begin)
				try_to_make(pending, request);
		}
		request = find_next(pending, turn);
	}
	return find_next(pending, 0);
}

static int arm(struct http_pending_views *pending)
{
	int r = sd_event_source_set_time_relative(pending->timer, LOOK_EVERY_US);

	return r < 0 ? r : sd_event_source_set_enabled(pending->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_pending_views *pending = userdata;

	(void)source;
	(void)usec;
	return look(pending) ? arm(pending) : 0;
}

int http_pending_views_new(sd_event *event, const struct http_source *source,
			   const struct http_replies *replies, struct http_pending_views **ret)
{
	struct http_pending_views *pending = calloc(1, sizeof(*pending));
	int r;

	if (!pending)
		return -ENOMEM;
	pending->source = source;
	pending->replies = *replies;
	pending->limit = (struct ratelimit){.every_ns = NSEC_PER_SEC / HTTP_PENDING_VIEWS_PER_SECOND,
					    .burst = HTTP_PENDING_VIEWS_BURST};
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
	struct request *request = find_free(pending);
	struct http_view view;
	int r = http_view_read((enum http_view_kind)question->value, question->text, &view);

	if (r < 0)
		return r;
	if (!request || find(pending, question->number)) {
		http_reply_refuse(&pending->replies, question->number, -EBUSY,
				  "The maximum number of clients is waiting for views. Try again later.");
		return 0;
	}
	*request = (struct request){.turn = ++pending->turns,
				    .number = question->number,
				    .deadline_ns = monotonic_ns() + HTTP_PENDING_VIEWS_SECONDS * NSEC_PER_SEC,
				    .view = view};
	r = look(pending) ? arm(pending) : 0;
	if (r < 0 && request->turn)
		refuse(pending, request, r, NULL);
	return 0;
}

void http_pending_views_leave(struct http_pending_views *pending, u32 number)
{
	struct request *request = find(pending, number);

	if (!request)
		return;
	request->abandoned = true;
	if (!request->begun)
		refuse(pending, request, -ECANCELED, NULL);
}
