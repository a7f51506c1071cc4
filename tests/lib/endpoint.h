// SPDX-License-Identifier: GPL-2.0
/* The HTTP endpoint over figures of the test's choice, in the test's own event loop: the server of the
 * process that speaks HTTP and the daemon's broker, with a socket between them. */
#ifndef PEBSD_ENDPOINT_H
#define PEBSD_ENDPOINT_H

#include <systemd/sd-event.h>

#include "base/listen_address.h"
#include "http/http_broker.h"
#include "http/http_sockets.h"
#include "http/server/http_server.h"
#include "pebsd/types.h"

#define ENDPOINT_BODY_LENGTH 300000

/* The daemon's side: a long text that names its format and how often one was made; and JSON. */
struct endpoint_figures {
	u64 sequence;
	size_t length; /* of the text; ENDPOINT_BODY_LENGTH at the start */
	unsigned int rendered;
	unsigned int asked_for_json;
	int metrics_error;
	int json_error;
	int health_error;
};

struct endpoint {
	sd_event *event;
	struct http_source served;
	struct http_bodies bodies;
	struct http_sockets sockets;
	struct http_broker *broker;
	struct http_server *server;
	int line[2];
	const char *failed; /* why the broker is done with the server */
	bool ended;         /* the server, with the broker */
	struct endpoint_figures source;
};

/* Starts on a free port of loopback, or where `listen` says. Fails the test on error. */
void endpoint_start(struct endpoint *server);
struct listen_address endpoint_loopback(u16 port);
void endpoint_start_on(struct endpoint *server, const struct listen_address *listen);

/* The same with another source, and with hosts. */
void endpoint_start_with(struct endpoint *server, const struct listen_address *listen,
			 const struct http_source *source, const char *hosts);

/* The same where users are not known: who comes from another address of loopback is another. */
void endpoint_start_by_address(struct endpoint *server);

/* The port it is bound to. */
u16 endpoint_port(const struct endpoint *server);
void endpoint_stop(struct endpoint *server);

/* What the endpoint serves, for another one. */
struct http_source endpoint_source(struct endpoint *server);

/* Runs the loop once, for at most a millisecond. */
void endpoint_turn(struct endpoint *server);

/* Monotonic. */
u64 endpoint_now_ns(void);

#endif
