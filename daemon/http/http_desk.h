// SPDX-License-Identifier: GPL-2.0
/*
 * Where pebsd answers the process that speaks HTTP for it. That process may have been taken over by who
 * speaks with it: what it can get is what is served over HTTP anyway; what it asks past
 * HTTP_QUESTIONS_A_SECOND waits; who sends what is no question, or does not take its answers, is done with.
 */
#ifndef PEBSD_HTTP_DESK_H
#define PEBSD_HTTP_DESK_H

#include <systemd/sd-event.h>

#include "http/http_bodies.h"
#include "http/http_source.h"

#define HTTP_QUESTIONS_A_SECOND 1000
#define HTTP_QUESTIONS_AT_ONCE  100

struct http_desk_settings {
	sd_event *event;
	const struct http_source *source; /* outlives the desk, as `bodies` */
	struct http_bodies *bodies;
	int socket; /* the caller's; does not block */

	/* It is done with, for that reason; the desk is not asked again, and is to be freed. */
	void (*failed)(void *userdata, const char *why);
	void *userdata;
};

struct http_desk;

int http_desk_new(const struct http_desk_settings *settings, struct http_desk **ret);
struct http_desk *http_desk_free(struct http_desk *desk);

/* Tells the other side what is served, and for which hosts besides its own address. */
void http_desk_configure(struct http_desk *desk, const char *hosts);

/* Tells it to let nobody in any more, and to end once all who are in are answered. */
void http_desk_close(struct http_desk *desk);

#endif
