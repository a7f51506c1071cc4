// SPDX-License-Identifier: GPL-2.0
/* Short answers of the HTTP endpoint, and what all its answers have in common. */
#ifndef PEBSD_HTTP_ANSWER_H
#define PEBSD_HTTP_ANSWER_H

#include <microhttpd.h>

/*
 * Its type; that the connection ends with it; and for browsers: it is what its type says, is not kept, and is
 * no part of a page of anybody else's. What may be done in it says `policy` (Content Security Policy level
 * 3); NULL: nothing. 0 or -ENOMEM.
 */
int http_describe(struct MHD_Response *response, const char *type, const char *policy);

/* `text` is copied, and described so. NULL: no memory. */
struct MHD_Response *http_text(const char *type, const char *policy, const char *text);

/* Sends `response` and gives up the caller's reference to it. */
enum MHD_Result http_send(struct MHD_Connection *connection, unsigned int status,
			  struct MHD_Response *response);

enum MHD_Result http_send_text(struct MHD_Connection *connection, unsigned int status, const char *text);

/* `allowed`: methods, "GET, HEAD". */
enum MHD_Result http_send_not_allowed(struct MHD_Connection *connection, const char *allowed);

/* 503: not now; it may be tried again in so many seconds. */
enum MHD_Result http_send_later(struct MHD_Connection *connection, unsigned int seconds, const char *text);

#endif
