// SPDX-License-Identifier: GPL-2.0
/*
 * HTTP itself, in the process that speaks it: /metrics, /healthz, profiles where they are enabled, and a page
 * at / that shows /top.json and /alerts.json. What it answers it asks of pebsd, the same question once
 * however many want it. No client can hold it up: each connection serves one request, and none lasts longer
 * than HTTP_TIMEOUT_SECONDS, however busy it keeps itself, beside the time that it waits for a profile. Every
 * client is taken in; a slow one goes if there is no place left (http_places.h). By TCP a connection has its place
 * until the client's kernel has taken the whole answer.
 */
#ifndef PEBSD_HTTP_SERVER_H
#define PEBSD_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "pebsd/types.h"

#define HTTP_TIMEOUT_SECONDS  10          /* of a connection, from its first moment to its last */
#define HTTP_ANSWER_SECONDS   5           /* that pebsd has for an answer */
#define HTTP_CONNECTION_BYTES (16 * 1024) /* a request's head must fit in less */

#define HTTP_LISTENERS_MAX 8

struct http_server_settings {
	sd_event *event;
	const int *listeners; /* listening sockets that do not block; the caller's */
	size_t n_listeners;
	int line;  /* to pebsd (http_channel.h); the caller's */
	int users; /* http_owner.h: to know users by; the caller's; -1: none */

	/* pebsd is gone (0), or what it says cannot be understood: nothing is served any more. */
	void (*ended)(void *userdata, int error);
	void *userdata;
};

struct http_server;

/* Serves once pebsd has told its settings (HTTP_TELL_SETTINGS). The process ignores SIGPIPE. 0 or -errno. */
int http_server_new(const struct http_server_settings *settings, struct http_server **ret);
struct http_server *http_server_free(struct http_server *server);

#endif
