// SPDX-License-Identifier: GPL-2.0
/* The sockets on which HTTP is served: those that the service manager passed, or one that pebsd opens. */
#ifndef PEBSD_HTTP_SOCKETS_H
#define PEBSD_HTTP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/listen_address.h"
#include "base/local_socket.h"
#include "store/store.h"

#define HTTP_SOCKETS_MAX      8
#define HTTP_SOCKETS_TEXT_MAX 512

/* FileDescriptorName= of pebsd.socket. */
#define HTTP_SOCKETS_NAME "http"

struct http_sockets {
	int fds[HTTP_SOCKETS_MAX];
	size_t n;
	int users;                        /* to look up users of connections (http_owner.h); -1: none */
	bool any_local;                   /* at least one is a UNIX socket */
	bool any_remote;                  /* at least one accepts connections from other machines */
	struct local_socket local;        /* the file of a UNIX socket that was opened here */
	char text[HTTP_SOCKETS_TEXT_MAX]; /* for the log: "http://127.0.0.1:9754, unix:/run/x.sock"; "none" */
};

#define HTTP_SOCKETS_NONE ((struct http_sockets){.n = 0, .users = -1, .text = "none"})

void http_sockets_close(struct http_sockets *sockets);

/*
 * Takes the sockets that the service manager passed under HTTP_SOCKETS_NAME: listening ones, and one to look
 * up users (ListenNetlink=inet-diag). Returns 1; 0 if there is no listening one; or -errno if one is neither
 * kind or there are too many. On error *ret_message says so (the caller frees it; NULL: no memory).
 */
int http_sockets_passed(struct store *store, struct http_sockets *ret, char **ret_message);

/*
 * Opens the socket of `listen`, or none if `listen` is none. Returns as listen_open() does. A UNIX socket is
 * for `group`, like the control socket.
 */
int http_sockets_open(const struct listen_address *listen, const char *group, struct http_sockets *ret,
		      char **ret_message);

/*
 * Takes the sockets that were passed; if there are none, opens the one of `listen`. Logs a warning if both
 * disagree, if nobody can reach the socket, or if other machines can connect. Returns 0 or -errno, with
 * *ret_message as above; `n` is 0 if HTTP is not to be served.
 */
int http_sockets_choose(struct store *store, const struct listen_address *listen, const char *group,
			struct http_sockets *ret, char **ret_message);

/* Returns the TCP port of the first socket that has one, or -EAFNOSUPPORT. */
int http_sockets_port(const struct http_sockets *sockets);

#endif
