// SPDX-License-Identifier: GPL-2.0
/*
 * GET /debug/pprof/memory?cgroup=PATH&seconds=N: a profile that takes N seconds to make. The connection is
 * suspended meanwhile and costs nothing but its memory; a client that hangs up is noticed, and pebsd is told
 * that what was begun for it is wanted no more.
 */
#ifndef PEBSD_HTTP_PROFILE_H
#define PEBSD_HTTP_PROFILE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "http/shared/http_wire.h"

#define HTTP_PROFILE_PATH            "/debug/pprof/memory"
#define HTTP_PROFILE_SECONDS_DEFAULT 30
#define HTTP_PROFILE_RETRY_SECONDS   30 /* what is told to who comes too early */

struct http_waiting;
struct http_profile;

/* Who asks for them through `line`, the socket to pebsd. None is served before they are enabled. 0 or -errno.
 */
int http_profile_new(sd_event *event, int line, struct http_profile **ret);

/* Lets all who wait go on, to be hung up on, so that the library can be stopped. `profile` may be NULL. */
void http_profile_resume_all(struct http_profile *profile);
struct http_profile *http_profile_free(struct http_profile *profile);

void http_profile_enable(struct http_profile *profile, bool enabled);
bool http_profile_enabled(const struct http_profile *profile);

/* HTTP_TELL_PROFILE or HTTP_TELL_REFUSED; the descriptor, -1 or not, becomes the profile's. */
void http_profile_told(struct http_profile *profile, const struct http_message *message, int fd);

/*
 * Answers a request on the socket `fd`, or suspends its connection until it can be answered; the library then
 * calls again. `waiting` is the request's place, NULL at first; while it is not NULL it needs no deadline of
 * the caller's. Returns what the library's callback has to.
 */
enum MHD_Result http_profile_answer(struct http_profile *profile, struct MHD_Connection *connection, int fd,
				    struct http_waiting **waiting);

/* The connection is closed, whatever it waited for. */
void http_profile_closed(struct http_waiting **waiting);

#endif
