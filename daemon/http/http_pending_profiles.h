// SPDX-License-Identifier: GPL-2.0
/*
 * The profiles for which the process that speaks HTTP waits, on pebsd's side. They begin in the order of their
 * requests: only few can be pending at a time, and only few can begin per second. Further requests wait, so a user who
 * requests many profiles delays those of others, but does not keep others out.
 */
#ifndef PEBSD_HTTP_PENDING_PROFILES_H
#define PEBSD_HTTP_PENDING_PROFILES_H

#include <systemd/sd-event.h>

#include "http/http_reply.h"
#include "http/http_source.h"

/* Limits of profiles that begin: each one opens events on all CPUs. */
#define HTTP_PENDING_PROFILES_A_SECOND 4
#define HTTP_PENDING_PROFILES_AT_ONCE  8

struct http_pending_profiles;

/* `profiles` must outlive the requests. `replies` is copied. Returns 0 or -errno. */
int http_pending_profiles_new(sd_event *event, const struct http_profiles *profiles,
			      const struct http_replies *replies, struct http_pending_profiles **ret);

/* Frees all pending profiles. */
struct http_pending_profiles *http_pending_profiles_free(struct http_pending_profiles *pending);

/*
 * Handles HTTP_ASK_PROFILE: answers at once if the request is refused, otherwise when the profile is ready.
 */
void http_pending_profiles_ask(struct http_pending_profiles *pending, const struct http_message *question);

/* Handles HTTP_LEAVE; ignores a number that is not pending. */
void http_pending_profiles_leave(struct http_pending_profiles *pending, u32 number);

#endif
