// SPDX-License-Identifier: GPL-2.0
/*
 * GET /debug/pprof/memory?cgroup=PATH&seconds=N: a profile that takes N seconds to make. The connection is
 * suspended meanwhile and costs nothing but its memory; a client that hangs up is noticed, and what was begun
 * for it alone is told to end.
 */
#ifndef PEBSD_HTTP_PROFILE_H
#define PEBSD_HTTP_PROFILE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "pebsd/types.h"

#define HTTP_PROFILE_PATH            "/debug/pprof/memory"
#define HTTP_PROFILES_MAX            4 /* clients that wait, at most */
#define HTTP_PROFILE_SECONDS_DEFAULT 30
#define HTTP_PROFILE_SECONDS_MAX     300
#define HTTP_PROFILE_RETRY_SECONDS   30 /* what is told to who comes too early */

enum http_profile_state {
	HTTP_PROFILE_UNDER_WAY,
	HTTP_PROFILE_READY,
	HTTP_PROFILE_GONE, /* it is held no more */
};

/* Where profiles come from. All callbacks are called on the event loop. */
struct http_profiles {
	void *userdata;

	/* Whether they are served at all. NULL: no. */
	bool (*enabled)(void *userdata);

	/*
	 * Begins one of the cgroup of a path, or joins one that was begun here. 0 and its id; -ENOENT: no
	 * such cgroup; -EBUSY, -EOPNOTSUPP, -errno: it cannot be now. `ret_message`, the caller's, may say
	 * why.
	 */
	int (*begin)(void *userdata, const char *path, double seconds, u64 *ret_id, char **ret_message);
	enum http_profile_state (*state)(void *userdata, u64 id);

	/* A gzipped profile of one that is ready; the caller frees. 0 or -errno. */
	int (*write)(void *userdata, u64 id, u8 **ret, size_t *ret_size);

	/* Nobody here waits for it any more: it is served, or they left. */
	void (*leave)(void *userdata, u64 id);
};

struct http_waiting;
struct http_profile;

/*
 * `profiles` is copied. `resumed` is told that a connection was resumed, which the library sees in its next
 * run; not within a call of its. 0 or -errno.
 */
int http_profile_new(sd_event *event, const struct http_profiles *profiles, void (*resumed)(void *userdata),
		     void *userdata, struct http_profile **ret);

/* Lets all who wait go on, to be hung up on, so that the library can be stopped. `profile` may be NULL. */
void http_profile_resume_all(struct http_profile *profile);
struct http_profile *http_profile_free(struct http_profile *profile);

/* Whether they are served now. */
bool http_profile_enabled(const struct http_profile *profile);

/*
 * Answers a request on the socket `fd`, or suspends its connection until it can be answered; the library then
 * calls again. `waiting` is the request's place, NULL at first; while it is not NULL it needs no deadline of
 * the caller's. Returns what the library's callback has to.
 */
enum MHD_Result http_profile_answer(struct http_profile *profile, struct MHD_Connection *connection, int fd,
				    struct http_waiting **waiting);

/* The connection is closed, whatever it waited for. */
void http_profile_closed(struct http_profile *profile, struct http_waiting **waiting);

#endif
