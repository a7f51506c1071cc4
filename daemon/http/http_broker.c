// SPDX-License-Identifier: GPL-2.0
#include "http/http_broker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "base/ratelimit.h"
#include "http/http_pending_profiles.h"
#include "http/http_pending_views.h"
#include "http/shared/http_channel.h"

#define TIMER_ACCURACY_US 1000

/* Maximum number of requests handled before the event loop gets its turn. */
#define AT_A_TIME 16

/*
 * SO_SNDBUF: limits the replies that the process has not read. The kernel doubles the value, and counts an
 * overhead for each reply: 86 replies of up to 100 bytes fit, or 29 of 1 KB (Linux 6.18).
 */
#define UNREAD_MAX 32768

struct http_broker {
	struct http_broker_settings settings;
	struct http_pending_profiles *profiles;
	struct http_pending_views *views;
	struct ratelimit limit;
	sd_event_source *io;
	sd_event_source *timer;
	bool failed;
};

static void fail(struct http_broker *broker, const char *why)
{
	if (broker->failed)
		return;
	broker->failed = true;
	(void)sd_event_source_set_enabled(broker->io, SD_EVENT_OFF);
	(void)sd_event_source_set_enabled(broker->timer, SD_EVENT_OFF);
	broker->settings.failed(broker->settings.userdata, why);
}

static void send_reply(void *userdata, const struct http_message *message, int passed)
{
	struct http_broker *broker = userdata;
	int r;

	if (broker->failed)
		return;
	r = http_channel_send(broker->settings.socket, message, passed);
	if (r == -EAGAIN)
		fail(broker, "is ended, because it does not read its replies");
	else if (r == -EPIPE || r == -ECONNRESET)
		fail(broker, "has closed its socket");
	else if (r < 0)
		fail(broker, "is ended, because a reply cannot be sent to it");
}

static const char *const document_names[HTTP_DOCUMENTS] = {
	[HTTP_DOCUMENT_TEXT] = "the metrics",
	[HTTP_DOCUMENT_OPENMETRICS] = "the metrics",
	[HTTP_DOCUMENT_TOP] = "the figures of the web page",
	[HTTP_DOCUMENT_ALERTS] = "the alerts of the web page",
};

static void answer_body(struct http_broker *broker, const struct http_message *question)
{
	struct http_message answer = {.type = HTTP_TELL_SAME, .form = question->form};
	struct http_body_made body = {.fd = -1};
	int r = http_bodies_get(broker->settings.bodies, question->form, &body);

	if (r < 0) {
		(void)log_warning(0, "cannot render %s for HTTP: %s; pebsd tries again at the next request",
				  document_names[http_form_document(question->form)], strerror(-r));
		answer.type = HTTP_TELL_FAILED;
		answer.error = (u32)-r;
	} else if (body.generation != question->value) {
		answer.type = HTTP_TELL_BODY;
		answer.value = body.generation;
		answer.size = body.size;
	}
	send_reply(broker, &answer, answer.type == HTTP_TELL_BODY ? body.fd : -1);
}

static void answer_health(struct http_broker *broker)
{
	const struct http_source *source = broker->settings.source;
	const char *reason = NULL;
	bool works = false;
	int r = source->health(source->userdata, &works, &reason);
	_cleanup_free_ char *cut =
		r < 0 ? strndup(reason ? reason : strerror(-r), HTTP_WIRE_TEXT_MAX - 1) : NULL;

	send_reply(
		broker,
		&(struct http_message){
			.type = HTTP_TELL_HEALTH, .error = r < 0 ? (u32)-r : 0, .value = works, .text = cut},
		-1);
}

static void answer(struct http_broker *broker, const struct http_message *question)
{
	switch (question->type) {
	case HTTP_ASK_BODY:
		answer_body(broker, question);
		break;
	case HTTP_ASK_HEALTH:
		answer_health(broker);
		break;
	case HTTP_ASK_PROFILE:
		http_pending_profiles_ask(broker->profiles, question);
		break;
	case HTTP_ASK_VIEW:
		if (http_pending_views_ask(broker->views, question) < 0)
			fail(broker, "is ended, because it sent an invalid request");
		break;
	case HTTP_LEAVE:
		http_pending_profiles_leave(broker->profiles, question->number);
		http_pending_views_leave(broker->views, question->number);
		break;
	default:
		fail(broker, "is ended, because it sent an invalid request");
	}
}

