// SPDX-License-Identifier: GPL-2.0
/*
 * The views for which the process that speaks HTTP waits, on pebsd's side. Views are made in the order of their
 * requests: only few at a time, only few a second, and for at most a fifth of the time. Further requests wait, so a
 * user who requests many views delays those of others, but does not keep others out.
 */
#ifndef PEBSD_HTTP_PENDING_VIEWS_H
#define PEBSD_HTTP_PENDING_VIEWS_H

#include <systemd/sd-event.h>

#include "http/http_reply.h"
#include "http/http_source.h"

/* Limits of the views that begin. A page asks for about five when its range changes. */
#define HTTP_PENDING_VIEWS_PER_SECOND 10
#define HTTP_PENDING_VIEWS_BURST      20

/* A view that is not ready after this time is refused. */
#define HTTP_PENDING_VIEWS_SECONDS 10

struct http_pending_views;

/* `source` must outlive the requests. `replies` is copied. Returns 0 or -errno. */
int http_pending_views_new(sd_event *event, const struct http_source *source,
			   const struct http_replies *replies, struct http_pending_views **ret);
struct http_pending_views *http_pending_views_free(struct http_pending_views *pending);

/*
 * Handles HTTP_ASK_VIEW: answers when the view is made or refused. Returns 0, or -EBADMSG if the parameters are not
 * valid.
 */
int http_pending_views_ask(struct http_pending_views *pending, const struct http_message *question);

/*
 * Handles HTTP_LEAVE; ignores a number that is not pending. The view is not made, and is refused when its place is
 * free. If the history was asked for it, that is when the history has answered: otherwise clients that ask and leave
 * could fill the history with questions.
 */
void http_pending_views_leave(struct http_pending_views *pending, u32 number);

#endif
