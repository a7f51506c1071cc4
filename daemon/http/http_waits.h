// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles that the process which speaks HTTP waits for, as pebsd keeps them: few at a time, and few begun a
 * second, whatever that process asks.
 */
#ifndef PEBSD_HTTP_WAITS_H
#define PEBSD_HTTP_WAITS_H

#include <systemd/sd-event.h>

#include "http/http_source.h"
#include "http/shared/http_wire.h"

/* That may be begun: each opens events on all CPUs. */
#define HTTP_WAITS_A_SECOND 4
#define HTTP_WAITS_AT_ONCE  8

struct http_waits;

/* An answer; `passed` is the waits', -1: none. */
typedef void (*http_waits_tell)(void *userdata, const struct http_message *message, int passed);

/* `profiles` outlives them. 0 or -errno. */
int http_waits_new(sd_event *event, const struct http_profiles *profiles, http_waits_tell tell,
		   void *userdata, struct http_waits **ret);

/* Nobody waits any more. */
struct http_waits *http_waits_free(struct http_waits *waits);

/* HTTP_ASK_PROFILE: it is answered at once where it cannot be, else once it is ready. */
void http_waits_ask(struct http_waits *waits, const struct http_message *question);

/* HTTP_LEAVE_PROFILE; of a number that nobody waits with it does nothing. */
void http_waits_leave(struct http_waits *waits, u32 number);

#endif
