// SPDX-License-Identifier: GPL-2.0
/* Short answers of the HTTP endpoint. */
#ifndef PEBSD_HTTP_ANSWER_H
#define PEBSD_HTTP_ANSWER_H

#include <microhttpd.h>

/* `text` is copied. NULL: no memory. */
struct MHD_Response *http_text(const char *type, const char *text);

/* Sends `response` and gives up the caller's reference to it. */
enum MHD_Result http_send(struct MHD_Connection *connection, unsigned int status,
			  struct MHD_Response *response);

enum MHD_Result http_send_text(struct MHD_Connection *connection, unsigned int status, const char *text);

/* `allowed`: methods, "GET, HEAD". */
enum MHD_Result http_send_not_allowed(struct MHD_Connection *connection, const char *allowed);

/* 503: not now; it may be tried again in so many seconds. */
enum MHD_Result http_send_later(struct MHD_Connection *connection, unsigned int seconds, const char *text);

#endif
