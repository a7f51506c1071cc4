// SPDX-License-Identifier: GPL-2.0
/* Where what is served over HTTP comes from. All callbacks are called on pebsd's event loop. */
#ifndef PEBSD_HTTP_SOURCE_H
#define PEBSD_HTTP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

enum http_profile_state {
	HTTP_PROFILE_UNDER_WAY,
	HTTP_PROFILE_READY,
	HTTP_PROFILE_GONE, /* it is held no more */
};

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

struct http_source {
	void *userdata;
	const char *origin; /* "perf", "replay", "model"; must outlive the endpoint */

	/* Changes whenever what follows would say something new: the snapshot's sequence. */
	u64 (*sequence)(void *userdata);

	/* As prometheus_render(): 0 and a malloced text, which becomes the endpoint's; or -errno. */
	int (*metrics)(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length);

	/* The same of figures and alerts as JSON (export/json/json_public.h). NULL: there are none. */
	int (*top)(void *userdata, char **ret_text, size_t *ret_length);
	int (*alerts)(void *userdata, char **ret_text, size_t *ret_length);

	/* 0 while sampling or serving a replay; else negative, and *ret_reason, the source's own, says why.
	 */
	int (*health)(void *userdata, const char **ret_reason);

	/* Zeroed: there are none. */
	struct http_profiles profiles;
};

#endif
