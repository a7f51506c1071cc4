// SPDX-License-Identifier: GPL-2.0
/* The contents that are served over HTTP. All callbacks are called on pebsd's event loop. */
#ifndef PEBSD_HTTP_SOURCE_H
#define PEBSD_HTTP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "http/shared/http_wire.h"
#include "pebsd/types.h"

enum http_profile_state {
	HTTP_PROFILE_UNDER_WAY,
	HTTP_PROFILE_READY,
	HTTP_PROFILE_GONE, /* the profile is no longer kept */
};

struct http_profiles {
	void *userdata;

	/* Returns true if profiles of that form are served at all. NULL: they are not. */
	bool (*enabled)(void *userdata, enum http_profile_form form);

	/*
	 * Begins a profile of the cgroup of a path, or joins one that was begun over HTTP. Returns 0 and its
	 * id; -ENOENT: no such cgroup; -EBUSY, -EOPNOTSUPP or another -errno: not possible now.
	 * `ret_message`, which the caller frees, may say why.
	 */
	int (*begin)(void *userdata, const char *path, double seconds, u64 *ret_id, char **ret_message);
	enum http_profile_state (*state)(void *userdata, u64 id);

	/* Returns a finished profile; the caller frees it. Returns 0 or -errno. */
	int (*write)(void *userdata, u64 id, enum http_profile_form form, u8 **ret, size_t *ret_size);

	/* Reports that no HTTP client waits for the profile now: it was sent, or the clients left. */
	void (*leave)(void *userdata, u64 id);
};

struct http_source {
	void *userdata;
	const char *origin; /* "perf", "replay", "model"; must outlive the endpoint */

	/*
	 * The sequence of the snapshot: it changes with each collection and reload. Until then, clients get the body that
	 * was made first, with the values of the process as of that moment.
	 */
	u64 (*sequence)(void *userdata);

	/* Like prometheus_render(): returns 0 and a malloc'ed text, which the endpoint frees; or -errno. */
	int (*metrics)(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length);

	/* Same as metrics(), for cgroups and alerts as JSON (export/json/json_public.h). NULL: not served. */
	int (*top)(void *userdata, char **ret_text, size_t *ret_length);
	int (*alerts)(void *userdata, char **ret_text, size_t *ret_length);

	/*
	 * Makes a view; NULL: views are not served. Returns 0 and a malloc'ed text, or -ENOENT, -EACCES, -EINVAL, -EBUSY
	 * or another -errno and perhaps a message; the endpoint frees both. -EAGAIN: call again soon, with the same view.
	 *
	 * If `ret_text` is NULL, the client has gone, and no text is made. The result is then -EAGAIN while the history
	 * still owes an answer for this view.
	 */
	int (*view)(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
		    char **ret_message);

	/*
	 * Returns 0 while pebsd samples or serves a replay. Otherwise returns a negative value, and
	 * *ret_reason says why; the source owns it. `*ret_works`: pebsd itself works, so a restart would not help:
	 * sampling is paused, or others have the counters.
	 */
	int (*health)(void *userdata, bool *ret_works, const char **ret_reason);

	/* Zeroed: profiles are not served. */
	struct http_profiles profiles;
};

#endif
