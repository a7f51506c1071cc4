// SPDX-License-Identifier: GPL-2.0
/* What a request is answered with: which pages there are, under which names of hosts, and what has to be
 * asked of pebsd first. Callbacks of libmicrohttpd; their `userdata` is the server. */
#ifndef PEBSD_HTTP_REQUESTS_H
#define PEBSD_HTTP_REQUESTS_H

#include <microhttpd.h>

/* An MHD_AccessHandlerCallback, called anew where the answer had to be waited for. */
enum MHD_Result http_requests_answer(void *userdata, struct MHD_Connection *library, const char *target,
				     const char *method, const char *version, const char *upload,
				     size_t *upload_length, void **state);

/* An MHD_RequestCompletedCallback. */
void http_requests_completed(void *userdata, struct MHD_Connection *connection, void **state,
			     enum MHD_RequestTerminationCode why);

#endif
