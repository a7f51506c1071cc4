// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint, from the daemon's side. A process without privileges speaks HTTP (http_server.h) on
 * sockets that it is given, and asks the daemon for the contents of its answers (http_broker.h). If that
 * process ends, it is started again after HTTP_RESTART_FIRST_MS. The wait doubles each time, to at most
 * HTTP_RESTART_MAX_SECONDS. The failure is logged once, and again only after the process has run for
 * HTTP_STEADY_SECONDS. Such a run also resets the wait.
 */
#ifndef PEBSD_HTTP_H
#define PEBSD_HTTP_H

#include <systemd/sd-event.h>

#include "http/http_sockets.h"
#include "http/http_source.h"

#define HTTP_RESTART_FIRST_MS    100
#define HTTP_RESTART_MAX_SECONDS 30
#define HTTP_STEADY_SECONDS      60
#define HTTP_STOP_MS             1000

struct http_settings {
	sd_event *event;
	const char *hosts;   /* configured names, separated by blanks */
	const char *program; /* the program to run with --http; NULL: this one */
};

struct http;

/*
 * Serves on `sockets`, and takes them over even on failure. `source` is copied. Returns 0, or -errno; on
 * error *ret_message (the caller frees it; NULL: no memory) says what failed and what to do.
 */
int http_new(const struct http_settings *settings, struct http_sockets *sockets,
	     const struct http_source *source, struct http **ret, char **ret_message);
struct http *http_free(struct http *http);

/*
 * Accepts no more connections: new clients wait for the next process that serves on these sockets. Calls
 * `stopped` once, from the event loop, when all current clients have their answers, or after HTTP_STOP_MS.
 * Returns 0 or -errno; on error `stopped` is not called.
 */
int http_stop(struct http *http, void (*stopped)(void *userdata), void *userdata);

/*
 * Applies a changed configuration: these host names, and the current state of the source. Returns 0 or
 * -ENOMEM.
 */
int http_configure(struct http *http, const char *hosts);

/* Returns the number of times that the process that speaks HTTP was restarted. `http` may be NULL. */
u64 http_restarts(const struct http *http);

/* The process that speaks HTTP; -1: none runs. */
pid_t http_pid(const struct http *http);

#endif
