// SPDX-License-Identifier: GPL-2.0
/* The HTTP endpoint over figures of the test's choice, in the test's own event loop. */
#ifndef PEBSD_ENDPOINT_H
#define PEBSD_ENDPOINT_H

#include <systemd/sd-event.h>

#include "export/http.h"
#include "pebsd/types.h"

#define ENDPOINT_BODY_LENGTH 300000

/* The daemon's side: a long text that names its format and how often one was made. */
struct endpoint_figures {
	u64 sequence;
	size_t length; /* of the text; ENDPOINT_BODY_LENGTH at the start */
	unsigned int rendered;
	int metrics_error;
	int health_error;
};

struct endpoint {
	sd_event *event;
	struct http *http;
	struct endpoint_figures source;
};

/* Starts on a free port of loopback, or where `listen` says. Fails the test on error. */
void endpoint_start(struct endpoint *server);
struct listen_address endpoint_loopback(u16 port);
void endpoint_start_on(struct endpoint *server, const struct listen_address *listen);
void endpoint_stop(struct endpoint *server);

/* What the endpoint serves, for another one. */
struct http_source endpoint_source(struct endpoint *server);

/* Runs the loop once, for at most a millisecond. */
void endpoint_turn(struct endpoint *server);

/* Monotonic. */
u64 endpoint_now_ns(void);

#endif
