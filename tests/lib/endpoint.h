// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint with data that the test chooses, in the test's own event loop. It consists of the server
 * of the HTTP process and the daemon's broker, connected by a socket. The clocks are stopped (fake_clock.h), so time
 * limits pass only if the test lets them.
 */
#ifndef PEBSD_ENDPOINT_H
#define PEBSD_ENDPOINT_H

#include <systemd/sd-event.h>

#include "base/listen_address.h"
#include "http/http_broker.h"
#include "http/http_sockets.h"
#include "http/server/http_server.h"
#include "pebsd/types.h"

#define ENDPOINT_BODY_LENGTH 300000

/*
 * The daemon's data: a long text that depends on its format and on `sequence`, and JSON. Also counts how
 * often a text and JSON were rendered.
 */
struct endpoint_figures {
	u64 sequence;
	size_t length; /* of the text; initially ENDPOINT_BODY_LENGTH */
	unsigned int rendered;
	unsigned int asked_for_json;
	int metrics_error;
	int json_error;
	int health_error;
	bool works;
};

struct endpoint {
	sd_event *event;
	struct http_source served;
	struct http_bodies bodies;
	struct http_sockets sockets;
	struct http_broker *broker;
	struct http_server *server;
	int channel[2];
	const char *failed; /* the reason why the broker gave up the server */
	bool ended;         /* the server has given up the broker */
	struct endpoint_figures source;
};

/* Starts on a free port of loopback, or on the address `listen`. Fails the test on error. */
void endpoint_start(struct endpoint *server);
struct listen_address endpoint_loopback(u16 port);
void endpoint_start_on(struct endpoint *server, const struct listen_address *listen);

/* Same as endpoint_start_on(), but with another source and configured host names. */
void endpoint_start_with(struct endpoint *server, const struct listen_address *listen,
			 const struct http_source *source, const char *hosts);

/* Same as endpoint_start(), but distinguishes clients by their loopback address instead of their user. */
void endpoint_start_by_address(struct endpoint *server);

/* Returns the port that the endpoint is bound to. */
u16 endpoint_port(const struct endpoint *server);
void endpoint_stop(struct endpoint *server);

/* Returns the endpoint's source of data, to be used for another endpoint. */
struct http_source endpoint_source(struct endpoint *server);

/* Runs the loop once. If there is nothing to do for a millisecond, lets one pass. */
void endpoint_turn(struct endpoint *server);

#endif
