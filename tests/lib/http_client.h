// SPDX-License-Identifier: GPL-2.0
/* A client of an endpoint, in the same process and event loop. */
#ifndef PEBSD_HTTP_CLIENT_H
#define PEBSD_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "endpoint.h"

/* A client and the received part of its answer. */
struct http_client {
	char *data;
	size_t length;
	size_t allocated;
	int fd;
	bool ended;
};

/* Connects without blocking. Fails the test on error. */
int http_client_connect(const struct endpoint *server);

/* Sends until all is sent, or the server closes the connection. */
void http_client_send(struct endpoint *server, const struct http_client *client, const char *text);

/* Receives the bytes that are available. Returns true once there was data or the end. */
bool http_client_receive(struct http_client *client);

/* Receives the complete answer. */
void http_client_receive_all(struct endpoint *server, struct http_client *client);

/* Closes the connection and frees the answer. */
void http_client_done(struct http_client *client);

/* Sends one complete request, and receives the complete answer. */
struct http_client http_client_exchange(struct endpoint *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `headers`: complete lines, each with its line end. */
struct http_client http_client_get(struct endpoint *server, const char *path, const char *headers);

/* Returns 0 if the answer is not HTTP/1.1. */
int http_client_status(const struct http_client *client);

/* Returns the body of the answer, a pointer into `client`. Fails the test if there is no header. */
const char *http_client_body(const struct http_client *client, size_t *ret_length);

#endif
