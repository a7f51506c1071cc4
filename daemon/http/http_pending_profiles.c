// SPDX-License-Identifier: GPL-2.0
#include "http/http_pending_profiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/ratelimit.h"

/* Time between checks whether a profile is ready. */
#define LOOK_EVERY_US    200000
#define LOOK_ACCURACY_US 20000

/*
 * Added to the requested time: a request also waits for names, and for the time of another request that joined
 * the same profile.
 */
#define WAIT_SLACK_SECONDS (HTTP_PROFILE_SECONDS_MAX + 30)

struct request {
	u64 turn;     /* ascends with each request; 0: unused entry */
	bool begun;   /* `id` is set */
	u32 number;   /* chosen by the requester */
	char *cgroup; /* its path; owned */
	u64 seconds;
	enum http_profile_form form;
	u64 id; /* chosen by the source */
	u64 deadline_ns;
};

struct http_pending_profiles {
	const struct http_profiles *profiles;
	struct http_replies replies;
	sd_event_source *timer;
	struct ratelimit limit;
	u64 turns; /* requests so far */
	struct request list[HTTP_PROFILES_MAX];
};

static struct request *find(struct http_pending_profiles *pending, u32 number)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].turn && pending->list[i].number == number)
			return &pending->list[i];
	return NULL;
}

static struct request *find_free(struct http_pending_profiles *pending)
{
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (!pending->list[i].turn)
			return &pending->list[i];
	return NULL;
}

/* Returns the first request after this turn; NULL: there is none. */
static struct request *find_next(struct http_pending_profiles *pending, u64 turn)
{
	struct request *found = NULL;

	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++) {
		struct request *request = &pending->list[i];

		if (request->turn > turn && (!found || request->turn < found->turn))
			found = request;
	}
	return found;
}

/* Forgets the request. If no other request waits for its profile, tells the source that nobody needs it. */
static void forget(struct http_pending_profiles *pending, struct request *request)
{
	const struct request forgotten = *request;

	free(request->cgroup);
	*request = (struct request){0};
	if (!forgotten.begun)
		return;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].begun && pending->list[i].id == forgotten.id)
			return;
	pending->profiles->leave(pending->profiles->userdata, forgotten.id);
}

static void refuse(struct http_pending_profiles *pending, struct request *request, int error,
		   const char *text)
{
	http_reply_refuse(&pending->replies, request->number, error, text);
	forget(pending, request);
}

static void hand_out(struct http_pending_profiles *pending, struct request *request)
{
	_cleanup_free_ u8 *data = NULL;
	size_t size;
	int r = pending->profiles->write(pending->profiles->userdata, request->id, request->form, &data,
					 &size);

	if (r == 0)
		r = size <= HTTP_PROFILE_BYTES_MAX
			    ? http_reply_ready(&pending->replies, request->number, data, size)
			    : -EFBIG;
	if (r < 0) {
		(void)log_warning(r, "cannot write a profile for an HTTP client");
		refuse(pending, request, -EIO,
		       r == -EFBIG ? "The profile is too large. Ask for fewer seconds."
				   : "The profile could not be written; the daemon's log says why.");
		return;
	}
	forget(pending, request);
}

static void begin(struct http_pending_profiles *pending, struct request *request)
{
	_cleanup_free_ char *message = NULL;
	int r = pending->profiles->begin(pending->profiles->userdata, request->cgroup,
					 (double)request->seconds, &request->id, &message);

	if (r < 0)
		refuse(pending, request, r, message);
	else
		request->begun = true;
}

static void check(struct http_pending_profiles *pending, struct request *request)
{
	enum http_profile_state state = pending->profiles->state(pending->profiles->userdata, request->id);

	if (state == HTTP_PROFILE_READY)
		hand_out(pending, request);
	else if (state == HTTP_PROFILE_GONE)
		refuse(pending, request, -EBUSY,
		       "The profile was removed to make room for another. Try again.");
	else if (monotonic_ns() >= request->deadline_ns)
		refuse(pending, request, -EBUSY, "The profile took too long. Try again later.");
}

