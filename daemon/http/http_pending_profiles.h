// SPDX-License-Identifier: GPL-2.0
/*
 * The profiles for which the process that speaks HTTP waits, on pebsd's side. At most HTTP_PROFILES_MAX requests can be
 * pending; further ones are refused. Profiles begin in the order of their requests, and only few can begin per second:
 * the others wait. The process that speaks HTTP limits the requests of each user (http_wire.h), so a user who requests
 * many profiles delays those of others, but does not keep others out.
 */
#ifndef PEBSD_HTTP_PENDING_PROFILES_H
#define PEBSD_HTTP_PENDING_PROFILES_H

#include <systemd/sd-event.h>

#include "http/http_reply.h"
#include "http/http_source.h"

/* Rate limit of profiles that begin (base/ratelimit.h), because each one opens events on all CPUs. */
#define HTTP_PENDING_PROFILES_PER_SECOND 4
#define HTTP_PENDING_PROFILES_BURST      8

struct http_pending_profiles;

/* `profiles` must outlive the requests. `replies` is copied. Returns 0 or -errno. */
int http_pending_profiles_new(sd_event *event, const struct http_profiles *profiles,
			      const struct http_replies *replies, struct http_pending_profiles **ret);

/* Drops all pending requests without a reply, and tells the source that nobody waits for their profiles. */
struct http_pending_profiles *http_pending_profiles_free(struct http_pending_profiles *pending);

/* Handles HTTP_ASK_PROFILE: answers when the profile is ready or the request is refused, which may be at once. */
void http_pending_profiles_ask(struct http_pending_profiles *pending, const struct http_message *question);

/* Handles HTTP_LEAVE; ignores a number that is not pending. */
void http_pending_profiles_leave(struct http_pending_profiles *pending, u32 number);

#endif
