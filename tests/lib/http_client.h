// SPDX-License-Identifier: GPL-2.0
/* The client's end of a connection to an endpoint, in the process and loop of that endpoint. */
#ifndef PEBSD_HTTP_CLIENT_H
#define PEBSD_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "endpoint.h"

#define HTTP_CLIENT_DEADLINE_NS (5 * NSEC_PER_SEC)

/* A client, and what it has of its answer. */
struct http_client {
	char *data;
	size_t length;
	size_t allocated;
	int fd;
	bool ended;
};

/* Connects without blocking. Fails the test where it cannot. */
int http_client_connect(const struct endpoint *server);

/* Sends what the server takes before it hangs up or the deadline has passed. */
void http_client_send(struct endpoint *server, const struct http_client *client, const char *text);

/* Takes what is there; true once there was something or the end. */
bool http_client_receive(struct http_client *client);

/* Takes the answer to its end; fails the test where that does not come before the deadline. */
void http_client_receive_all(struct endpoint *server, struct http_client *client);

/* Hangs up and frees the answer. */
void http_client_done(struct http_client *client);

/* One request, whole, and its whole answer. */
struct http_client http_client_exchange(struct endpoint *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `headers`: whole lines, each with its end. */
struct http_client http_client_get(struct endpoint *server, const char *path, const char *headers);

/* 0 where the answer is none of HTTP/1.1. */
int http_client_status(const struct http_client *client);

/* What follows the head, within `client`. Fails the test where there is no head. */
const char *http_client_body(const struct http_client *client, size_t *ret_length);

#endif
