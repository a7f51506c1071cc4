// SPDX-License-Identifier: GPL-2.0
/* Who is behind a connection: the user if the client runs on this machine, else its address. */
#ifndef PEBSD_HTTP_OWNER_H
#define PEBSD_HTTP_OWNER_H

#include <sys/socket.h>

#include "http/shared/http_places.h"

/*
 * Of the accepted connection `fd` from `peer`. By a UNIX socket it is the user who connected (SO_PEERCRED).
 * Of a TCP connection within this machine the kernel is asked through `users`, a socket from
 * http_owner_open(), and the connection's address is the answer if `users` is -1 or the client is gone.
 */
struct http_owner http_owner_of(int fd, const struct sockaddr *peer, int users);

/* Of an address alone. */
struct http_owner http_owner_of_address(const struct sockaddr *peer);

/* A socket through which the kernel tells whose a TCP socket is: NETLINK_SOCK_DIAG, sock_diag(7), of the
 * caller's network namespace. The caller closes it; or -errno. */
int http_owner_open(void);

/* Whether `fd` is one. */
bool http_owner_is_open(int fd);

#endif