/* Reads nothing until `ns` have passed, so that the requester has to wait. */
static void rest(struct http_broker *broker, u64 ns)
{
	if (sd_event_source_set_enabled(broker->io, SD_EVENT_OFF) < 0 ||
	    sd_event_source_set_time_relative(broker->timer, ns / NSEC_PER_USEC + 1) < 0 ||
	    sd_event_source_set_enabled(broker->timer, SD_EVENT_ONESHOT) < 0)
		fail(broker, "is ended, because a timer fails");
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_broker *broker = userdata;
	u8 packet[HTTP_WIRE_MAX];

	(void)source;
	(void)events;
	for (int i = 0; i < AT_A_TIME && !broker->failed; i++) {
		struct http_message question;
		u64 wait_ns;
		int r = http_channel_receive(fd, packet, &question, NULL);

		if (r == -EAGAIN)
			return 0;
		if (r != 1) {
			fail(broker, r == 0 ? "has closed its socket"
					    : "is ended, because it sent an invalid request");
			return 0;
		}
		answer(broker, &question);
		wait_ns = ratelimit_take(&broker->limit, monotonic_ns());
		if (wait_ns > 0) {
			rest(broker, wait_ns);
			return 0;
		}
	}
	return 0;
}

/* Ends the pause that rest() began: takes the token that was not available then. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_broker *broker = userdata;
	u64 wait_ns = ratelimit_take(&broker->limit, monotonic_ns());

	(void)source;
	(void)usec;
	if (broker->failed)
		return 0;
	if (wait_ns > 0)
		rest(broker, wait_ns);
	else if (sd_event_source_set_enabled(broker->io, SD_EVENT_ON) < 0)
		fail(broker, "is ended, because a timer fails");
	return 0;
}

static int start(struct http_broker *broker)
{
	const struct http_broker_settings *settings = &broker->settings;
	const struct http_replies replies = {.send = send_reply, .userdata = broker};
	const int unread = UNREAD_MAX;
	int r;

	(void)setsockopt(settings->socket, SOL_SOCKET, SO_SNDBUF, &unread, sizeof(unread));
	r = http_pending_profiles_new(settings->event, &settings->source->profiles, &replies,
				      &broker->profiles);
	if (r < 0 ||
	    (r = http_pending_views_new(settings->event, settings->source, &replies, &broker->views)) < 0 ||
	    (r = sd_event_add_io(settings->event, &broker->io, settings->socket, EPOLLIN, on_io, broker)) <
		    0 ||
	    (r = sd_event_add_time_relative(settings->event, &broker->timer, CLOCK_MONOTONIC, 0,
					    TIMER_ACCURACY_US, on_timer, broker)) < 0 ||
	    (r = sd_event_source_set_enabled(broker->timer, SD_EVENT_OFF)) < 0)
		return r;
	(void)sd_event_source_set_description(broker->io, "http");
	(void)sd_event_source_set_description(broker->timer, "http-rest");
	return 0;
}

int http_broker_new(const struct http_broker_settings *settings, struct http_broker **ret)
{
	struct http_broker *broker = calloc(1, sizeof(*broker));
	int r;

	if (!broker)
		return -ENOMEM;
	broker->settings = *settings;
	broker->limit = (struct ratelimit){.every_ns = NSEC_PER_SEC / HTTP_QUESTIONS_PER_SECOND,
					   .burst = HTTP_QUESTIONS_BURST};
	r = start(broker);
	if (r < 0) {
		http_broker_free(broker);
		return r;
	}
	*ret = broker;
	return 0;
}

struct http_broker *http_broker_free(struct http_broker *broker)
{
	if (!broker)
		return NULL;
	broker->failed = true;
	sd_event_source_disable_unref(broker->io);
	sd_event_source_disable_unref(broker->timer);
	http_pending_profiles_free(broker->profiles);
	http_pending_views_free(broker->views);
	free(broker);
	return NULL;
}

void http_broker_configure(struct http_broker *broker, const char *hosts)
{
	const struct http_profiles *profiles = &broker->settings.source->profiles;
	u64 served = 0;
	_cleanup_free_ char *text = NULL;

	if (profiles->enabled && profiles->enabled(profiles->userdata, HTTP_PROFILE_PPROF))
		served |= HTTP_SETTING_PROFILES;
	if (profiles->enabled && profiles->enabled(profiles->userdata, HTTP_PROFILE_FLAME))
		served |= HTTP_SETTING_ZOOMS;
	if (asprintf(&text, "%s\n%s", broker->settings.source->origin, hosts) < 0) {
		text = NULL;
		(void)log_error(
			0,
			"cannot send the settings to the HTTP endpoint's process: %s; it keeps its old ones, or the defaults; run systemctl reload pebsd",
			strerror(ENOMEM));
		return;
	}
	send_reply(broker, &(struct http_message){.type = HTTP_TELL_SETTINGS, .value = served, .text = text},
		   -1);
}

void http_broker_close(struct http_broker *broker)
{
	send_reply(broker, &(struct http_message){.type = HTTP_TELL_LAST}, -1);
}
