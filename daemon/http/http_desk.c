// SPDX-License-Identifier: GPL-2.0
#include "http/http_desk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "http/http_limit.h"
#include "http/http_line.h"
#include "http/http_waits.h"

#define TIMER_ACCURACY_US 1000

/* Questions in a turn of the loop. */
#define AT_A_TIME 16

/* Bytes of answers, with what the kernel keeps beside them, that may lie unread: some twenty. */
#define UNREAD_MAX 32768

struct http_desk {
	struct http_desk_settings settings;
	struct http_waits *waits;
	struct http_limit limit;
	sd_event_source *io;
	sd_event_source *timer;
	bool failed;
};

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void fail(struct http_desk *desk, const char *why)
{
	if (desk->failed)
		return;
	desk->failed = true;
	(void)sd_event_source_set_enabled(desk->io, SD_EVENT_OFF);
	(void)sd_event_source_set_enabled(desk->timer, SD_EVENT_OFF);
	desk->settings.failed(desk->settings.userdata, why);
}

static void tell(void *userdata, const struct http_message *message, int passed)
{
	struct http_desk *desk = userdata;
	int r;

	if (desk->failed)
		return;
	r = http_line_send(desk->settings.socket, message, passed);
	if (r == -EAGAIN)
		fail(desk, "does not take its answers");
	else if (r == -EPIPE || r == -ECONNRESET)
		fail(desk, "has closed its socket");
	else if (r < 0)
		fail(desk, "cannot be answered");
}

static const char *const document_names[HTTP_DOCUMENTS] = {
	[HTTP_DOCUMENT_TEXT] = "the metrics",
	[HTTP_DOCUMENT_OPENMETRICS] = "the metrics",
	[HTTP_DOCUMENT_TOP] = "the figures of the page",
	[HTTP_DOCUMENT_ALERTS] = "the alerts of the page",
};

static void answer_body(struct http_desk *desk, const struct http_message *question)
{
	struct http_message answer = {.type = HTTP_TELL_SAME, .form = question->form};
	struct http_body_made body = {.fd = -1};
	int r = http_bodies_get(desk->settings.bodies, question->form, &body);

	if (r < 0) {
		(void)log_warning(r, "Cannot render %s for HTTP; the next one is tried anew",
				  document_names[http_form_document(question->form)]);
		answer.type = HTTP_TELL_FAILED;
		answer.error = (u32)-r;
	} else if (body.generation != question->value) {
		answer.type = HTTP_TELL_BODY;
		answer.value = body.generation;
		answer.size = body.size;
	}
	tell(desk, &answer, answer.type == HTTP_TELL_BODY ? body.fd : -1);
}

static void answer_health(struct http_desk *desk)
{
	const struct http_source *source = desk->settings.source;
	const char *reason = NULL;
	int r = source->health(source->userdata, &reason);
	_cleanup_free_ char *cut =
		r < 0 ? strndup(reason ? reason : strerror(-r), HTTP_WIRE_TEXT_MAX - 1) : NULL;

	tell(desk,
	     &(struct http_message){.type = HTTP_TELL_HEALTH, .error = r < 0 ? (u32)-r : 0, .text = cut}, -1);
}

static void answer(struct http_desk *desk, const struct http_message *question)
{
	switch (question->type) {
	case HTTP_ASK_BODY:
		answer_body(desk, question);
		break;
	case HTTP_ASK_HEALTH:
		answer_health(desk);
		break;
	case HTTP_ASK_PROFILE:
		http_waits_ask(desk->waits, question);
		break;
	case HTTP_LEAVE_PROFILE:
		http_waits_leave(desk->waits, question->number);
		break;
	default:
		fail(desk, "sends what is no question");
	}
}

