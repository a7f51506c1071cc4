// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint, as the daemon has it: a process without rights speaks HTTP (http_server.h) on sockets
 * that it is given, and asks here what to answer (http_broker.h). Where it ends it is started again: at once,
 * then after twice the time before, and that is told once until it has run for HTTP_STEADY_SECONDS.
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
	const char *hosts;   /* configured names, with blanks between them */
	const char *program; /* that is run with --http; NULL: this one */
};

struct http;

/* Serves on `sockets`, which are taken over in any case. `source` is copied. Returns 0; or -errno, and
 * *ret_message (the caller frees it; NULL without memory) says what failed and what to do. */
int http_new(const struct http_settings *settings, struct http_sockets *sockets,
	     const struct http_source *source, struct http **ret, char **ret_message);
struct http *http_free(struct http *http);

/*
 * Lets nobody in any more: who comes waits for the next that serves on these sockets. Calls back once, from
 * the loop, when all who were in are answered, or after HTTP_STOP_MS. 0 or -errno, and then it is not called.
 */
int http_stop(struct http *http, void (*stopped)(void *userdata), void *userdata);

/* The configuration has changed: these names, and what the source says. 0 or -ENOMEM. */
int http_configure(struct http *http, const char *hosts);

/* How often its process was started again. `http` may be NULL. */
u64 http_restarts(const struct http *http);

/* Its process, -1: none runs. */
pid_t http_pid(const struct http *http);

#endif
