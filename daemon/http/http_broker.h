// SPDX-License-Identifier: GPL-2.0
/*
 * Answers the requests of the process that speaks HTTP. An attacker may control that process, but can only
 * get contents that HTTP serves anyway. If the process sends more than HTTP_QUESTIONS_PER_SECOND, its requests
 * wait. If it sends an invalid message, does not read its answers or closes its socket, `failed` is called.
 */
#ifndef PEBSD_HTTP_BROKER_H
#define PEBSD_HTTP_BROKER_H

#include <systemd/sd-event.h>

#include "http/http_bodies.h"
#include "http/http_source.h"

#define HTTP_QUESTIONS_PER_SECOND 1000
#define HTTP_QUESTIONS_BURST      100

struct http_broker_settings {
	sd_event *event;
	const struct http_source *source; /* outlives the broker, like `bodies` */
	struct http_bodies *bodies;
	int socket; /* non-blocking; the caller owns it */

	/*
	 * The other process must be ended, for the reason `why`. The broker reads no more requests. Free it
	 * later, not in this callback.
	 */
	void (*failed)(void *userdata, const char *why);
	void *userdata;
};

struct http_broker;

int http_broker_new(const struct http_broker_settings *settings, struct http_broker **ret);
struct http_broker *http_broker_free(struct http_broker *broker);

/* Sends the settings: the origin, whether profiles are served, and the configured host names. */
void http_broker_configure(struct http_broker *broker, const char *hosts);

/*
 * Tells the other process to accept no more connections, and to end when all current clients have their
 * answers.
 */
void http_broker_close(struct http_broker *broker);

#endif
