// SPDX-License-Identifier: GPL-2.0
/*
 * Answers requests: checks the host name, finds the page, and requests its contents from pebsd before it
 * answers, if needed. Callbacks of libmicrohttpd. The `userdata` of http_requests_answer() is the server.
 */
#ifndef PEBSD_HTTP_REQUESTS_H
#define PEBSD_HTTP_REQUESTS_H

#include <microhttpd.h>

/* An MHD_AccessHandlerCallback, called again when the answer from pebsd has come. */
enum MHD_Result http_requests_answer(void *userdata, struct MHD_Connection *library, const char *target,
				     const char *method, const char *version, const char *upload,
				     size_t *upload_length, void **state);

/* An MHD_RequestCompletedCallback. */
void http_requests_completed(void *userdata, struct MHD_Connection *connection, void **state,
			     enum MHD_RequestTerminationCode why);

#endif
