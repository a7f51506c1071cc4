// SPDX-License-Identifier: GPL-2.0
/* The client side of Varlink: calls, one after the other, and streams. */
#ifndef PEBSD_VARLINK_CLIENT_H
#define PEBSD_VARLINK_CLIENT_H

#include <json-c/json.h>

/* Longer than a call may wait in the daemon (VARLINK_WAIT_SECONDS). */
#define CLIENT_PATIENCE_SECONDS 15

struct client;

struct client_reply {
	json_object *root;       /* owns the rest; release with json_object_put() */
	const char *error;       /* the error's name; NULL if the call succeeded */
	json_object *parameters; /* of the reply or of the error; NULL if there are none */
};

/*
 * Connects to the socket at `path`. Returns 0, -ENAMETOOLONG (`path` is too long or empty), -ENOMEM, or
 * -errno of socket(2), setsockopt(2) or connect(2). -ENOENT and -ECONNREFUSED mean that nobody listens,
 * -EACCES that access is denied.
 */
int client_connect(const char *path, struct client **ret);
struct client *client_close(struct client *client);

/*
 * Calls `method` with `parameters` (takes ownership of them; NULL means none) and waits for the reply.
 * Returns 0 if a reply came, which may be an error that the daemon sent. Returns -ETIMEDOUT if the daemon
 * does not answer in time, -ECONNRESET if the daemon closed the connection, and -EPROTO if the reply is not
 * Varlink or is larger than 256 MiB.
 */
int client_call(struct client *client, const char *method, json_object *parameters, struct client_reply *ret);

/*
 * client_set_wait() replaces the default wait of at most CLIENT_PATIENCE_SECONDS by `wait`. A client_wait
 * function returns 0 when the descriptor is readable, or the error that client_call() then returns.
 */
typedef int (*client_wait)(int fd, void *userdata);
void client_set_wait(struct client *client, client_wait wait, void *userdata);

/* Calls a method that sends many replies; client_next() returns them. Returns 0 or -errno. */
int client_stream(struct client *client, const char *method);

/*
 * Waits for the next reply, without a time limit. Returns -EPIPE if the reader of the descriptor `output` is
 * gone, otherwise what client_call() returns.
 */
int client_next(struct client *client, int output, struct client_reply *ret);

#endif
