// SPDX-License-Identifier: GPL-2.0
/* The owner of a connection: its user if the client runs on this machine, otherwise its address. */
#ifndef PEBSD_HTTP_OWNER_H
#define PEBSD_HTTP_OWNER_H

#include <sys/socket.h>

#include "http/shared/http_places.h"

/*
 * Returns the owner of the accepted connection `fd` from `peer`. For a UNIX socket it is the user who
 * connected (SO_PEERCRED). For a TCP connection within this machine the kernel is asked through `users`, a
 * socket from http_owner_open(). If `users` is -1 or the client is gone, the owner is the address.
 */
struct http_owner http_owner_of(int fd, const struct sockaddr *peer, int users);

/* Returns the owner that an address alone identifies. */
struct http_owner http_owner_of_address(const struct sockaddr *peer);

/*
 * Opens a socket to ask the kernel for the user of a TCP socket: NETLINK_SOCK_DIAG, sock_diag(7), in the
 * caller's network namespace. Returns the descriptor, which the caller closes, or -errno.
 */
int http_owner_open(void);

/* Returns true if `fd` is a socket as http_owner_open() opens it. */
bool http_owner_is_open(int fd);

#endif
