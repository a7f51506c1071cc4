// SPDX-License-Identifier: GPL-2.0
/* The sockets that HTTP is served on: what the service manager listens on for pebsd, or one that it opens. */
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
	int users;                        /* http_owner.h: to know users by; -1: none */
	bool any_local;                   /* one is a UNIX socket */
	bool any_remote;                  /* one takes connections from other machines */
	struct local_socket local;        /* the file of one that was opened here */
	char text[HTTP_SOCKETS_TEXT_MAX]; /* for the log: "http://127.0.0.1:9754, unix:/run/x.sock"; "none" */
};

#define HTTP_SOCKETS_NONE ((struct http_sockets){.n = 0, .users = -1, .text = "none"})

void http_sockets_close(struct http_sockets *sockets);

/*
 * Takes what the service manager passed under HTTP_SOCKETS_NAME: listening sockets, and one to know users by
 * (ListenNetlink=inet-diag). Returns 1; 0: it passed none to listen on; -errno with *ret_message (the caller
 * frees it; NULL without memory): one is neither, or there are too many.
 */
int http_sockets_passed(struct store *store, struct http_sockets *ret, char **ret_message);

/* Opens that one, none where `listen` is so; as listen_open(). A UNIX socket is for `group`, as the control
 * socket is. */
int http_sockets_open(const struct listen_address *listen, const char *group, struct http_sockets *ret,
		      char **ret_message);

/*
 * Those that were passed, else the one of `listen`. What stands in the way of either, or is more than
 * `listen` was meant for, is logged: sockets were passed that are not there; others than this machine can
 * connect. As the two above: 0, `n` 0 where nothing is to be served.
 */
int http_sockets_choose(struct store *store, const struct listen_address *listen, const char *group,
			struct http_sockets *ret, char **ret_message);

/* Whether one of them is at that address. */
bool http_sockets_have(const struct http_sockets *sockets, const struct listen_address *listen);

/* The TCP port of the first that has one, or -EAFNOSUPPORT. */
int http_sockets_port(const struct http_sockets *sockets);

#endif
