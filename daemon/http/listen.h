// SPDX-License-Identifier: GPL-2.0
/* Listening sockets. */
#ifndef PEBSD_LISTEN_H
#define PEBSD_LISTEN_H

#include "base/listen_address.h"
#include "base/local_socket.h"

/*
 * Opens a non-blocking listening socket at `address`. Returns 0, and the caller closes *ret_fd; or -errno,
 * and *ret_message (the caller frees it; NULL: no memory) says what failed and what to do.
 */
int listen_open(const struct listen_address *address, int *ret_fd, char **ret_message);

/*
 * Same as listen_open(), for a UNIX socket, to which `group` may connect. local_socket_remove() removes its
 * file.
 */
int listen_open_local(const struct listen_address *address, const char *group, struct local_socket *ret,
		      int *ret_fd, char **ret_message);

/* Returns the port to which `fd` is bound, or -errno. */
int listen_port(int fd);

#endif