/* Until `ns` have passed nothing is read, so that who asks waits, too. */
static void rest(struct http_desk *desk, u64 ns)
{
	if (sd_event_source_set_enabled(desk->io, SD_EVENT_OFF) < 0 ||
	    sd_event_source_set_time_relative(desk->timer, ns / NSEC_PER_USEC + 1) < 0 ||
	    sd_event_source_set_enabled(desk->timer, SD_EVENT_ONESHOT) < 0)
		fail(desk, "cannot be waited for");
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_desk *desk = userdata;
	u8 packet[HTTP_WIRE_MAX];

	(void)source;
	(void)events;
	for (int i = 0; i < AT_A_TIME && !desk->failed; i++) {
		struct http_message question;
		u64 wait_ns;
		int r = http_line_receive(fd, packet, &question, NULL);

		if (r == -EAGAIN)
			return 0;
		if (r != 1) {
			fail(desk, r == 0 ? "has closed its socket" : "sends what is no question");
			return 0;
		}
		answer(desk, &question);
		wait_ns = http_limit_take(&desk->limit, now_ns());
		if (wait_ns > 0) {
			rest(desk, wait_ns);
			return 0;
		}
	}
	return 0;
}

/* The token that there was not is taken now. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_desk *desk = userdata;
	u64 wait_ns = http_limit_take(&desk->limit, now_ns());

	(void)source;
	(void)usec;
	if (desk->failed)
		return 0;
	if (wait_ns > 0)
		rest(desk, wait_ns);
	else if (sd_event_source_set_enabled(desk->io, SD_EVENT_ON) < 0)
		fail(desk, "cannot be waited for");
	return 0;
}

static int start(struct http_desk *desk)
{
	const struct http_desk_settings *settings = &desk->settings;
	const int unread = UNREAD_MAX;
	int r;

	(void)setsockopt(settings->socket, SOL_SOCKET, SO_SNDBUF, &unread, sizeof(unread));
	r = http_waits_new(settings->event, &settings->source->profiles, tell, desk, &desk->waits);
	if (r < 0 ||
	    (r = sd_event_add_io(settings->event, &desk->io, settings->socket, EPOLLIN, on_io, desk)) < 0 ||
	    (r = sd_event_add_time_relative(settings->event, &desk->timer, CLOCK_MONOTONIC, 0,
					    TIMER_ACCURACY_US, on_timer, desk)) < 0 ||
	    (r = sd_event_source_set_enabled(desk->timer, SD_EVENT_OFF)) < 0)
		return r;
	(void)sd_event_source_set_description(desk->io, "http");
	(void)sd_event_source_set_description(desk->timer, "http-rest");
	return 0;
}

int http_desk_new(const struct http_desk_settings *settings, struct http_desk **ret)
{
	struct http_desk *desk = calloc(1, sizeof(*desk));
	int r;

	if (!desk)
		return -ENOMEM;
	desk->settings = *settings;
	desk->limit = (struct http_limit){.every_ns = NSEC_PER_SEC / HTTP_QUESTIONS_A_SECOND,
					  .burst = HTTP_QUESTIONS_AT_ONCE};
	r = start(desk);
	if (r < 0) {
		http_desk_free(desk);
		return r;
	}
	*ret = desk;
	return 0;
}

struct http_desk *http_desk_free(struct http_desk *desk)
{
	if (!desk)
		return NULL;
	desk->failed = true;
	sd_event_source_disable_unref(desk->io);
	sd_event_source_disable_unref(desk->timer);
	http_waits_free(desk->waits);
	free(desk);
	return NULL;
}

void http_desk_configure(struct http_desk *desk, const char *hosts)
{
	const struct http_profiles *profiles = &desk->settings.source->profiles;
	bool served = profiles->enabled && profiles->enabled(profiles->userdata);
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s\n%s", desk->settings.source->origin, hosts) < 0) {
		text = NULL;
		(void)log_error(-ENOMEM, "the HTTP endpoint keeps its settings; reload again");
		return;
	}
	tell(desk,
	     &(struct http_message){
		     .type = HTTP_TELL_SETTINGS, .value = served ? HTTP_SETTING_PROFILES : 0, .text = text},
	     -1);
}

void http_desk_close(struct http_desk *desk)
{
	tell(desk, &(struct http_message){.type = HTTP_TELL_LAST}, -1);
}
