// SPDX-License-Identifier: GPL-2.0
/* The client's side of the control socket: calls one after the other, and streams. */
#ifndef PEBSD_CTL_CLIENT_H
#define PEBSD_CTL_CLIENT_H

#include <json-c/json.h>

#define CLIENT_PATIENCE_SECONDS 10

struct client;

struct client_reply {
	json_object *root;       /* owns the rest; release with json_object_put() */
	const char *error;       /* the error's name, NULL for none */
	json_object *parameters; /* of the reply or of the error; NULL for none */
};

/* Returns 0 or -errno of connect(2): -ENOENT and -ECONNREFUSED: nobody listens, -EACCES: not permitted. */
int client_connect(const char *path, struct client **ret);
struct client *client_close(struct client *client);

/*
 * Calls `method` with `parameters` (taken; NULL for none) and waits for the reply. Returns 0, also for an
 * error that the daemon sends; -ETIMEDOUT where it does not answer in time; -ECONNRESET where it hung up;
 * -EPROTO where what it sends is no Varlink.
 */
int client_call(struct client *client, const char *method, json_object *parameters, struct client_reply *ret);

/* In the place of waiting for at most CLIENT_PATIENCE_SECONDS: returns 0 once the descriptor is readable, or
 * what client_call() is to return. */
typedef int (*client_wait)(int fd, void *userdata);
void client_set_wait(struct client *client, client_wait wait, void *userdata);

/* Calls a method that answers again and again; client_next() has the answers. Returns 0 or -errno. */
int client_stream(struct client *client, const char *method);

/*
 * Waits for the next answer, however long that takes; or returns -EPIPE when nobody reads the other end of
 * the descriptor `output` any more, or what client_call() returns.
 */
int client_next(struct client *client, int output, struct client_reply *ret);

#endif
