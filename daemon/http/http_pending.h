// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles that the process which speaks HTTP waits for, as pebsd keeps them: few at a time, and few begun a
 * second, whatever that process asks.
 */
#ifndef PEBSD_HTTP_PENDING_H
#define PEBSD_HTTP_PENDING_H

#include <systemd/sd-event.h>

#include "http/http_source.h"
#include "http/shared/http_wire.h"

/* That may be begun: each opens events on all CPUs. */
#define HTTP_PENDING_A_SECOND 4
#define HTTP_PENDING_AT_ONCE  8

struct http_pending;

/* An answer; `passed` stays the caller's, -1: none. */
typedef void (*http_pending_tell)(void *userdata, const struct http_message *message, int passed);

/* `profiles` outlives them. 0 or -errno. */
int http_pending_new(sd_event *event, const struct http_profiles *profiles, http_pending_tell tell,
		     void *userdata, struct http_pending **ret);

/* Nobody waits any more. */
struct http_pending *http_pending_free(struct http_pending *pending);

/* HTTP_ASK_PROFILE: it is answered at once where it cannot be, else once it is ready. */
void http_pending_ask(struct http_pending *pending, const struct http_message *question);

/* HTTP_LEAVE_PROFILE; of a number that nobody waits with it does nothing. */
void http_pending_leave(struct http_pending *pending, u32 number);

#endif
