// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP server, in the process that speaks HTTP: /metrics, /healthz, /readyz, profiles if they are enabled,
 * and a page at / that shows /top.json and /alerts.json. It requests the contents from pebsd, each only once even
 * if many clients wait for it.
 *
 * No client can block it. Each connection serves one request and lasts at most HTTP_TIMEOUT_SECONDS, even if
 * it is active, not counting the time that it waits for a profile. If no place is left, a new client is
 * accepted nevertheless, and a slow client is disconnected (http_places.h). If no client is slow, new clients wait in
 * the queue of the listening socket. A TCP connection occupies its place until the client's kernel has
 * acknowledged the whole answer.
 */
#ifndef PEBSD_HTTP_SERVER_H
#define PEBSD_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "pebsd/types.h"

#define HTTP_TIMEOUT_SECONDS  10          /* maximum duration of a connection, without a wait for a profile */
#define HTTP_ANSWER_SECONDS   5           /* pebsd must answer within this time */
#define HTTP_CONNECTION_BYTES (16 * 1024) /* the head of a request must be smaller than this */

#define HTTP_LISTENERS_MAX 8

struct http_server_settings {
	sd_event *event;
	const int *listeners; /* non-blocking listening sockets; the caller owns them */
	size_t n_listeners;
	int channel; /* socket to pebsd (http_channel.h); the caller owns it */
	int users;   /* to look up users (http_owner.h); the caller owns it; -1: none */

	/*
	 * Called once, when nothing more is served. `error` is 0 if pebsd has ended, or -errno after a
	 * failure.
	 */
	void (*ended)(void *userdata, int error);
	void *userdata;
};

struct http_server;

/*
 * Serves as soon as pebsd has sent its settings (HTTP_TELL_SETTINGS). The process must ignore SIGPIPE.
 * Returns 0 or -errno.
 */
int http_server_new(const struct http_server_settings *settings, struct http_server **ret);
struct http_server *http_server_free(struct http_server *server);

#endif
