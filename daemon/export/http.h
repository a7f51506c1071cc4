// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint: /metrics, /healthz, profiles where they are enabled, and a page at / that leads there.
 * It runs on the daemon's event loop without a thread of its own; no client can hold the loop up, each
 * connection serves one request, and none lasts longer than HTTP_TIMEOUT_SECONDS, however busy it keeps
 * itself, beside the time that it waits for a profile.
 */
#ifndef PEBSD_HTTP_H
#define PEBSD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "base/listen_address.h"
#include "export/http_profile.h"
#include "pebsd/types.h"

#define HTTP_CONNECTIONS_MAX     64
#define HTTP_TIMEOUT_SECONDS     10          /* of a connection, from its first moment to its last */
#define HTTP_CONNECTION_BYTES    (16 * 1024) /* a request's head must fit in less */
#define HTTP_PRIORITY_BELOW_REST 10          /* of its event sources: a scrape can wait for a collection */

/* Where the answers come from. All callbacks are called on the event loop. */
struct http_source {
	void *userdata;
	const char *version; /* of the daemon; must outlive the endpoint, as `origin` */
	const char *origin;  /* "perf", "replay", "model" */

	/* Changes whenever metrics() would say something new: the snapshot's sequence. */
	u64 (*sequence)(void *userdata);

	/* As prometheus_render(): 0 and a malloced text, which becomes the endpoint's; or -errno. */
	int (*metrics)(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length);

	/* 0 while sampling or serving a replay; else negative, and *ret_reason, the source's own, says why.
	 */
	int (*health)(void *userdata, const char **ret_reason);

	/* Zeroed: there are none. */
	struct http_profiles profiles;
};

struct http;

/*
 * Listens on `listen`, which is an address, and serves on `event`. `source` is copied. Returns 0; or -errno
 * and *ret_message (the caller frees it; NULL without memory): what failed, and what to do.
 */
int http_new(sd_event *event, const struct listen_address *listen, const struct http_source *source,
	     struct http **ret, char **ret_message);
struct http *http_free(struct http *http);

/* The port it is bound to. */
unsigned int http_port(const struct http *http);

#endif
