// SPDX-License-Identifier: GPL-2.0
/*
 * GET /debug/pprof/memory?cgroup=PATH&seconds=N: a profile that takes N seconds to make. Meanwhile the
 * connection is suspended and needs nothing but its memory. If the client hangs up, pebsd learns that the
 * profile is no longer wanted.
 */
#ifndef PEBSD_HTTP_PROFILE_H
#define PEBSD_HTTP_PROFILE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "http/shared/http_places.h"
#include "http/shared/http_wire.h"

#define HTTP_PROFILE_PATH            "/debug/pprof/memory"
#define HTTP_PROFILE_SECONDS_DEFAULT 30
#define HTTP_PROFILE_RETRY_SECONDS   30 /* Retry-After of a refused request */

struct http_waiting;
struct http_profile;

/* `line` is the socket to pebsd. Refuses all requests until profiles are enabled. Returns 0 or -errno. */
int http_profile_new(sd_event *event, int line, struct http_profile **ret);

/*
 * Resumes all suspended connections, so that the library can be stopped; they are then closed. `profile` may
 * be NULL.
 */
void http_profile_resume_all(struct http_profile *profile);
struct http_profile *http_profile_free(struct http_profile *profile);

void http_profile_enable(struct http_profile *profile, bool enabled);
bool http_profile_enabled(const struct http_profile *profile);

/* Handles HTTP_TELL_PROFILE or HTTP_TELL_REFUSED, and takes the descriptor, which may be -1. */
void http_profile_receive(struct http_profile *profile, const struct http_message *message, int fd);

/*
 * Answers a request of `owner` on the socket `fd`, or suspends its connection until there is an answer; the
 * library then calls again. `waiting` belongs to the request and is NULL at first. While it is not NULL, the
 * connection needs no deadline. Returns the result of the library's callback.
 */
enum MHD_Result http_profile_answer(struct http_profile *profile, struct MHD_Connection *connection, int fd,
				    struct http_owner owner, struct http_waiting **waiting);

/* Ends a request's wait for a profile. Call this when the connection is closed. */
void http_profile_closed(struct http_waiting **waiting);

#endif
