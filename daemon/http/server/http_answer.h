// SPDX-License-Identifier: GPL-2.0
/* Short answers of the HTTP endpoint, and the headers that all its answers share. */
#ifndef PEBSD_HTTP_ANSWER_H
#define PEBSD_HTTP_ANSWER_H

#include <microhttpd.h>

/*
 * Adds the headers of an answer: its type, that the connection closes, and restrictions for browsers.
 * Browsers must not guess another type, cache the answer or embed it in other sites' pages. `policy` is the
 * answer's Content Security Policy (level 3); NULL: everything is forbidden. Returns 0 or -ENOMEM.
 */
int http_describe(struct MHD_Response *response, const char *type, const char *policy);

/* Returns an answer with the headers of http_describe(); `text` is copied. NULL: no memory. */
struct MHD_Response *http_text(const char *type, const char *policy, const char *text);

/* Sends `response` and drops the caller's reference to it. */
enum MHD_Result http_send(struct MHD_Connection *connection, unsigned int status,
			  struct MHD_Response *response);

enum MHD_Result http_send_text(struct MHD_Connection *connection, unsigned int status, const char *text);

/* `allowed`: list of methods, such as "GET, HEAD". */
enum MHD_Result http_send_not_allowed(struct MHD_Connection *connection, const char *allowed);

/* Sends 503: the client may try again after `seconds`. */
enum MHD_Result http_send_later(struct MHD_Connection *connection, unsigned int seconds, const char *text);

#endif
