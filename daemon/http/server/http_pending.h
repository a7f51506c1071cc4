// SPDX-License-Identifier: GPL-2.0
/*
 * Requests for answers that take pebsd a while: profiles and views. Meanwhile the connection is suspended and needs
 * nothing but its memory. If the client hangs up, this process tells pebsd. Each kind of request has limits of its
 * own.
 */
#ifndef PEBSD_HTTP_PENDING_H
#define PEBSD_HTTP_PENDING_H

#include <microhttpd.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "http/shared/http_places.h"
#include "http/shared/http_wire.h"

struct http_pending_request;
struct http_pending;

enum http_pending_kind { HTTP_PENDING_PROFILE, HTTP_PENDING_VIEW, HTTP_PENDING_KINDS };

/* How an answer is sent. Constants. */
struct http_pending_type {
	enum http_pending_kind kind;
	const char *content_type;
	const char *disposition; /* Content-Disposition; NULL: none */
};

/* `channel` is the socket to pebsd. Returns 0 or -errno. */
int http_pending_new(sd_event *event, int channel, struct http_pending **ret);

/*
 * Resumes all suspended connections, so that the library can be stopped; they are then closed. `pending` may
 * be NULL.
 */
void http_pending_resume_all(struct http_pending *pending);
struct http_pending *http_pending_free(struct http_pending *pending);

/* Handles HTTP_TELL_READY or HTTP_TELL_REFUSED, and takes the descriptor, which may be -1. */
void http_pending_receive(struct http_pending *pending, const struct http_message *message, int fd);

/*
 * Asks pebsd `question`, whose number is chosen here, for a request of `owner` on the socket `fd`, and suspends the
 * connection until there is an answer; the library then calls again. If a limit of the type's kind is reached, the
 * request is refused. `ret` is set if the request waits: while it is not NULL, the connection needs no deadline.
 * Returns the result of the library's callback.
 */
enum MHD_Result http_pending_begin(struct http_pending *pending, const struct http_pending_type *type,
				   struct MHD_Connection *connection, int fd, struct http_owner owner,
				   const struct http_message *question, struct http_pending_request **ret);

/* Sends the answer of a request that waited, and ends its wait. */
enum MHD_Result http_pending_answer(struct MHD_Connection *connection, struct http_pending_request **waiting);

/* Ends a request's wait. Call this when the connection is closed. */
void http_pending_closed(struct http_pending_request **waiting);

#endif