/* Begins profiles, the oldest request first, and checks those that were begun. Returns true if some still wait. */
static bool look(struct http_pending_profiles *pending)
{
	bool may_begin = true;

	for (struct request *request = find_next(pending, 0); request;) {
		const u64 turn = request->turn;

		if (request->begun) {
			check(pending, request);
		} else {
			may_begin = may_begin && ratelimit_take(&pending->limit, monotonic_ns()) == 0;
			if (may_begin)
				begin(pending, request);
		}
		request = find_next(pending, turn);
	}
	return find_next(pending, 0);
}

static int arm(struct http_pending_profiles *pending)
{
	int r = sd_event_source_set_time_relative(pending->timer, LOOK_EVERY_US);

	return r < 0 ? r : sd_event_source_set_enabled(pending->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_pending_profiles *pending = userdata;

	(void)source;
	(void)usec;
	return look(pending) ? arm(pending) : 0;
}

int http_pending_profiles_new(sd_event *event, const struct http_profiles *profiles,
			      const struct http_replies *replies, struct http_pending_profiles **ret)
{
	struct http_pending_profiles *pending = calloc(1, sizeof(*pending));
	int r;

	if (!pending)
		return -ENOMEM;
	pending->profiles = profiles;
	pending->replies = *replies;
	pending->limit = (struct ratelimit){.every_ns = NSEC_PER_SEC / HTTP_PENDING_PROFILES_PER_SECOND,
					    .burst = HTTP_PENDING_PROFILES_BURST};
	r = sd_event_add_time_relative(event, &pending->timer, CLOCK_MONOTONIC, 0, LOOK_ACCURACY_US, on_timer,
				       pending);
	if (r >= 0)
		r = sd_event_source_set_enabled(pending->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_pending_profiles_free(pending);
		return r;
	}
	(void)sd_event_source_set_description(pending->timer, "http-profiles");
	*ret = pending;
	return 0;
}

struct http_pending_profiles *http_pending_profiles_free(struct http_pending_profiles *pending)
{
	if (!pending)
		return NULL;
	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (pending->list[i].turn)
			forget(pending, &pending->list[i]);
	sd_event_source_disable_unref(pending->timer);
	free(pending);
	return NULL;
}

static bool enabled(const struct http_pending_profiles *pending, enum http_profile_form form)
{
	return pending->profiles->enabled && pending->profiles->enabled(pending->profiles->userdata, form);
}

void http_pending_profiles_ask(struct http_pending_profiles *pending, const struct http_message *question)
{
	const enum http_profile_form form = (enum http_profile_form)question->form;
	struct request *request = find_free(pending);
	char *cgroup;
	int r;

	if (!enabled(pending, form)) {
		if (form == HTTP_PROFILE_PPROF)
			http_reply_refuse(&pending->replies, question->number, -ENOENT,
					  HTTP_PROFILES_NOT_SERVED);
		else
			http_reply_refuse(&pending->replies, question->number, -EACCES,
					  HTTP_ZOOMS_NOT_SERVED);
		return;
	}
	if (!request || find(pending, question->number)) {
		http_reply_refuse(&pending->replies, question->number, -EBUSY,
				  "The maximum number of clients is waiting for profiles. Try again later.");
		return;
	}
	cgroup = strdup(question->text);
	if (!cgroup) {
		http_reply_refuse(&pending->replies, question->number, -ENOMEM, NULL);
		return;
	}
	*request = (struct request){.turn = ++pending->turns,
				    .number = question->number,
				    .cgroup = cgroup,
				    .seconds = question->value,
				    .form = form,
				    .deadline_ns = monotonic_ns() +
						   (question->value + WAIT_SLACK_SECONDS) * NSEC_PER_SEC};
	r = look(pending) ? arm(pending) : 0;
	if (r < 0 && request->turn)
		refuse(pending, request, r, NULL);
}

void http_pending_profiles_leave(struct http_pending_profiles *pending, u32 number)
{
	struct request *request = find(pending, number);

	if (request)
		forget(pending, request);
}
