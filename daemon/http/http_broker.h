// SPDX-License-Identifier: GPL-2.0
/*
 * Where pebsd answers the process that speaks HTTP for it. That process may have been taken over by who
 * speaks with it: what it can get is what is served over HTTP anyway; what it asks past
 * HTTP_QUESTIONS_A_SECOND waits; who sends what is no question, or does not take its answers, is done with.
 */
#ifndef PEBSD_HTTP_BROKER_H
#define PEBSD_HTTP_BROKER_H

#include <systemd/sd-event.h>

#include "http/http_bodies.h"
#include "http/http_source.h"

#define HTTP_QUESTIONS_A_SECOND 1000
#define HTTP_QUESTIONS_AT_ONCE  100

struct http_broker_settings {
	sd_event *event;
	const struct http_source *source; /* outlives the broker, as `bodies` */
	struct http_bodies *bodies;
	int socket; /* the caller's; does not block */

	/* It is done with, for that reason; the broker is not asked again, and is to be freed. */
	void (*failed)(void *userdata, const char *why);
	void *userdata;
};

struct http_broker;

int http_broker_new(const struct http_broker_settings *settings, struct http_broker **ret);
struct http_broker *http_broker_free(struct http_broker *broker);

/* Tells the other side what is served, and for which hosts besides its own address. */
void http_broker_configure(struct http_broker *broker, const char *hosts);

/* Tells it to let nobody in any more, and to end once all who are in are answered. */
void http_broker_close(struct http_broker *broker);

#endif
